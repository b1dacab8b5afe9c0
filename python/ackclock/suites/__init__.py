"""Suites as TOML files: the requirements on a control, for `compare` and for evaluations."""
