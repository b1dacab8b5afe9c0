"""Every figure and table of the papers: scenarios, measurement, picture, claims."""

from ackclock.papers import africa, bic, fit, illinois, transient
from ackclock.papers.artefact import Paper

PAPERS: dict[str, Paper] = {
    one.PAPER.name: one.PAPER for one in (illinois, fit, transient, bic, africa)
}
"""Papers by name."""
