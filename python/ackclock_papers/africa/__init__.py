"""TCP-Africa: R. King, R. Baraniuk, R. Riedi, INFOCOM 2005, 1838-1848."""

from ackclock.reproduction.artefact import Paper, with_reasons
from ackclock_papers.africa import analysis, runs
from ackclock_papers.africa.reasons import REASONS
from ackclock_papers.africa.setting import CHANGES, SETTING

PAPER = Paper(
    name="africa",
    title="TCP-Africa (R. King, R. Baraniuk, R. Riedi, INFOCOM 2005)",
    setting=SETTING,
    artefacts=with_reasons((analysis.FIGURE_1, *runs.ARTEFACTS), REASONS),
    changes=CHANGES,
)
