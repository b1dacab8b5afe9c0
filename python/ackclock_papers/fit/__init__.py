"""TCP-FIT: J. Wang, J. Wen, J. Zhang, Y. Han, INFOCOM 2011, 2894-2902."""

from ackclock.reproduction.artefact import Paper, with_reasons
from ackclock_papers.fit import alone, live, model, sharing
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
            alone.FIGURE_4,
            alone.FIGURE_5,
            sharing.FIGURE_6,
            sharing.FIGURE_7,
            live.FIGURE_8,
            live.FIGURE_9,
            model.TABLE_1,
            model.TABLE_2,
            sharing.TABLE_3,
            live.TABLE_4,
            live.TABLE_5,
        ),
        REASONS,
    ),
)
