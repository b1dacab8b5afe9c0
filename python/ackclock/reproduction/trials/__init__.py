"""The outcomes of a paper's claims at other settings."""
