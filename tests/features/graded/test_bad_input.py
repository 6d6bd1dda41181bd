"""Grades that cannot be evaluated or compared: refused in three lines that say what to do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cli.running import Ran, run
from tests.features.graded.files import inspect_log

N = 60
RNG = np.random.default_rng(3)
PASSED = RNG.random(N) < 0.6


def table(path: Path, **columns: Any) -> str:
    pd.DataFrame({"id": range(len(next(iter(columns.values()), PASSED)))} | columns).to_csv(path, index=False)
    return str(path)


def refused(ran: Ran, message: str, where: str, fix: str) -> None:
    """The error has three lines, and each says its part."""
    assert ran.code == 5, ran.err
    what, place, remedy = ran.err.strip().splitlines()[-3:]
    assert what.startswith("error: ") and message in what
    assert place.startswith("  at   ") and where in place
    assert remedy.startswith("  fix  ") and fix in remedy


@pytest.mark.parametrize(
    ("values", "message", "where", "fix"),
    [
        (
            ["pass" if one else "0.3" for one in PASSED],
            "the grades mix words and numbers, which are two scales",
            "column 'passed', first: rows",
            "write all grades in one way",
        ),
        (
            RNG.random(N) * 87 + 1,
            "the grades are on no known scale: they go from",
            "column 'passed'",
            "scale them to 0 to 1, or name what passes, such as --set pass='>=50'",
        ),
        (
            [*np.linspace(0.01, 0.99, N - 2), 1.5, 7],
            f"2 of {N} grades are outside of the scale from 0 to 1",
            f"column 'passed', first: row {N - 2}",
            "correct them, or name what passes",
        ),
        (
            ["pass"] * (N - 1) + ["perhaps"],
            "'perhaps' is not a grade",
            f"column 'passed', first: row {N - 1}",
            "write pass or fail",
        ),
    ],
)
@pytest.mark.parametrize("asked", [[], ["--grade", "passed"]])
def test_values_that_are_no_grades(
    asked: Sequence[str],
    values: Any,
    message: str,
    where: str,
    fix: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = table(tmp_path / "rows.csv", passed=values)
    refused(run(capsys, "report", path, *asked), message, where, fix)


def test_runs_of_other_items_are_not_paired(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a shared id nothing is paired, and equal columns of other items are not the same run."""
    first = table(tmp_path / "a.csv", passed=PASSED)
    other = table(tmp_path / "b.csv", id=range(100, 100 + N), passed=PASSED)
    done = run(capsys, "compare", first, other)
    assert done.code == 0
    assert "Not paired: the runs have no example ids in common." in done.out
    assert "same predictions" not in done.err
    some = table(tmp_path / "c.csv", id=range(40, 40 + N), passed=PASSED)
    found = run(capsys, "compare", first, some, "--json").json["comparison"]
    assert (found["pairing"]["kind"], found["pairing"]["n_shared"]) == ("paired", 20)


