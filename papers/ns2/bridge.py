"""A scenario run by ns-2 instead of by the engine, as a run like any other."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import random
import re
import shutil
import subprocess
import tempfile
import threading
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from record import Flow, Polls

from ackclock import engine
from ackclock.engine import Run, quantity

SCRIPT = Path(__file__).with_name("run.tcl")
KEPT = Path(__file__).parents[2] / "results" / ".ns2"
"""Kept answers of ns-2, by the digest of the request."""
END = "polls end here\n"
"""Line between the polls and the further output of the script."""
COLUMNS = ("window", "ssthresh", "acked", "sent", "cuts", "timeouts")
"""Columns that the script writes for every flow at a poll."""
UNLIMITED = 10_000_000
"""Packets; ns-2's own agents count windows in whole numbers of 32 bits."""
MODULES = {
    "illinois": "illinois",
    "bic": "bic",
    "bic-linux": "bic",
    "compound-linux": "compound",
    "cubic-8312": "cubic",
    "htcp": "htcp",
    "scalable": "scalable",
}
"""Modules of TCP-Linux, which has controls of Linux 2.6.22, by the engine's names of the controls."""
LINUX = {("reno", "linux-2.6"): "reno", ("hstcp", "linux-2.6"): "highspeed"}
"""The same for controls that ns-2's own agents have, too: the recovery decides."""
APPROXIMATE = {
    "illinois": "of Linux 2.6.22, with its alpha and beta, where a loss event leaves beta W",
    "bic": "of Linux 2.6.22, not as printed",
    "bic-linux": "of Linux 2.6.22, where a packet of growth takes an ACK more",
    "cubic-8312": "of Linux 2.6.22, before RFC 8312",
    "htcp": "of Linux 2.6.22, with RTT scaling and whole numbers",
    "hstcp": "of Linux 2.6.22, by the table of RFC 3649 and not its formulas",
    "scalable": "of Linux 2.6.22, which grows by 1/50 and not by 1/100",
    "vegas": "with the mean RTT of a round trip, not the least",
    "tfrc": "of 2.35, whose rate rises by a packet per round trip at most",
    "tfrc-2000": "of 2.35, not of 2000",
}
"""How the control of ns-2 differs, as the page of the control says. Every other control of it is the same; so
are HSTCP, BIC as in Linux and Vegas with other settings."""
BASES = {"reno": "Reno", "reno-ns2": "Reno", "newreno": "Newreno", "sack": "Sack1"}
"""ns-2's own agents by the name of the recovery."""
RED_VARIABLES = {
    "min_threshold": "thresh_",
    "max_threshold": "maxthresh_",
    "weight": "q_weight_",
    "least_max_p": "bottom_",
}
"""Variables of ns-2's RED by the keys of a queue; a threshold or weight of 0 is computed there."""
WINDOW_LAWS = ("reno", "gaimd", "aimd", "hstcp")
"""Controls that ns-2's own agents have with any recovery."""


BACKGROUND = re.compile("(web|small|long) ")
"""Names of background flows in a paper's scenarios."""


class MissingError(Exception):
    """ns-2 lacks a feature that the scenario needs."""


def check_installed() -> None:
    """Leave with one line that says what to do if ns-2 is not installed."""
    if shutil.which("ns") is None:
        raise SystemExit("ns-2 is missing; Debian has it as the package ns2")


