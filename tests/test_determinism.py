"""The same scenario and seed yield the same digest, whatever observes the run."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import ackclock as package
from conftest import SCENARIO


def test_two_processes(ackclock, scenario):
    digests = {json.loads(ackclock("simulate", scenario, "--json").stdout)["digest"] for _ in range(2)}
    assert digests == {package.simulate(SCENARIO).digest}


def test_one_and_two_threads():
    def digest(run):
        return package.simulate(SCENARIO, run=run, record=False).digest

    alone = [digest(run) for run in range(6)]
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(digest, range(6)))
    assert alone == together
    assert len(set(alone)) == 6


def test_observers_change_nothing(tmp_path):
    plain = package.simulate(SCENARIO, record=False)
    told = []
    watched = package.simulate(
        SCENARIO, record=True, progress=lambda *now: told.append(now), pcap=tmp_path / "packets.pcap"
    )
    assert watched.summary == plain.summary


def test_sampling_changes_nothing():
    often = package.simulate(SCENARIO, settings=["run.sample=1ms"])
    assert often.digest == package.simulate(SCENARIO).digest


def test_seed_and_run_change_it():
    digests = {
        package.simulate(SCENARIO, settings=[f"run.seed={seed}"], run=run, record=False).digest
        for seed in (1, 2)
        for run in (0, 1)
    }
    assert len(digests) == 4


def test_release_builds_give_the_digests_on_file():
    # The Rust tests compare a debug build with the same file.
    root = Path(__file__).parent
    for line in (root / "digests.txt").read_text().splitlines():
        digest, name = line.split()
        scenario = root.parent / "scenarios" / f"{name}.toml"
        assert package.simulate(scenario, record=False).digest == digest, name
