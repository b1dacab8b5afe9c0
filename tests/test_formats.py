"""docs/formats.md and docs/compatibility.md state what the code writes: versions, names, columns."""

import hashlib
import json
import re
import sqlite3
from pathlib import Path

import ackclock
from ackclock import engine
from ackclock.engine import integrity
from ackclock.runs import database
from ackclock.runs.store import Store

ROOT = Path(__file__).resolve().parents[1]
FORMATS = (ROOT / "docs" / "formats.md").read_text("utf-8")
COMPATIBILITY = (ROOT / "docs" / "compatibility.md").read_text("utf-8")
MEASURE = ROOT / "crates" / "ackclock-measure" / "src"


def constant(name: str, file: Path) -> str:
    """Return the value of a constant of Rust as it is written."""
    (value,) = re.findall(rf"\bconst {name}: [^=]+ = (.+);", file.read_text("utf-8"))
    return value.strip('"')


def test_the_store_is_as_described(tmp_path):
    with Store(tmp_path).opened() as store:
        store.write_note("sweep/loss/00001", [1, 2])
    (file,) = tmp_path.glob("*.sqlite")
    assert f"`.cache/{file.name}`" in FORMATS
    connection = sqlite3.connect(file)
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    assert f"application identifier 0x{application:X} (`ACKC`) and `user_version` {version}." in FORMATS
    columns = [column[1] for column in connection.execute("PRAGMA table_info(rows)")]
    assert re.findall(r"^\| `(\w+)` \| ", FORMATS.split("## Results")[0], re.M) == columns
    rows = {row[:2]: row[2:] for row in connection.execute(database.EVERY)}
    notes = {name: json.loads(content) for (kind, name), (content, _) in rows.items() if kind == "note"}
    assert notes == {"rules": engine.RULES, "sweep/loss/00001": [1, 2]}
    for (kind, name), (content, digest) in rows.items():
        line = f"{version} {kind} {name}\n".encode()
        assert digest == hashlib.sha256(line + content).digest()[:16]
    assert f"`{next(database.asides(file)).name}`" in FORMATS


def test_a_record_is_sealed_as_described():
    line = integrity.seal({"slot": 3}).decode()
    content = line.split(',"checksum"')[0]
    assert line == f'{content},"checksum":"{hashlib.sha256(content.encode()).hexdigest()[:16]}"}}\n'
    assert f"`{integrity.CHECKSUMS}`" in FORMATS


def test_a_plan_and_its_log_have_the_members_that_are_named():
    source = (MEASURE / "campaign.rs").read_text("utf-8")
    plan = re.search(r"pub struct Plan \{(.*?)\n\}", source, re.DOTALL)[1]
    described = re.search(r"`campaign.json` is its plan, (.*)", FORMATS)[1]
    assert re.findall(r"`(\w+)`", described) == re.findall(r"pub (\w+):", plan)
    events = set(re.findall(r'"event": "(\w+)"', source))
    log = FORMATS.split("`log.jsonl` is only appended to.")[1].split("## The wire")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", log, re.M)) == events


def test_the_wire_is_as_described():
    wire = MEASURE / "wire.rs"
    protocol = constant("PROTOCOL", wire)
    assert f"The version of the protocol is {protocol}." in FORMATS
    assert f'"ackclock_measure": {protocol}, ' in FORMATS
    assert f"| {protocol}, the first line of a server |" in COMPATIBILITY
    assert f"at most {constant('LONGEST_LINE', wire)} bytes" in FORMATS
    seconds = re.search(r"from_secs\((\d+)\)", constant("PATIENCE", wire))[1]
    assert f"arrives within {seconds} s;" in FORMATS
    assert f"port {constant('PORT', MEASURE / 'main.rs')}." in FORMATS
    token = MEASURE / "token.rs"
    assert f"token of {constant('DIGITS', token)} random hexadecimal digits" in FORMATS
    assert f"N and M are {constant('NONCE_BYTES', token)} random bytes" in FORMATS
    labels = set(re.findall(r'b"(ackclock-measure \w+)"', token.read_text("utf-8").split("mod tests")[0]))
    assert labels == set(re.findall(r"`(ackclock-measure \w+)`", FORMATS))


def test_the_versions_that_are_promised_are_those_of_the_code():
    scenario = constant("VERSION", ROOT / "crates/ackclock-scenario/src/canonical.rs")
    assert f"| `{scenario}`, the beginning of every digest of a scenario |" in COMPATIBILITY
    assert ackclock.engine.read(ackclock.example()).digest.startswith(f"{scenario}:")
    verdicts = (ROOT / "python/ackclock_evaluate/report.py").read_text("utf-8")
    (number,) = re.findall(r"^SCHEMA = (\d+)$", verdicts, re.M)
    assert f"| `schema`, {number}, in the file |" in COMPATIBILITY
