"""BI-TCP (BIC): L. Xu, K. Harfoush, I. Rhee, INFOCOM 2004."""

from ackclock.reproduction.artefact import Paper, with_reasons
from ackclock_papers.bic import analysis, runs
from ackclock_papers.bic.reasons import REASONS
from ackclock_papers.bic.setting import SETTING

PAPER = Paper(
    name="bic",
    title="BI-TCP, known as BIC (L. Xu, K. Harfoush, I. Rhee, INFOCOM 2004)",
    setting=SETTING,
    artefacts=with_reasons(
        (
            analysis.FIGURE_1,
            runs.FIGURE_2,
            runs.FIGURE_3,
            analysis.FIGURE_4,
            analysis.FIGURE_5,
            analysis.FIGURE_6,
            analysis.FIGURE_7,
            analysis.FIGURE_8,
            runs.FIGURE_9,
            runs.FIGURE_10,
            runs.FIGURE_11,
            runs.TABLE_1,
            runs.TABLE_2,
            runs.TABLE_3,
        ),
        REASONS,
    ),
)
