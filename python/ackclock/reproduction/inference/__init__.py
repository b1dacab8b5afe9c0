"""The search for the setting of a paper, and the runs that a verdict needs."""
