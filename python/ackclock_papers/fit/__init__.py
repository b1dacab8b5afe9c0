"""TCP-FIT: J. Wang, J. Wen, J. Zhang, Y. Han, INFOCOM 2011, 2894-2902."""

from ackclock.reproduction.artefact import Paper, with_reasons
from ackclock_papers.fit import emulation, live, model
from ackclock_papers.fit.reasons import REASONS
from ackclock_papers.fit.setting import SETTING

PAPER = Paper(
    name="fit",
    title="TCP-FIT (J. Wang, J. Wen, J. Zhang, Y. Han, INFOCOM 2011)",
    setting=SETTING,
    artefacts=with_reasons(
        (
            model.FIGURE_1,
            model.FIGURE_2,
            model.FIGURE_3,
            emulation.FIGURE_4,
            emulation.FIGURE_5,
            emulation.FIGURE_6,
            emulation.FIGURE_7,
            live.FIGURE_8,
            live.FIGURE_9,
            model.TABLE_1,
            model.TABLE_2,
            emulation.TABLE_3,
            live.TABLE_4,
            live.TABLE_5,
        ),
        REASONS,
    ),
)
