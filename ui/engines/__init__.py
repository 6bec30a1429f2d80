"""The Engines view: what the log of another engine says, and the nearest shape it can run."""
