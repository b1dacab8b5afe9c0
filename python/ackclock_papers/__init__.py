"""Every figure and table of the papers: scenarios, measurement, picture, claims."""

from ackclock.reproduction.artefact import Paper
from ackclock_papers import africa, bic, fit, illinois, transient

PAPERS: dict[str, Paper] = {
    one.PAPER.name: one.PAPER for one in (illinois, fit, transient, bic, africa)
}
"""Papers by name."""
