"""The command line: Click and messages for people, no arithmetic."""
