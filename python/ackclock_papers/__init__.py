"""Every figure and table of the papers: scenarios, measurement, picture, claims."""

from ackclock.reproduction.library import load
from ackclock.reproduction.paper import Paper

PAPERS: dict[str, Paper] = {
    name: load(f"{__name__}.{name}") for name in ("illinois", "fit", "transient", "bic", "africa")
}
"""Papers by name."""
