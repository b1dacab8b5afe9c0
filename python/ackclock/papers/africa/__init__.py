"""TCP-Africa: R. King, R. Baraniuk, R. Riedi, INFOCOM 2005, 1838-1848."""

from ackclock.papers.africa import figures
from ackclock.papers.africa.setting import SETTING
from ackclock.papers.artefact import Paper

PAPER = Paper(
    name="africa",
    title="TCP-Africa (R. King, R. Baraniuk, R. Riedi, INFOCOM 2005)",
    setting=SETTING,
    artefacts=figures.ARTEFACTS,
)
