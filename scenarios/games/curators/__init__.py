"""Games on curators that answer statistics of persons."""
