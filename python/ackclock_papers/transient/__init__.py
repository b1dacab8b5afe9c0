"""Transient behaviours of TCP-friendly congestion control: TCP, GAIMD, TFRC and TEAR."""
