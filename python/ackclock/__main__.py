"""The entry point of `python -m ackclock`."""

from ackclock.cli.main import main

main()