def version() -> str:
    """Return the version that ns-2 states."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "version.tcl"
        script.write_text("puts [ns-version]", encoding="utf-8")
        return subprocess.run(["ns", script], capture_output=True, text=True, check=True).stdout.strip()


def seconds(text: str) -> float:
    """Read a time."""
    return quantity(text, "time_s")


def mbit(text: str) -> str:
    """Write a rate as ns-2 reads it."""
    return text if text == "unlimited" else f"{quantity(text, 'rate_bps') / 1e6:.10g}Mb"


def tcl(value: object) -> str:
    """Write a value as a word of Tcl."""
    if isinstance(value, Mapping):
        value = [part for pair in value.items() for part in pair]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "{" + " ".join(tcl(part) for part in value) + "}"
    return f"{{{str(value).lower() if isinstance(value, bool) else value}}}"


def agent(table: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the keys of a flow that say which agent it has, and words for them."""
    if table.get("source") == "poisson":
        # Packets one by one, with exponential times between them.
        bytes_ = size(table["packet"])
        gap_s = 8 * bytes_ / quantity(table["rate"], "rate_bps")
        variables = {"packetSize_": bytes_, "burst_time_": 0, "idle_time_": gap_s, "rate_": "1000000Mb"}
        udp = {"agent": "Agent/UDP", "sink": "Agent/Null", "sink_variables": {}, "algorithm": ""}
        return udp | {"variables": variables}, "Poisson"
    control, recovery, params = table["controller"], table["recovery"], table["params"]
    known: dict[str, Any] = {"sink": "Agent/TCPSink/Sack1", "algorithm": ""}
    known["sink_variables"] = {"packetSize_": size(table["ack"]), "ts_echo_rfc1323_": True}
    if control in ("tfrc", "tfrc-2000"):
        known |= {"sink_variables": {"discount_": int(params.get("discounting", True))}}
        variables = {"packetSize_": size(table["packet"]), "overhead_": seconds(table["overhead"])}
        ran = f"TFRC ({APPROXIMATE[control]})"
        return known | {"agent": "Agent/TFRC", "sink": "Agent/TFRCSink", "variables": variables}, ran
    variables = of_sender(table)
    delayed = delayed_of(table)
    if delayed:
        known["sink"] += DELAYED
        known["sink_variables"] |= delayed
    if control == "vegas":
        variables |= {f"v_{key}_": params[key] for key in ("alpha", "beta", "gamma")}
        sink = "Agent/TCPSink" + (DELAYED if delayed else "")
        ran = "Vegas" if params["rtt"] == "mean" else f"Vegas ({APPROXIMATE[control]})"
        return known | {"agent": "Agent/TCP/Vegas", "sink": sink, "variables": variables}, ran
    if params.get("f1") == "power":
        raise MissingError("powers of the delay in Illinois")
    if (control, recovery) in LINUX:
        module = LINUX[control, recovery]
    elif control in MODULES:
        module = MODULES[control]
    elif control in WINDOW_LAWS and recovery in BASES:
        variables |= law(control, params)
        base = BASES[recovery]
        sink = ("Agent/TCPSink/Sack1" if base == "Sack1" else "Agent/TCPSink") + (DELAYED if delayed else "")
        name = {"reno": base, "hstcp": f"{base} with windowOption_ 8"}.get(control, f"{base}, {control}")
        return known | {"agent": f"Agent/TCP/{base}", "sink": sink, "variables": variables}, name
    else:
        raise MissingError(f"the control {control}")
    known |= {"agent": "Agent/TCP/Linux", "algorithm": module, "variables": variables}
    note = "" if params.get("whole_counts") is False else APPROXIMATE.get(control)
    return known, f"TCP-Linux {module}" + (f" ({note})" if note else "")


DELAYED = "/DelAck"
"""Ending of the receivers of ns-2 that acknowledge every second packet."""


