"""TCP-Illinois: S. Liu, T. Basar, R. Srikant, Performance Evaluation 65 (2008), 417-440."""

from ackclock.reproduction.artefact import Paper, with_reasons
from ackclock_papers.illinois import model, noise, one_flow, several
from ackclock_papers.illinois.reasons import REASONS
from ackclock_papers.illinois.setting import CHANGES, SETTING

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
