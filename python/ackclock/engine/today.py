"""The profile of today's senders, which new scenarios use.

The format's own default is the setting of the papers, ``profile = "ns2"``, so that files keep their meaning.
`ackclock.scenario`, ``ackclock example`` and named paths use ``profile = "linux"``, as `compare` and
`evaluate` do.
"""

from __future__ import annotations

from collections.abc import Iterable

from ackclock.engine.scenario import Scenario

PROFILE = "linux"
"""The profile of new scenarios."""


def profiles(*scenarios: Scenario) -> str:
    """Return the profiles of the senders of scenarios in words, as ``linux and ns2``; ``-`` without any."""
    return " and ".join(sorted(set().union(*map(_profiles, scenarios)))) or "-"


def missing(scenario: Scenario) -> str:
    """Return a sentence about a scenario that sets no profile; empty for one that does, or names a path."""
    written = scenario.written()
    flows = [flow for flow in written.get("flow", []) if "profile" not in flow]
    if "path" in written or "profile" in written.get("tcp", {}) or not flows:
        return ""
    return 'No profile is set: profile = "linux" in [tcp] makes the senders those of today.'


def _profiles(scenario: Scenario) -> Iterable[str]:
    complete = scenario.tables()
    usual = complete["tcp"]["profile"]
    return (flow.get("profile", usual) for flow in complete["flow"])
