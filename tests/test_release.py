"""The version and description of a release are the same everywhere."""

import json
import re
import runpy
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
VERSION = CARGO["package"]["version"]


def test_every_place_has_the_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, re.MULTILINE) == [VERSION]
    ours = {name: one for name, one in CARGO["dependencies"].items() if name.startswith("ackclock-")}
    assert ours
    assert {package["version"] for package in ours.values()} == {VERSION}
    crates = {file.parent.name for file in (ROOT / "crates").glob("*/Cargo.toml")}
    for place in (".", "fuzz", "examples/rust-control"):
        locked = tomllib.loads((ROOT / place / "Cargo.lock").read_text(encoding="utf-8"))["package"]
        assert {package["version"] for package in locked if package["name"] in crates} == {VERSION}, place


def test_every_crate_can_be_published_or_says_that_it_is_not() -> None:
    for file in (ROOT / "crates").glob("*/Cargo.toml"):
        package = tomllib.loads(file.read_text(encoding="utf-8"))["package"]
        assert package["description"], file
        for key in ("version", "license", "keywords", "categories"):
            assert package[key] == {"workspace": True}, f"{file}: {key}"
        assert package.get("publish", True) is (file.parent.name != "ackclock-py")


def test_notes_are_the_part_of_the_changelog() -> None:
    notes = runpy.run_path(str(ROOT / "docs" / "notes.py"))["notes"]
    text = "# Changelog\n## 0.2.0, unreleased\n- new\n\n## 0.1.0\n- first\n- second\n"
    assert notes("0.2.0", text) == "- new\n"
    assert notes("0.1.0", text) == "- first\n- second\n"
    with pytest.raises(LookupError, match=r"has no 0.3.0; it has 0.2.0, 0.1.0"):
        notes("0.3.0", text)
    assert notes(VERSION, (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")).count("\n- ") > 10


def test_a_version_has_about_forty_lines_in_groups() -> None:
    changes = runpy.run_path(str(ROOT / "docs" / "changes.py"))
    own = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    waiting = changes["fragments"]()
    next_version = changes["released"](own, "0.1.0", "2026-12-01", waiting) if waiting else own
    for part in next_version.split("\n## ")[1:]:
        assert len(re.findall(r"^- ", part, re.MULTILINE)) <= 45
        assert set(re.findall(r"^### (.+)$", part, re.MULTILINE)) <= set(changes["GROUPS"])


def test_fragments_become_lines_of_a_version(tmp_path) -> None:
    changes = runpy.run_path(str(ROOT / "docs" / "changes.py"))
    (tmp_path / "README.md").write_text("not a fragment")
    (tmp_path / "b.fixed.md").write_text("A fault.\n")
    (tmp_path / "a.added.md").write_text("A verb.\n")
    lines = changes["fragments"](tmp_path)
    assert lines == {"Added": ["- A verb."], "Fixed": ["- A fault."]}
    text = "# Changelog\n\n## 0.1.0, 2026-01-01\n### Added\n- first\n"
    new = "## 0.2.0, 2026-12-01\n### Added\n- A verb.\n\n### Fixed\n- A fault.\n"
    assert changes["released"](text, "0.2.0", "2026-12-01", lines) == text.replace(
        "## 0.1.0", f"{new}\n## 0.1.0"
    )
    begun = "# Changelog\n## 0.2.0, unreleased\n### Added\n- other\n\n### Names\n- name\n"
    assert changes["released"](begun, "0.2.0", "2026-12-01", lines) == (
        "# Changelog\n## 0.2.0, 2026-12-01\n### Added\n- other\n- A verb.\n\n### Names\n- name\n\n"
        "### Fixed\n- A fault.\n"
    )
    for name, content in (("a.other.md", "x"), ("a.md", "x"), ("b.added.md", "x\ny"), ("c.added.md", "- x")):
        (tmp_path / name).write_text(content)
        with pytest.raises(ValueError, match=name):
            changes["fragments"](tmp_path)
        (tmp_path / name).unlink()


@pytest.fixture
def candidate(monkeypatch):
    """Return the names that the script for checking a candidate defines."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return runpy.run_path(str(ROOT / "docs" / "candidate.py"))


def wheel(file: Path, names: tuple[str, ...]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        for name in (*names, "ackclock-0.1.0.dist-info/licenses/LICENSE-MIT"):
            archive.writestr(name, "")


def components(version: str) -> str:
    """Return the beginning of a CycloneDX list: the component that it describes."""
    return json.dumps({"metadata": {"component": {"version": version}}, "components": []})


def test_a_candidate_that_lacks_something_is_refused(candidate, tmp_path) -> None:
    problems = candidate["problems_of_files"]
    needed = candidate["IN_A_WHEEL"]
    assert len(list(problems("0.1.0", tmp_path))) == 5
    here, arm = (tmp_path / f"ackclock-0.1.0-cp311-abi3-linux_{name}.whl" for name in ("x86_64", "aarch64"))
    wheel(here, needed)
    wheel(arm, needed)
    for part in ("python", "sim", "cc"):
        (tmp_path / f"ackclock-{part}.cdx.json").write_text(components("0.1.0"))
    with tarfile.open(tmp_path / "ackclock-0.1.0.tar.gz", "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("ackclock-0.1.0/Cargo.lock"))
    assert list(problems("0.1.0", tmp_path)) == []
    wheel(arm, needed[1:])
    assert list(problems("0.1.0", tmp_path)) == [f"{arm.name} lacks ackclock/templates/lab.html"]
    wheel(arm, needed)
    for listed, version in ((components("0.0.9"), "0.0.9"), ("{}", None)):
        (tmp_path / "ackclock-cc.cdx.json").write_text(listed)
        assert list(problems("0.1.0", tmp_path)) == [
            f"ackclock-cc.cdx.json names version {version} (make sbom)"
        ]
    wheel(tmp_path / "ackclock-0.0.9-cp311-abi3-linux_x86_64.whl", ())
    assert any("is of another version" in problem for problem in problems("0.1.0", tmp_path))


def test_checksums_are_what_sha256sum_reads(candidate, tmp_path) -> None:
    (tmp_path / "a.whl").write_bytes(b"abc")
    candidate["write_checksums"](tmp_path)
    # The example of FIPS 180-2, appendix B.1.
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (tmp_path / "SHA256SUMS").read_text() == f"{expected}  a.whl\n"


def test_a_checkout_of_another_version_is_refused(candidate, tmp_path) -> None:
    for name in ("Cargo.toml", "CITATION.cff", "CHANGELOG.md"):
        (tmp_path / name).write_text((ROOT / name).read_text(encoding="utf-8"))
    (tmp_path / "changes").mkdir()
    problems = candidate["problems_of_sources"]
    assert len(list(problems("9.9.9", tmp_path))) == 3
    changelog = tmp_path / "CHANGELOG.md"
    changelog.write_text(f"# Changelog\n## {VERSION}, unreleased\n- first\n")
    assert [problem for problem in problems(VERSION, tmp_path) if "unreleased" in problem]
    changelog.write_text(f"# Changelog\n## {VERSION}, 2026-12-01\n- first\n")
    assert list(problems(VERSION, tmp_path)) == []
    (tmp_path / "changes" / "speed.added.md").write_text("It is faster.")
    assert [problem for problem in problems(VERSION, tmp_path) if "not in CHANGELOG.md: 1" in problem]


def test_a_checkout_that_cannot_be_tagged_is_refused(candidate, tmp_path, monkeypatch) -> None:
    problems = candidate["problems_of_git"]
    monkeypatch.setitem(problems.__globals__, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    for name in ("NAME", "EMAIL"):
        monkeypatch.delenv(f"GIT_COMMITTER_{name}", raising=False)

    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    # Otherwise git makes up an address where the machine has a full name.
    git("config", "user.useConfigOnly", "true")
    assert [problem for problem in problems("0.1.0") if "git config user.name" in problem]
    git("config", "user.name", "Somebody")
    git("config", "user.email", "somebody@example.org")
    assert list(problems("0.1.0")) == []
    git("commit", "--allow-empty", "--message", "first")
    git("tag", "v0.1.0")
    (tmp_path / "new").write_text("")
    assert len(list(problems("0.1.0"))) == 2


def test_what_a_candidate_must_have_is_in_the_package(candidate) -> None:
    # The laboratory and the programs are built; the others must be where they are looked for.
    built = ("lab.html", "programs/")
    kept = [name for name in candidate["IN_A_WHEEL"] if not any(part in name for part in built)]
    assert kept
    assert [name for name in kept if not (ROOT / "python" / name).exists()] == []


def test_hosted_ci_runs_the_same_script_on_both_architectures() -> None:
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert "- run: .ci/run\n" in text
    assert "machine: [ubuntu-24.04, ubuntu-24.04-arm]" in text
    toolchain = tomllib.loads((ROOT / "rust-toolchain.toml").read_text(encoding="utf-8"))["toolchain"]
    assert f"image: rust:{toolchain['channel']}-" in text


def test_the_release_stops_before_it_builds_anything_without_a_version() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "release"], capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}
    )
    assert done.returncode == 2
    assert "make release VERSION=" in done.stderr


def test_what_ci_runs_cannot_be_moved_under_its_name() -> None:
    """Actions have their commit and images their digest; a schedule looks up advisories."""
    texts = {file.name: file.read_text() for file in (ROOT / ".github" / "workflows").iterdir()}
    for name, text in texts.items():
        for words in re.findall(r"\buses:\s*(\S+)", text):
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", words), (name, words)
        for words in re.findall(r"\bimage:\s*(\S+)", text):
            assert re.fullmatch(r"[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}", words), (name, words)
    scheduled = [text for text in texts.values() if "schedule:" in text and "ADVISORIES=1" in text]
    assert len(scheduled) == 1