def test_runs_without_ids_are_not_paired(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Equal true labels show that rows are the same; grades have none."""
    paths = []
    for name, values in (("a", PASSED), ("b", RNG.random(N) < 0.5)):
        paths.append(str(tmp_path / f"{name}.csv"))
        pd.DataFrame({"passed": values}).to_csv(paths[-1], index=False)
    found = run(capsys, "compare", *paths, "--json").json["comparison"]["pairing"]
    assert (found["kind"], found["reason"]) == (
        "unpaired",
        "no ids on both sides: grades are matched by id only",
    )


@pytest.mark.parametrize("attempts", [[1] * N, [2] * 20 + [1] * 40])
def test_repeats_that_differ_in_number(
    attempts: list[int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twice = table(tmp_path / "twice.csv", id=np.repeat(np.arange(N), 2), passed=np.repeat(PASSED, 2))
    other = table(
        tmp_path / "other.csv", id=np.repeat(np.arange(N), attempts), passed=np.repeat(PASSED, attempts)
    )
    differ = attempts.count(1)
    ran = run(capsys, "compare", twice, other)
    message = f"{differ} of {N} shared items have another number of attempts in the baseline"
    first = "0" if differ == N else "20"
    refused(ran, message, f"other and twice, first: item '{first}', 1 attempt and 2", "or pass --unpaired")
    assert run(capsys, "compare", twice, other, "--unpaired").code == 0
    numbered = [tmp_path / "two.csv", tmp_path / "one.csv"]
    for path, times in zip(numbered, (2, 1), strict=True):
        rows = {"id": np.repeat(np.arange(N), times), "passed": np.repeat(PASSED, times)}
        pd.DataFrame(rows | {"attempt": np.tile(np.arange(times), N)}).to_csv(path, index=False)
    refused(
        run(capsys, "compare", *map(str, numbered)), "another number", "one and two", "--where 'attempt=1'"
    )
    alone = run(capsys, "report", other, "--json")
    assert alone.code == 0, "one run may have items with different numbers of attempts"


@pytest.mark.parametrize(
    ("human", "message", "fix"),
    [
        ([None] * N, "no item has a human grade", "let people grade a random sample of the items"),
        (
            ["pass"] * 20 + [None] * (N - 20),
            "all 20 human grades are 'pass': the judge cannot be compared with it",
            "let people grade more items",
        ),
        (
            ["fail"] + [None] * (N - 1),
            "the only human grade is 'fail': the judge cannot be compared with it",
            "let people grade more items",
        ),
    ],
)
def test_a_judge_needs_human_grades_of_both_kinds(
    human: list[Any], message: str, fix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path / "judged.csv", judge=PASSED, human=human)
    refused(
        run(capsys, "report", path, "--set", "judge=judge", "--set", "human=human"), message, "human", fix
    )


def test_a_judge_without_a_column_of_human_grades(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path / "judged.csv", judge=PASSED)
    ran = run(capsys, "report", path, "--set", "judge=judge")
    message = "a judge is checked by human grades, and no column of them is named"
    refused(ran, message, "column 'judge'", "with --grade judge")
    assert run(capsys, "report", path, "--grade", "judge", "--json").code == 0


def test_an_unknown_scorer_is_refused_with_those_of_the_log(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log(["C", "I", "C"])))
    ran = run(capsys, "report", str(path), "--grade", "model_graded_fact")
    assert ran.code != 0
    what, _, fix = ran.err.strip().splitlines()[-3:]
    assert 'column "model_graded_fact" is not in log.json' in what
    assert "model_graded_qa" in fix


@pytest.mark.parametrize("column", ["filter", "scorer", "metric", "provider", "model"])
def test_several_evaluations_in_one_file(
    column: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = np.repeat(["first", "second"], N)
    values = {"id": [*range(N)] * 2, column: names, "passed": [*PASSED, *~PASSED]}
    path = table(tmp_path / "rows.csv", **values)
    ran = run(capsys, "report", path)
    message = f"the file has 2 evaluations of the same items, one for each value of {column!r}"
    refused(ran, message, "values first, second", f"--where '{column}=first'")
    found = run(capsys, "report", path, "--where", f"{column}=second", "--json").json["runs"][0]
    assert found["metrics"]["pass_rate"]["value"] == pytest.approx((~PASSED).mean())


@pytest.mark.parametrize("engine", ["stream", "spark"])
@pytest.mark.parametrize("asked", [[], ["--grade", "passed"]])
def test_engines_for_large_tables_refuse_grades(
    engine: str, asked: Sequence[str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if engine == "spark":
        request.getfixturevalue("spark")
    capsys = request.getfixturevalue("capsys")
    path = tmp_path / "rows.parquet"
    pd.DataFrame({"id": range(N), "passed": PASSED}).to_parquet(path)
    ran = run(capsys, "report", str(path), *asked, "--set", f"engine={engine}")
    message = "the file has a grade per item (right or wrong, column 'passed')"
    refused(ran, message, "column 'passed', values False, True", "grades are evaluated in memory")