def delayed_of(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a receiver that delays its ACKs; none for another receiver."""
    packets = table["delayed_ack"]
    if packets > 2:
        raise MissingError(f"an acknowledgement for {packets} packets")
    return {"interval_": seconds(table["delayed_ack_timer"])} if packets == 2 else {}


def law(control: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a window's law in ns-2's own agents."""
    if control == "gaimd":
        kept = {"increase_num_": params["alpha"], "decrease_num_": params["beta"]}
        return kept | {"precisionReduce_": not params["whole_windows"]}
    if control == "aimd":
        return {"increase_num_": params["alpha"], "decrease_num_": 1 - params["beta"]}
    if control == "hstcp":
        return {
            "windowOption_": 8,
            "low_window_": params["low_window"],
            "high_window_": params["high_window"],
            "high_p_": params["high_p"],
            "high_decrease_": params["high_decrease"],
            "hstcp_fix_": 1,
            "max_ssthresh_": 0,
        }
    return {}


def of_sender(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the variables of a TCP agent that do not depend on its control."""
    window = table["receive_window"]
    return {
        "packetSize_": size(table["packet"]),
        "window_": UNLIMITED if window == "unlimited" else window,
        "windowInit_": table["initial_window"],
        "overhead_": seconds(table["overhead"]),
        "minrto_": seconds(table["min_rto"]),
        "maxrto_": seconds(table["max_rto"]),
        "rtxcur_init_": seconds(table["initial_rto"]),
        "tcpTick_": seconds(table["clock"]),
        "timestamps_": table["rtt_sampling"] == "every_ack",
        "ts_resetRTO_": table["rtt_sampling"] == "every_ack",
        "singledup_": int(table["limited_transmit"]),
        "maxburst_": table["max_burst"],
        "slow_start_restart_": False,
    }


def size(text: str) -> int:
    """Read a size in bytes."""
    return int(quantity(text, "size_bytes"))


UNTRANSLATED = ("pacing", "ecn", "hystart")
"""Settings of a sender that ns-2's agents do not have."""


def flows_of(scenario: Mapping[str, Any], run: int) -> Iterator[Flow]:
    """Yield the flows of a scenario with every default filled in, one by one."""
    delay_s = seconds(scenario["dumbbell"]["delay"])
    # Only times of starts and stops are drawn here; ns-2 draws the rest.
    drawn = random.Random(run)  # noqa: S311
    for given in scenario["flow"]:
        table = dict(scenario["tcp"]) | given
        for key in UNTRANSLATED:
            if table.get(key):
                raise MissingError(key)
        if seconds(table.get("rtt_noise", "0 s")):
            raise MissingError("noise in the measured RTT")
        source = table.get("source", "bulk")
        if source not in ("bulk", "web", "poisson") or "bytes" in table:
            raise MissingError(f"traffic of the kind {source}")
        keys, ran = agent(table)
        keys["ssthresh"] = table["initial_ssthresh"]
        keys["access"] = mbit(table["access"])
        keys["access_ms"] = 1e3 * (seconds(table["rtt"]) / 2 - delay_s) / 2
        keys["direction"] = table["direction"]
        keys["pages"] = []
        if source == "web":
            object_packets = size(table["object"]) / size(table["packet"])
            keys["pages"] = [seconds(table["think"]), table["objects"], object_packets, table["shape"]]
        for _ in range(table.get("count", 1)):
            start = time_of(table["start"], drawn)
            stop = time_of(table["stop"], drawn, start) if "stop" in table else ""
            yield Flow(table, keys | {"start": start, "stop": stop}, ran)


def time_of(given: Any, drawn: random.Random, least: float = 0.0) -> float:
    """Read a time, or draw it."""
    if isinstance(given, str):
        return seconds(given)
    low, high = (seconds(text) for text in given["uniform"])
    return drawn.uniform(max(low, least), high)


def queue_of(table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the discipline of a queue as the script reads it."""
    limit, unit = engine.scenario.limit(table["limit"])
    if unit != "packets":
        raise MissingError("a queue in bytes")
    if table["kind"] == "droptail":
        return {"kind": "DropTail", "limit": limit}
    if table["kind"] not in ("red", "ared"):
        raise MissingError(f"the queue {table['kind']}")
    variables: dict[str, Any] = {
        "bytes_": False,
        "queue_in_bytes_": False,
        "gentle_": table["gentle"],
        "wait_": table["spacing"] == "wait",
        "mean_pktsize_": size(table["mean_packet"]),
        "adaptive_": int(table["kind"] == "ared"),
    }
    # ns-2 computes missing values from the link's rate, as the engine does.
    if "max_p" in table:
        variables["linterm_"] = 1 / table["max_p"]
    for key, variable in RED_VARIABLES.items():
        if key in table:
            variables[variable] = table[key]
    return {"kind": "RED", "limit": limit, "variables": variables}


def describe(scenario: Mapping[str, Any], flows: Sequence[Flow], seed: int, poll_s: float) -> str:
    """Write the description of a scenario that the script reads."""
    link = scenario["dumbbell"]
    loss = link["loss"]
    if loss["kind"] not in ("none", "bernoulli", "periodic"):
        raise MissingError(f"{loss['kind']} loss")
    share = loss.get("rate") or (1 / loss["every"] if "every" in loss else 0)
    bottleneck = {
        "rate": mbit(link["rate"]),
        "delay": f"{1e3 * seconds(link['delay']):g}ms",
        "queue": queue_of(link["queue"]),
        "reverse": queue_of(link["reverse"]["queue"]),
        "loss": [loss["kind"], fraction(share)],
    }
    lines = [f"bottleneck {tcl(bottleneck)}", *(f"flow {tcl(flow.keys)}" for flow in flows)]
    for event in scenario.get("event", ()):
        if event["set"] != "dumbbell.loss.rate":
            raise MissingError(f"a change of {event['set']}")
        lines.append(f"change {seconds(event['at'])} {loss['kind']} {fraction(event['to'])}")
    run = scenario["run"]
    lines.append(f"go {seed} {seconds(run['warmup'])} {seconds(run['duration'])} {poll_s}")
    return "\n".join(lines) + "\n"


def fraction(value: float | str) -> float:
    """Read a share, which is a number or in per cent."""
    return quantity(value, "fraction") if isinstance(value, str) else float(value)


PACKET_US, PACKET_AMONG_WEB_US = 8, 10
"""Processor time of ns-2 per packet of the bottleneck, without and with web sessions around, measured."""


def minutes(given: engine.Scenario) -> float:
    """Estimate how long ns-2 takes for a run, from the packets that fill the bottleneck."""
    scenario = tomllib.loads(given.toml())
    bits = quantity(scenario["dumbbell"]["rate"], "rate_bps") * seconds(scenario["run"]["duration"])
    packet_bytes = max(size((dict(scenario["tcp"]) | flow)["packet"]) for flow in scenario["flow"])
    web = any(flow.get("source") == "web" for flow in scenario["flow"])
    return bits / 8 / packet_bytes * (PACKET_AMONG_WEB_US if web else PACKET_US) / 60e6


def polled_s(sample_s: float) -> float:
    """Return the time between two polls: on a slow link, polls take most of the processor time."""
    return sample_s / 4 if 0.02 < sample_s <= 0.1 else sample_s


def simulate(given: engine.Scenario, run: int) -> Run:
    """Run a scenario in ns-2; `run` is the seed, less 1. MissingError names the missing feature."""
    scenario = tomllib.loads(given.toml())
    if "dumbbell" not in scenario:
        raise MissingError("several bottlenecks")
    poll_s = polled_s(seconds(scenario["run"]["sample"]))
    flows = list(flows_of(scenario, run))
    return read(*answered(describe(scenario, flows, run + 1, poll_s)), scenario, flows)


def answered(description: str) -> tuple[str, str]:
    """Return the polls and the words of a run of the script, which are kept: a run takes minutes."""
    asked = (description + SCRIPT.read_text(encoding="utf-8")).encode()
    kept = KEPT / f"{hashlib.sha256(asked).hexdigest()[:32]}.gz"
    if not kept.exists():
        with tempfile.TemporaryDirectory() as folder:
            file, output = Path(folder) / "scenario.tcl", Path(folder) / "polls.csv"
            file.write_text(description, encoding="utf-8")
            done = subprocess.run(["ns", SCRIPT, file, output], capture_output=True, text=True)
            words = [line for line in done.stderr.splitlines() if line.strip()]
            if done.returncode or not output.exists():
                raise RuntimeError(f"ns-2 failed with status {done.returncode}: {' '.join(words[:3])}")
            both = output.read_text(encoding="utf-8") + END + done.stdout
        KEPT.mkdir(parents=True, exist_ok=True)
        draft = kept.with_suffix(f".{os.getpid()}-{threading.get_ident()}")
        draft.write_bytes(gzip.compress(both.encode()))
        draft.rename(kept)
    polls, _, said = gzip.decompress(kept.read_bytes()).decode().partition(END)
    return polls, said


def ran(given: engine.Scenario) -> tuple[str, ...]:
    """Return words for the flows of a scenario as ns-2 has them, without background in other groups."""
    scenario = tomllib.loads(given.toml())
    if "dumbbell" not in scenario:
        raise MissingError("several bottlenecks")
    flows = list(flows_of(scenario, 0))
    describe(scenario, flows, 1, 1.0)
    shown = [flow.ran for flow in flows if not BACKGROUND.match(str(flow.table.get("name", "")))]
    return tuple(dict.fromkeys(shown))


def read(polls: str, said: str, scenario: Mapping[str, Any], flows: Sequence[Flow]) -> Run:
    """Build the run from the polls of the script, and from its output about drops by flow."""
    table = (
        pl.read_csv(io.StringIO(polls), has_header=False, infer_schema_length=None).to_numpy().astype(float)
    )
    of_flows = table[:, 4:].reshape(len(table), len(flows), len(COLUMNS))
    dropped = np.zeros(len(flows))
    for sign, flow, count in re.findall(r"^dropped ([-+]) (\d+) (\d+)$", said, re.MULTILINE):
        dropped[int(flow)] += float(f"{sign}{count}")
    return Polls(np.ascontiguousarray(table[:, :4]), of_flows, dropped, scenario, flows).run()
