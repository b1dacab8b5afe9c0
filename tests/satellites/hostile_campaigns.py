"""Bad input by the thousand, as `tests/hostile.py` has it: the directories of campaigns.

``PYTHONPATH=tests python tests/satellites/hostile_campaigns.py`` has the same options.
"""

import json
from pathlib import Path

from ackclock.engine import integrity
from ackclock_paths import campaign
from hostile import Kind, main

PLAN = {"server": "here", "controls": ["reno", "fit"], "period_s": 1, "slots": 2, "references": 0}
RECORDS = [
    {"slot": 0, "try": 1, "event": "begin", "unix_s": 1000.0, "elapsed_s": 0.0},
    {"slot": 0, "try": 1, "event": "sample", "control": "reno", "second": 1.0, "flow": 0},
    {
        "slot": 0,
        "try": 1,
        "event": "end",
        "control": "reno",
        "seconds": 1.0,
        "received_bytes": [125000],
        "complete": True,
    },
]


def _read(home: Path, plan: bytes, log: bytes) -> object:
    (home / "campaign.json").write_bytes(plan)
    (home / "log.jsonl").write_bytes(log)
    return campaign.read(home)


def _log(home: Path, content: bytes) -> object:
    return _read(home, json.dumps(PLAN, indent=2).encode() + b"\n", content)


def _plan(home: Path, content: bytes) -> object:
    return _read(home, content, b"".join(map(integrity.seal, RECORDS)))


KINDS = {
    "log": Kind("".join(json.dumps(record) + "\n" for record in RECORDS), _log, ValueError),
    "plan": Kind(integrity.seal(PLAN).decode(), _plan, ValueError),
}

if __name__ == "__main__":
    main(KINDS, __doc__)
