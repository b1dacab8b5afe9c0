"""TCP-Africa: R. King, R. Baraniuk, R. Riedi, INFOCOM 2005, 1838-1848."""

from ackclock.papers.africa import figures
from ackclock.papers.africa.reasons import REASONS
from ackclock.papers.africa.setting import CHANGES, SETTING
from ackclock.papers.artefact import Paper, with_reasons

PAPER = Paper(
    name="africa",
    title="TCP-Africa (R. King, R. Baraniuk, R. Riedi, INFOCOM 2005)",
    setting=SETTING,
    artefacts=with_reasons(figures.ARTEFACTS, REASONS),
    changes=CHANGES,
)
