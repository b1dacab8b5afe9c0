"""What counts in which metric: datagrams, web, media, rates and reverse flows next to TCP."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import ackclock

CBR = {"source": "cbr", "rate": "100 kbit/s"}
NOT_CONTROLLED = ("datagrams", "media")
TRAFFIC: dict[str, tuple[list[dict[str, Any]], list[str], dict[str, int]]] = {
    # The traffic added to two Reno flows, the kinds of all flows, and the number of comparable flows per
    # group: flows with a congestion control and data in the same direction.
    "nothing": ([], ["window"] * 2, {"all flows": 2}),
    "datagrams": ([CBR] * 4, ["window"] * 2 + ["datagrams"] * 4, {"all flows": 2}),
    "media": ([{"source": "media", "rate": "300 kbit/s"}], ["window", "window", "media"], {"all flows": 2}),
    "web": ([{"source": "web", "think": "1 s"}], ["window", "window", "web"], {"all flows": 3}),
    "requests": (
        [{"source": "requests", "size": "50 kB", "every": "1 s"}],
        ["window", "window", "web"],
        {"all flows": 3},
    ),
    "a group of connections": ([{"source": "emultcp", "count": 2}], ["window"] * 4, {"all flows": 4}),
    "everything": (
        [CBR, {"source": "media", "rate": "300 kbit/s"}, {"source": "web"}, {"controller": "tear"}],
        ["window", "window", "datagrams", "media", "web", "rate"],
        {"all flows": 4},
    ),
    "a rate": ([{"controller": "tfrc"}], ["window", "window", "rate"], {"all flows": 3}),
    "reverse": (
        [{"controller": "reno", "direction": "reverse"}],
        ["window"] * 3,
        {"forward flows": 2, "reverse flows": 1},
    ),
    "reverse datagrams": (
        [CBR | {"direction": "reverse"}],
        ["window", "window", "datagrams"],
        {"all flows": 2},
    ),
}


def simulated(more: list[dict[str, Any]]) -> ackclock.Run:
    return ackclock.simulate(
        ackclock.scenario(
            ackclock.dumbbell("10 Mbit/s", "10 ms", queue="20 packets"),
            ackclock.flow("reno", rtt="40 ms"),
            ackclock.flow("reno", rtt="50 ms"),
            *({"rtt": "30 ms"} | settings for settings in more),
            duration="20 s",
            warmup="2 s",
            tcp={"profile": "ns2"},
        )
    )


@pytest.mark.parametrize("name", TRAFFIC)
def test_what_counts_in_which_metric(name: str) -> None:
    more, kinds, groups = TRAFFIC[name]
    run = simulated(more)
    assert [flow["kind"] for flow in run.summary["flows"]] == kinds
    metrics = run.metrics
    names = metrics.columns
    of = metrics.filter(pl.col(names[0]).is_in(list(groups)))
    shared = of.filter(pl.col(names[1]).str.contains("congestion events that"))
    half = {group: -(-count // 2) for group, count in groups.items() if count > 1}
    words = {n: "1 flow" if n == 1 else f"{n} flows" for n in half.values()}
    expected = {(group, f"congestion events that {words[n]} or more share") for group, n in half.items()}
    assert set(shared.select(names[:2]).rows()) == expected
    jain = of.filter(pl.col(names[1]) == "Jain's index of the means")
    assert set(jain[names[0]]) == set(half)
    # Jain's index by hand, of the flows that are compared.
    for group in half:
        goodputs = [
            flow["goodput_mbps"]
            for flow in run.summary["flows"]
            if flow["kind"] not in NOT_CONTROLLED
            and group in ("all flows", f"{flow['settings']['direction']} flows")
        ]
        by_hand = sum(goodputs) ** 2 / (len(goodputs) * sum(goodput**2 for goodput in goodputs))
        value = jain.filter(pl.col(names[0]) == group)["value"].item()
        # The flows are there from the start: in parts of the run or as a whole.
        assert value == pytest.approx(by_hand, rel=1e-3)
    # Every flow has a goodput; only flows that give way have epochs.
    epochs = metrics.filter(pl.col(names[1]) == "congestion epoch, mean")[names[0]].to_list()
    sources = {flow["name"] for flow in run.summary["flows"] if flow["kind"] in NOT_CONTROLLED}
    assert not sources & set(epochs)
    goodputs_of = metrics.filter(pl.col(names[1]) == "goodput")[names[0]].to_list()
    assert goodputs_of == [flow["name"] for flow in run.summary["flows"]]
