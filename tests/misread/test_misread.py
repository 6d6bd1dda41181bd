"""Files whose columns do not mean what their names say: read right, or refused with a way out.

`entries.json` lists one call each. ``read`` is what the evaluation must be, ``refused`` that there must be
none; ``naming`` accepts a refusal that contains one of its words. A refusal with ``then`` has a way out: with
the options of its own fix, or with one of ``ways``, the call gives ``then``.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Ran, run

HERE = Path(__file__).parent
ENTRIES: list[dict[str, Any]] = json.loads((HERE / "entries.json").read_text(encoding="utf-8"))
REFUSED = range(1, 6)
OPTION = re.compile(r"(--[a-z-]+) ((?:\w+=)?(?:\"[^\"]*\"|'[^']*'|[^\s;]+))")


@pytest.mark.parametrize("entry", ENTRIES, ids=[entry["name"] for entry in ENTRIES])
def test_a_file_is_read_right_or_refused_with_a_way_out(
    entry: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(HERE / "files")
    ran = call(capsys, entry["command"])
    assert ran.code in (0, *REFUSED), ran.err
    assert "Traceback" not in ran.err
    if ran.code == 0:
        assert not entry.get("refused"), "scored, and must be refused"
        check(ran, entry["read"])
        assert has_words(ran, entry.get("said", ())), entry["said"]
        return
    error = error_of(ran)
    words = shown(error)
    assert any(word in words for word in entry.get("naming", ())), words
    assert all(word in words for word in entry.get("and_naming", ())), words
    assert not any(word in words for some in entry.get("not_said", ()) for word in some), words
    if "then" in entry:
        ways = [proposed(error["fix"]), *entry.get("ways", ())]
        assert any(leads(capsys, [*entry["command"], *way], entry["then"]) for way in ways), (words, ways)


def call(capsys: pytest.CaptureFixture[str], command: list[str]) -> Ran:
    quick = ["--set", "confidence=none"] if command[0] == "report" else ["--set", "resamples=100"]
    return run(capsys, *command, "--json", *quick)


def check(ran: Ran, expected: Mapping[str, Any]) -> None:
    assert ran.json["ok"]
    assert list(differences(ran.json, expected)) == []


def leads(capsys: pytest.CaptureFixture[str], command: list[str], expected: Mapping[str, Any]) -> bool:
    ran = call(capsys, command)
    return ran.code == 0 and not list(differences(ran.json, expected))


def differences(body: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """Yield in what an evaluation is not as expected."""
    found = body["runs"][0]
    values = {key: metric["value"] for key, metric in found.get("metrics", {}).items()}
    for name in ("task", "n"):
        if name in expected and found.get(name) != expected[name]:
            yield f"{name} is {found.get(name)}, not {expected[name]}"
    if "labels" in expected and len(found["labels"]) != expected["labels"]:
        yield f"labels are {found['labels']}, not {expected['labels']}"
    for name, value in expected.get("metrics", {}).items():
        if not is_near(values.get(name), value):
            yield f"{name} is {values.get(name)}, not {value}"
    undefined = dict(expected.get("metrics_or_none", {}))
    undefined |= {"roc_auc": expected["auc"]} if "auc" in expected else {}
    for name, value in undefined.items():
        if values.get(name) is not None and not is_near(values[name], value):
            yield f"{name} is {values[name]}, neither {value} nor undefined"
    if "clusters" in expected and found.get("clusters") != expected["clusters"]:
        yield f"clusters are {found.get('clusters')}, not {expected['clusters']}"
    if "paired" in expected and (paired := paired_of(body)) != expected["paired"]:
        yield f"{paired} examples are paired, not {expected['paired']}"


def paired_of(body: Mapping[str, Any]) -> int:
    pairing = body["comparison"]["pairing"]
    return int(pairing["n_shared"]) if pairing["kind"] == "paired" else 0


def is_near(value: float | None, expected: float) -> bool:
    return value is not None and abs(value - expected) <= 1e-6 * (1 + abs(expected))


def error_of(ran: Ran) -> dict[str, str]:
    body = ran.json
    error: dict[str, str] = body.get("error") or body["runs"][0]["error"]
    return error


def shown(error: Mapping[str, str]) -> str:
    return f"{error['message']}\n{error['where']}\n{error['fix']}"


def has_words(ran: Ran, said: Any) -> bool:
    return all(any(word in ran.err for word in some) for some in said)


def proposed(fix: str) -> list[str]:
    """The options that a fix proposes, as arguments."""
    return [word for option, value in OPTION.findall(fix) for word in (option, *shlex.split(value))]
