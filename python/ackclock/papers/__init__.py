"""Every figure and table of the papers: scenarios, measurement, picture, claims."""

from ackclock.papers import illinois
from ackclock.papers.artefact import Paper

PAPERS: dict[str, Paper] = {illinois.PAPER.name: illinois.PAPER}
"""Papers by name; one line each."""
