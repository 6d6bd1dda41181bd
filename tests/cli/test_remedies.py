"""A remedy that names an option works: each that the source writes is refused into, and then followed."""

from __future__ import annotations

import ast
import re
import shlex
from functools import reduce
from pathlib import Path

import pytest

import evalreport
from evalreport.thresholds.trial_search import quiet_optuna
from evalreport.tracking.client import Store
from tests.cli.remedies import ELSEWHERE, REFUSALS, Refusal
from tests.cli.running import run
from tests.tracking import make_run

ROOT = Path(evalreport.__file__).parent
FOLDERS = ("columns", "readers", "tracking", "features/spark")
OPTION = re.compile(r"(?<![\w-])(--set [a-z_]+|--(?!set )[a-z][a-z-]+|-o)(?![\w-])")
VALUE = re.compile(r"""[\s=]("[^"]+"|'[^']+'|[\w./@*\[\]=,>-]+)""")
FLAGS = {
    "--set no_scores",
    "--set batch_axis",
    "--all-pairs",
    "--log",
    "--latest",
    "--set ordered",
    "--dry-run",
    "--json",
    "--repair",
}
INSTEAD = {"--score": {"--scores"}, "--scores": {"--score"}, "--set no_scores": {"--score", "--scores"}}
"""What an option takes the place of."""


def words_of(node: ast.expr) -> list[str]:
    """The pieces of text that an expression writes."""
    return [
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    ]


def written() -> set[str]:
    """Every remedy that names an option, of what reads files and runs; its pieces together."""
    found = set()
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert len(paths) > len(FOLDERS)
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.keyword)
                and node.arg == "fix"
                and any(map(OPTION.search, words_of(node.value)))
            ):
                found.add(" … ".join(words_of(node.value)))
    return found


def test_every_remedy_that_names_an_option_is_followed() -> None:
    said = {refusal.says for refusal in REFUSALS} | set(ELSEWHERE)
    assert sorted(text for text in written() if not any(each in text for each in said)) == []


def dropped(command: list[str], names: set[str]) -> list[str]:
    """A command without options or settings, and their values."""
    kept: list[str] = []
    words = iter(command)
    for word in words:
        if word == "--set":
            assignment = next(words)
            kept += [] if f"--set {assignment.partition('=')[0]}" in names else [word, assignment]
        elif word not in names:
            kept.append(word)
        elif word not in FLAGS:
            next(words)
    return kept


def given(name: str, value: str = "") -> list[str]:
    """An option or a setting as the words of a command."""
    if name.startswith("--set "):
        return ["--set", name.removeprefix("--set ") + (f"={value}" if value else "")]
    return [name, value] if value else [name]


def proposals(refusal: Refusal, fix: str) -> list[list[str]]:
    """What a remedy proposes, as commands."""
    command = shlex.split(refusal.command)
    out = re.search(r"leave (-.*?) out\b", fix)
    leave = OPTION.findall(out.group(1)) if out else []
    if leave and " and " in str(out and out.group(1)):
        return [dropped(command, set(leave))]
    if fix.startswith("name the columns, as in "):
        ways = [shlex.split(way) for way in fix.removeprefix("name the columns, as in ").split("; or ")]
        return [[*dropped(command, set(way[::2])), *way] for way in ways]
    made: list[list[str]] = []
    for found in OPTION.finditer(fix):
        name = found.group(1)
        if fix[found.end() :].startswith(", as in " + name):
            continue  # the option is named once more, with its value
        fill = refusal.fills.get(name, "")
        if name in leave or fill is None:
            made.append(dropped(command, {name}))
        elif name in FLAGS and not fill:
            made.append([*dropped(command, INSTEAD.get(name, set())), *given(name)])
        else:
            value = VALUE.match(fix, found.end())
            assert fill or value is not None, f"{name} is proposed without a value: {fix}"
            for each in (fill,) if isinstance(fill, str) else fill:
                base = dropped(command, {name, *INSTEAD.get(name, ())})
                words = shlex.split(each) if each else shlex.split(str(value and value.group(1)).rstrip(","))
                made.append(words if len(words) > 1 else [*base, *given(name, *words)])
    return made


def made_runs(store: Store, refusal: Refusal, folder: Path) -> dict[str, str]:
    """Make the runs of a refusal; what stands for them in its commands."""
    first, *_ = [
        make_run(store, refusal.artifacts, folder=folder, status=status, experiment="triage")
        for status in refusal.runs
    ]
    for _ in range(2 if refusal.metrics else 0):
        child = make_run(store, experiment="triage", tags={"mlflow.parentRunId": first.run_id})
        for name, value in refusal.metrics.items():
            store.client.log_metric(child.run_id, name, value)
    return {"{RUN}": first.run_id, "{EXPERIMENT}": "triage"}


def make_studies(path: Path) -> None:
    """Write an Optuna journal with two studies of two trials."""
    with quiet_optuna() as optuna:
        storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))
        for name in ("one", "two"):
            study = optuna.create_study(storage=storage, study_name=name)
            for value in (0.5, 0.25):
                study.add_trial(optuna.trial.create_trial(value=value))


@pytest.mark.parametrize("refusal", REFUSALS, ids=[refusal.says.strip(" .;,") for refusal in REFUSALS])
def test_a_remedy_works(
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refusal: Refusal,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in refusal.files.items():
        Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    known = {}
    if refusal.artifacts:
        store: Store = request.getfixturevalue("sqlite_store")
        monkeypatch.setenv("MLFLOW_TRACKING_URI", store.uri)
        known = made_runs(store, refusal, tmp_path)
    if "study.log" in refusal.command:
        make_studies(tmp_path / "study.log")

    def filled(words: list[str]) -> list[str]:
        return [reduce(lambda text, pair: text.replace(*pair), known.items(), word) for word in words]

    if refusal.before:
        assert run(capsys, *filled(shlex.split(refusal.before))).code == 0
    refused = run(capsys, *filled(shlex.split(refusal.command)))
    assert refused.code == refusal.code, refused.err + refused.out
    fix = next((line for line in refused.err.splitlines() if line.startswith("  fix  ")), "").removeprefix(
        "  fix  "
    )
    if "--json" in refusal.command:
        fix = refused.json["error"]["fix"]
    assert refusal.says.strip() in fix
    proposed = proposals(refusal, fix)
    assert proposed
    for words in proposed:
        done = run(capsys, *filled(words))
        assert done.code == 0, f"{shlex.join(words)}\n{done.err}{done.out}"
