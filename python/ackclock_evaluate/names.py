"""The names of suites and criteria, for shell completion, without an import of their measures."""

import tomllib
from importlib import resources


def criteria() -> dict[str, list[str]]:
    """Return the ids of the criteria of every built-in suite."""
    files = {file.name: file for file in resources.files("ackclock_suites").iterdir()}
    suites = {name[:-5]: file.read_text("utf-8") for name, file in sorted(files.items()) if ".toml" in name}
    return {name: [keys["id"] for keys in tomllib.loads(text)["criterion"]] for name, text in suites.items()}
