"""Methods by name, and the code of a method as part of a trial's key."""
