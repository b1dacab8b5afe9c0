"""What other settings of a paper said of its claims."""
