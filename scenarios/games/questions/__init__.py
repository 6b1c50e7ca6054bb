"""Questions about the people of one play."""
