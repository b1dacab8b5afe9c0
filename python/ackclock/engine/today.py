"""Scenarios with the senders of today, as people begin with them.

The format's own default is the setting of the papers, ``profile = "ns2"``, so that files keep their meaning.
`ackclock.scenario`, ``ackclock example`` and named paths use ``profile = "linux"``, as `compare` and
`evaluate` do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ackclock.engine import build
from ackclock.engine.scenario import Scenario, tables

PROFILE = "linux"
"""Profile of what people begin with."""


def scenario(
    topology: Mapping[str, object],
    *flows: Mapping[str, object],
    duration: str = "100 s",
    warmup: str | None = None,
    seed: int = 1,
    sample: str | None = None,
    tcp: Mapping[str, object] | None = None,
    events: tuple[Mapping[str, object], ...] = (),
) -> build.Table:
    """Assemble a scenario of today's senders, to be simulated, saved as JSON, or swept.

    Parameters
    ----------
    topology : mapping
        Result of `dumbbell`, or ``{"path": "4g"}``, ``{"parking_lot": ...}``, or ``{"node": [...],
        "link": [...]}``.
    *flows : mapping
        Results of `flow`, in order.
    duration : str
        Simulated time, such as ``"60 s"``.
    warmup : str, optional
        Time before measuring starts.
    seed : int
        Seed of the random streams.
    sample : str, optional
        Sampling interval of the tables over time.
    tcp : mapping, optional
        Keys of all flows, as in ``[tcp]``. Its `profile` is ``"linux"``, today's Linux, unless it says
        ``"ns2"``, the setting of the papers.
    events : tuple of mapping
        Changes during the run, as in ``[[event]]``.

    Returns
    -------
    dict
        The tables of a scenario file; `check` shows the defaults of all keys that are not
        given.

    Examples
    --------
    >>> import ackclock
    >>> path = ackclock.dumbbell("10 Mbit/s", "20 ms", queue="50 packets")
    >>> ackclock.scenario(path, ackclock.flow("reno", rtt="50 ms"), duration="5 s")["run"]
    {'duration': '5 s', 'seed': 1}
    """
    senders = {"profile": PROFILE} | dict(tcp or {})
    return build.scenario(
        topology,
        *flows,
        duration=duration,
        warmup=warmup,
        seed=seed,
        sample=sample,
        tcp=senders,
        events=events,
    )


def profiles(*scenarios: Scenario) -> str:
    """Return the profiles of the senders of scenarios in words, as ``linux and ns2``; ``-`` without any."""
    return " and ".join(sorted(set().union(*map(_profiles, scenarios)))) or "-"


def _profiles(scenario: Scenario) -> Iterable[str]:
    complete = tables(scenario)
    usual = complete["tcp"]["profile"]
    return (flow.get("profile", usual) for flow in complete["flow"])
