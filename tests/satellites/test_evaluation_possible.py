"""No interval of an evaluation holds what is impossible."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock_evaluate.cell import possible
from ackclock_evaluate.results import Measured
from test_possible import NUMBERS

METRICS = [
    *("goodput", "utilisation", "delay_p95", "queue_mean", "loss", "victim_loss", "jain", "jain_20"),
    *("smallest_share", "share", "starving", "useful", "late", "marked", "resent_in_vain", "worst_fifth"),
    *(
        "harm_goodput",
        "harm_rtt",
        "stolen",
        "exponent",
        "timeouts",
        "marks_per_loss",
        "fct_p95_c",
        "recovery",
    ),
]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(METRICS), NUMBERS)
def test_no_cell_of_an_evaluation_shows_what_is_impossible(metric, values):
    least, most = possible(metric)
    # Metrics that may be below 0 or far above 1 are drawn there.
    drawn = [value - 0.5 if least < 0 else value if most == 1 else 1e3 * value for value in values]
    measured = Measured([{metric: one} for one in drawn])
    found = measured.estimate(metric)
    if not np.isnan(found.low):
        assert least <= found.low <= found.value <= found.high <= most
