"""Transient behaviours of TCP-friendly congestion control: TCP, GAIMD, TFRC and TEAR."""

from ackclock.reproduction.artefact import Paper, with_reasons
from ackclock_papers.transient import (
    decrease,
    diagrams,
    increase,
    link,
    long_term,
    lossy,
    summary,
)
from ackclock_papers.transient.reasons import REASONS
from ackclock_papers.transient.setting import CHANGES, SETTING

PAPER = Paper(
    name="transient",
    title="Transient behaviours of TCP-friendly protocols: TCP, GAIMD, TFRC and TEAR",
    setting=SETTING,
    artefacts=with_reasons(
        (
            diagrams.FIGURE_1,
            diagrams.FIGURE_2,
            *lossy.ARTEFACTS,
            *link.ARTEFACTS,
            *long_term.ARTEFACTS,
            *decrease.ARTEFACTS,
            *increase.ARTEFACTS,
            diagrams.FIGURE_37,
            diagrams.FIGURE_38,
            summary.TABLE_1,
        ),
        REASONS,
    ),
    changes=CHANGES,
)
