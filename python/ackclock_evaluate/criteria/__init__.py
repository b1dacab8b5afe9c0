"""The criteria of RFC 9743 (BCP 133) for a new congestion control, in its order."""

from ackclock_evaluate.cell import Criterion
from ackclock_evaluate.criteria import changes, collapse, paths, queueing, sharing, traffic

NOT_TESTED = (
    Criterion(
        "multipath",
        "7.10",
        "",
        "Multipath",
        "",
        not_tested="not applicable: a flow has one path here; criterion path tests a change of path",
    ),
    Criterion(
        "documents",
        "5.3",
        "",
        "Documents",
        "",
        not_tested="for people to judge: deviations from RFC 2914 and RFC 7141, deployment, and "
        "settings for operators",
    ),
)

RFC9743: tuple[Criterion, ...] = (
    *collapse.CRITERIA,
    queueing.BLOAT,
    queueing.LOSSES,
    sharing.ITSELF,
    sharing.ROUND_TRIPS,
    traffic.SHORT,
    traffic.LIMITED,
    sharing.MIXED,
    traffic.REAL_TIME,
    paths.WIRED,
    queueing.TUNNEL,
    paths.WIRELESS,
    queueing.MANAGED,
    paths.BREAKERS,
    paths.DELAYS,
    paths.THIN,
    paths.FAR,
    changes.MISBEHAVING,
    paths.REORDERING,
    changes.TRANSIENTS,
    changes.CHANGES,
    paths.DATACENTRE,
    *NOT_TESTED,
)
"""The criteria in the order of the RFC."""
