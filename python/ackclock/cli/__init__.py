"""The command line: Typer and messages for people, no arithmetic."""
