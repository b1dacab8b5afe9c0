"""TCP-Illinois: S. Liu, T. Basar, R. Srikant, Performance Evaluation 65 (2008), 417-440."""

from ackclock.papers.artefact import Paper, with_reasons
from ackclock.papers.illinois import model, noise, one_flow, several
from ackclock.papers.illinois.reasons import REASONS
from ackclock.papers.illinois.setting import CHANGES, SETTING

PAPER = Paper(
    name="illinois",
    title="TCP-Illinois (S. Liu, T. Başar, R. Srikant, Performance Evaluation 65, 2008)",
    setting=SETTING,
    artefacts=with_reasons(
        (
            *model.ARTEFACTS,
            one_flow.FIGURE_8,
            several.FIGURE_9,
            one_flow.FIGURE_10,
            several.FIGURE_11,
            several.FIGURE_12,
            several.FIGURE_13,
            noise.FIGURE_14,
            noise.FIGURE_15,
        ),
        REASONS,
    ),
    changes=CHANGES,
)
