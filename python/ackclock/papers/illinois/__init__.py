"""TCP-Illinois: S. Liu, T. Basar, R. Srikant, Performance Evaluation 65 (2008), 417-440."""

from ackclock.papers.figure import Paper
from ackclock.papers.illinois import figure_8, figure_9, figure_10
from ackclock.papers.illinois.setting import SETTING

PAPER = Paper(
    name="illinois",
    title="TCP-Illinois (S. Liu, T. Başar, R. Srikant, Performance Evaluation 65, 2008)",
    setting=SETTING,
    figures={
        figure.name: figure
        for figure in (figure_8.FIGURE, figure_9.LEFT, figure_9.RIGHT, figure_10.FIGURE)
    },
)
