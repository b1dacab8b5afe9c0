"""The suites of an evaluation, a TOML file each, and the schema of such files."""
