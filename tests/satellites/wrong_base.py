"""Two flows on a path, one of which has a wrong idea of its round trip without a queue."""

from collections.abc import Mapping
from typing import Any

from ackclock.engine import build
from ackclock.engine.build import Table
from ackclock_evaluate.setting import Bottleneck, Subject, change


def wrong_base(
    subject: Subject,
    path: Bottleneck,
    error_ms: float,
    duration_s: float,
    tcp: Mapping[str, Any] | None = None,
) -> Table:
    """Return two flows, the second of which had a path shorter by `error_ms` in its first two seconds."""
    start = {"uniform": ["0 s", build.milliseconds(path.rtt_ms / 2)]}
    ends = {"start": start, "to": "far"}
    # Both directions of an access link have 5 ms, and the event holds for both.
    longer = change(2.0, "link.access-b.delay", build.milliseconds(5 + error_ms / 2))
    return path.scenario(
        subject.flow("c-0", path.rtt_ms, **ends, **{"from": "a"}),
        subject.flow("c-1", path.rtt_ms - error_ms, **ends, **{"from": "b"}),
        duration_s=duration_s,
        events=(longer,),
        tcp=tcp,
        topology=path.apart({"a": {}, "b": {}}),
    )
