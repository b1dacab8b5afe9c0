"""The glossary: complete, linked, used, and the same on the page and on the command line."""

import re
import runpy
import subprocess
from pathlib import Path

import pytest

import ackclock
from ackclock.draw import glossary
from conftest import COMMAND

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "glossary.md"
OTHERS = "\n".join(
    page.read_text("utf-8").lower()
    for folder in ("docs", "papers", "satellites")
    for page in (ROOT / folder).rglob("*.md")
    if page != PAGE
)
CONTROLS = {entry["name"] for entry in ackclock.controllers()}


def text(name):
    return glossary.terms()[name]["text"]


def test_the_page_is_what_is_made():
    # `docs/make.py glossary` writes it again.
    assert PAGE.read_text("utf-8") == runpy.run_path(str(ROOT / "docs" / "make.py"))["glossary_page"]()


def test_every_name_means_one_thing():
    names = [word for name, term in glossary.terms().items() for word in (name, *term.get("also", []))]
    plain = [word.lower().replace(" ", "-") for word in names]
    assert sorted(set(plain)) == sorted(plain)
    assert not CONTROLS & set(plain)


@pytest.mark.parametrize("name", glossary.terms())
def test_a_term_is_short_and_used_and_leads_to_others(name):
    term = glossary.terms()[name]
    assert term["text"].endswith(".")
    assert len(term["text"].split()) <= 65
    assert set(term.get("see", [])) <= set(glossary.terms()) - {name}
    words = [name.replace("-", " "), name.replace("-", "_"), name, *term.get("also", [])]
    assert any(re.search(rf"\b{re.escape(word.lower())}", OTHERS) for word in words)


@pytest.mark.parametrize(
    "asked", ["bdp", "bufferbloat", "ack clocking", "pacing", "fairness", "loss event", "Slow-Start", "CoV"]
)
def test_a_term_is_explained_by_any_of_its_names(asked):
    name = glossary.find(asked)
    assert glossary.terms()[name]["text"] in glossary.explained(name)


def test_the_numbers_in_the_texts_are_right():
    # 100 Mbit/s times 50 ms, in bytes, and in packets of 1000 bytes.
    assert 100e6 * 50e-3 / 8 == 625_000
    assert "625 000 bytes, which is 625 packets of 1000 bytes" in text("bdp")
    # 1000 and 100 packets of 12 000 bits at 10 Mbit/s.
    assert 1000 * 12_000 / 10e6 == 1.2
    assert "adds 1.2 s" in text("bufferbloat")
    assert 100 * 12_000 / 10e6 == 0.12
    assert "wait 120 ms" in text("queueing-delay")
    # Six doublings.
    assert 10 * 2**6 == 640
    assert "640 takes 6 round trips" in text("slow-start")
    assert float(ackclock.metrics.jain([1.0, 3.0])) == pytest.approx(0.8)


def test_the_verb_prints_a_term_and_suggests_one():
    printed = subprocess.run([*COMMAND, "explain", "slow-start"], capture_output=True, text=True, check=True)
    assert printed.stdout.startswith("# Slow start\n")
    refused = subprocess.run([*COMMAND, "explain", "buferbloat"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "bufferbloat" in refused.stderr


def test_the_citation_is_that_of_the_repository():
    printed = subprocess.run([*COMMAND, "cite"], capture_output=True, text=True, check=True).stdout
    fields = dict(re.findall(r"^  (\w+) = \{+(.+?)\}+,$", printed, re.M))
    cited = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f'title: "{fields["title"]}"' in cited
    assert f"version: {fields['version']}\n" in cited
    assert f"- name: {fields['author']}\n" in cited
    assert printed.count("{") == printed.count("}")


EXPLAINED_ELSEWHERE = {
    "controls, on their pages": (
        "AIMD BBR BBR3 BBRv3 BI BIC BtlBw C-AIMD C-TCP CRUISE CTCP CUBIC DCTCP DOWN FIT GAIMD GAIN "
        "genericCC H-TCP HighSpeed HS HSTCP LEDBAT MulTCP PCC ProbeBW ProbeRTT REFILL RTprop STCP TCPs "
        "TEAR TFRC uTP YeAH"
    ),
    "symbols, next to their equations": ("aRTT baseRTT RTT0 RTT1 RTT2 RTTmax RTTmin RTTst"),
    "networks and addresses": (
        "ADSL CDMA DOCSIS DSL IP IPv4 IPv6 IX LA LTE OC QUIC SYN TCP TLS UDP Wi-Fi WiFi"
    ),
    "where something was published": (
        "ATC BCP CCR FCC ICNP IETF IMC INFCOM INFOCOM MobiSys RFC SIGCOMM USENIX WWW"
    ),
    "units and numerals": ("GB GiB II III IV IX KB KiB MB MiB TB VI VII"),
    "words of RFC 2119, placeholders, names of files": (
        "ARCHITECTURE COMMAND CONTRIBUTING CONTROLLER COUNT FROM HOST ID MEANINGS MUST NAME NEW OFF ON "
        "README SECURITY SHOULD TO VERSION"
    ),
    "programs, formats and machines": (
        "AMD AppArmor BSD BTF CI CMA CPU CSV CWR CycloneDX DuckDB eBPF EPYC ES GitHub HMAC HTML "
        "JavaScript JSON JUnit LaTeX macOS MIT MkDocs MyST NaN NumPy PDF PNG PyPI "
        "PYTHONPATH ReScience SBOM SHA SIGHUP SIGKILL SQL SQLite SVG TOML TypeScript WebAssembly"
    ),
}
"""Abbreviations that are not terms of the field, or are explained where they stand."""
ABBREVIATION = re.compile(r"\b[A-Z]-[A-Z]{2,}\b|\b[A-Za-z]*[A-Z][A-Za-z]*[A-Z][A-Za-z0-9]*\b")


def abbreviations(page):
    """Return the abbreviations in the sentences of a page."""
    text = re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", "", page.read_text("utf-8"), flags=re.DOTALL)
    return set(ABBREVIATION.findall(text))


def test_every_abbreviation_of_the_field_is_explained():
    words = " ".join(
        " ".join([name, term["title"], term["text"], *term.get("also", [])])
        for name, term in glossary.terms().items()
    )
    known = set(re.findall(r"[\w-]+", words.lower()))
    known |= {word.lower() for line in EXPLAINED_ELSEWHERE.values() for word in line.split()}
    pages = [file for folder in ("docs", "papers", "satellites") for file in (ROOT / folder).rglob("*.md")]
    unknown = {
        (word, page.relative_to(ROOT).as_posix())
        for page in {ROOT / "README.md", *pages} - {PAGE}
        for word in abbreviations(page)
        if not {word.lower(), word.lower().rstrip("s")} & known
    }
    assert unknown == set()
