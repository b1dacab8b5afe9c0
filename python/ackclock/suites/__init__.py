"""Suites as files: TOML that says what is asked of a control, for `compare` and for evaluations."""
