"""The names of suites, criteria, objectives and genomes, known without importing what they measure.

Shells complete them, for which an import of all criteria would take too long. A test compares them with
what they name.
"""

CRITERIA: dict[str, tuple[str, ...]] = {
    "rfc9743": (
        "collapse-loss",
        "collapse-silence",
        "collapse-overload",
        "collapse-undelivered",
        "bufferbloat",
        "loss",
        "self-fairness",
        "rtt",
        "short",
        "app-limited",
        "mixed",
        "real-time",
        "wired",
        "tunnel",
        "wireless",
        "aqm",
        "breakers",
        "delay",
        "iot",
        "far",
        "misbehaving",
        "reordering",
        "transients",
        "path",
        "datacentre",
        "multipath",
        "documents",
    ),
    "bbr-draft": (
        "bbr-startup",
        "bbr-drain",
        "bbr-probe",
        "bbr-thin",
        "bbr-rate",
        "bbr-policer",
        "bbr-spurious",
        "bbr-application",
        "bbr-states",
    ),
    "tcpeval": (
        "tcpeval-load",
        "tcpeval-buffer",
        "tcpeval-ramp",
        "tcpeval-transients",
        "tcpeval-camps",
        "tcpeval-rtt",
        "tcpeval-row",
    ),
    "rfc7928": (
        "aqm-datagrams",
        "aqm-rtt",
        "aqm-congestion",
        "aqm-capacity",
        "aqm-row",
        "aqm-web",
        "aqm-ledbat",
    ),
    "rfc8867": ("media-capacity", "media-feedback", "media-fairness", "media-tcp", "media-pause"),
    "c4": ("c4-alone", "c4-changing", "c4-blackhole", "c4-competition", "c4-wifi", "c4-media"),
    "adversaries": (
        "starvation",
        "delay-range",
        "jitter",
        "aggregation",
        "policer",
        "on-off",
        "shrew",
        "leo",
        "bloat",
    ),
}
"""The criteria of every suite."""
OBJECTIVES = ("utilisation", "delay", "starvation", "harm", "loss", "stall", "unused")
GENOMES = ("capacity", "pulses", "flow-delay", "delay", "loss", "path")
