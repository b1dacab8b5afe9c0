"""The JSON schema of ``verdicts.json``."""

from __future__ import annotations

from typing import Any

from ackclock.decision.comparisons import ORDER

SCHEMA = 3


VERDICTS = (*ORDER, "holds", "fails", "failed", "not applicable", "not tested")


_NUMBER = {"type": ["number", "null"]}


_TEXT = {"type": "string"}


def _object(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def schema() -> dict[str, Any]:
    """Return the JSON schema (draft 2020-12) of ``verdicts.json``."""
    effect = _object({"margins": _NUMBER, "low": _NUMBER, "high": _NUMBER})
    worst = _object(
        {
            "cell": _TEXT,
            "cell_id": _TEXT,
            "metric": _TEXT,
            "unit": _TEXT,
            "value": _NUMBER,
            "low": _NUMBER,
            "high": _NUMBER,
            "runs": {"type": "integer"},
            "baseline": {"type": "object", "additionalProperties": _NUMBER},
            "margin": _TEXT,
            # By how much it is worse, in margins; null for a limit.
            "effect": {"anyOf": [effect, {"type": "null"}]},
            "scenario": _TEXT,
        }
    )
    criterion = _object(
        {
            "id": _TEXT,
            "section": _TEXT,
            "level": {"enum": ["must", "should", ""]},
            "verdict": {"enum": list(VERDICTS)},
            "holm_p": _NUMBER,
            "worst": {"anyOf": [worst, {"type": "null"}]},
            "cells": {"type": "integer"},
            # Scenarios that count and that the control can be in, and those in which it is worse.
            "asked": {"type": "integer"},
            "worse": {"type": "integer"},
            "undecided": {"type": "integer"},
            "errors": {"type": "array", "items": _TEXT},
            "suite": _TEXT,
            "command": _TEXT,
        }
    )
    control = _object(
        {
            "name": _TEXT,
            "params": {"type": "object"},
            "digest": _TEXT,
            # Digest of the directory of its code: another control of the same name is not this one.
            "directory": _TEXT,
            # Sources of a control that is not built in.
            "files": {"type": "array", "items": _TEXT},
        }
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ackclock evaluation",
        **_object(
            {
                "schema": {"const": SCHEMA},
                "ackclock": _TEXT,
                "date": _TEXT,
                "headline": _TEXT,
                "control": control,
                "baselines": {"type": "array", "items": _TEXT},
                "against": {"type": "array", "items": _TEXT},
                "build": _TEXT,
                # The digest of each, by which a draft can cite it.
                "suites": {"type": "object", "additionalProperties": _TEXT},
                # Of the senders, as in scenarios.
                "profile": _TEXT,
                "mode": {"enum": ["quick", "full"]},
                "seed": {"type": "integer"},
                "criteria": {"type": "array", "items": criterion},
                "others": {
                    "type": "object",
                    "additionalProperties": {
                        "type": "object",
                        "additionalProperties": {"enum": list(VERDICTS)},
                    },
                },
                "not_tested": {
                    "type": "array",
                    "items": _object({"id": _TEXT, "reason": _TEXT, "suite": _TEXT, "command": _TEXT}),
                },
                "packets": {"type": "integer"},
            }
        ),
    }
