"""BI-TCP (BIC): L. Xu, K. Harfoush, I. Rhee, INFOCOM 2004."""

from ackclock.reproduction.artefact import Paper, with_reasons
from ackclock_papers.bic import analysis, shares, unfairness
from ackclock_papers.bic.reasons import REASONS
from ackclock_papers.bic.setting import SETTING

PAPER = Paper(
    name="bic",
    title="BI-TCP, known as BIC (L. Xu, K. Harfoush, I. Rhee, INFOCOM 2004)",
    setting=SETTING,
    artefacts=with_reasons(
        (
            analysis.FIGURE_1,
            unfairness.FIGURE_2,
            unfairness.FIGURE_3,
            analysis.FIGURE_4,
            analysis.FIGURE_5,
            analysis.FIGURE_6,
            analysis.FIGURE_7,
            analysis.FIGURE_8,
            shares.FIGURE_9,
            shares.FIGURE_10,
            shares.FIGURE_11,
            unfairness.TABLE_1,
            unfairness.TABLE_2,
            unfairness.TABLE_3,
        ),
        REASONS,
    ),
)
