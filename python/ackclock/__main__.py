"""So that `python -m ackclock` is the command line."""

from ackclock.cli import main

main()
