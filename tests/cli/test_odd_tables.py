"""Tables that a formula, a float or a file cannot take: evaluated or refused, never a crash or a warning."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.cli.running import run

ROWS = 40


def table(path: Path, head: str, rows: Sequence[Sequence[object]]) -> str:
    lines = [head, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def weighted(path: Path, weights: Sequence[float]) -> str:
    """Scores of both classes, each row with the next of some weights."""
    rows = [
        (row % 2, (row // 2) % 2, 0.1 + 0.07 * (row * 7 % 11), weights[row % len(weights)])
        for row in range(ROWS)
    ]
    return table(path, "y_true,y_pred,score,w", rows)


def test_slices_that_hold_one_class_each(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = [(1, 1, 0.9, "x"), (0, 0, 0.2, "y"), (1, 0, 0.4, "x"), (0, 1, 0.6, "y")] * 30
    path = table(tmp_path / "p.csv", "y_true,y_pred,score,site", rows)
    done = run(capsys, "report", path, "--slice", "site", "--output", str(tmp_path / "out"))
    assert done.code == 0, done.err
    data = json.loads((tmp_path / "out" / "evaluation.json").read_text(encoding="utf-8"))
    assert [part["value"] for part in data["slices"]] == ["x", "y"]
    assert all(part["metrics"]["roc_auc"]["reason"] for part in data["slices"])


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ((1e308,), "too large"),
        ((1e308, 1e-308), "too large"),
        ((1e-308,), "too small"),
        ((1.0, 1e-20), "vanish in every sum"),
    ],
)
def test_weights_that_no_float_can_add_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, weights: Sequence[float], said: str
) -> None:
    path = weighted(tmp_path / "p.csv", weights)
    done = run(capsys, "report", path, "--set", "weight=w", "--output", str(tmp_path / "out"))
    assert done.code == 5
    assert said in done.err
    assert "first: row" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("weights", [(1e49,), (1e-49,), (1e49, 1e35), (1.0, 0.0, 1e-14)])
def test_weights_near_the_ends_are_evaluated(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, weights: Sequence[float]
) -> None:
    path = weighted(tmp_path / "p.csv", weights)
    done = run(
        capsys,
        "report",
        path,
        "--set",
        "weight=w",
        "--set",
        "resamples=200",
        "--output",
        str(tmp_path / "out"),
    )
    assert done.code == 0, done.err
    assert "Warning" not in done.err


@pytest.mark.parametrize("right", [True, False])
def test_a_high_level_on_two_rows(capsys: pytest.CaptureFixture[str], tmp_path: Path, right: bool) -> None:
    answers = (0, 1) if right else (1, 0)
    rows = [(truth, answer, 0.2 + 0.5 * answer) for truth, answer in zip((0, 1), answers, strict=True)]
    path = table(tmp_path / "p.csv", "y_true,y_pred,score", rows)
    done = run(capsys, "report", path, "--set", "confidence=0.999", "--output", str(tmp_path / "out"))
    assert done.code == 0, done.err


@pytest.mark.parametrize("level", ["0.9999999999999999", "1e-300"])
def test_a_level_whose_tail_rounds_away_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, level: str
) -> None:
    path = weighted(tmp_path / "p.csv", (1.0,))
    done = run(capsys, "report", path, "--set", f"confidence={level}", "--output", str(tmp_path / "out"))
    assert done.code == 2, done.err


@pytest.mark.parametrize("role", ["y_true", "y_pred", "id", "site"])
def test_half_a_surrogate_pair_is_refused_with_its_column(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, role: str
) -> None:
    plain = {"y_true": "a", "y_pred": "b", "site": "north"}
    rows = [{**plain, "id": str(row), "y_true": "ab"[row % 2]} for row in range(20)]
    rows[7][role] = "\ud800"
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = run(
        capsys, "report", str(path), "--id", "id", "--slice", "site", "--output", str(tmp_path / "out")
    )
    assert done.code == 5, done.err
    assert "not Unicode" in done.err


def test_half_a_surrogate_pair_in_an_example_text_is_shown_as_a_question_mark(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = [{"y_true": "ab"[row % 2], "y_pred": "a", "text": f"{row} \ud800 end"} for row in range(20)]
    path = tmp_path / "p.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    done = run(capsys, "report", str(path), "--set", "show_text=text", "--output", str(tmp_path / "out"))
    assert done.code == 0, done.err
    data = json.loads((tmp_path / "out" / "evaluation.json").read_text(encoding="utf-8"))
    assert data["mistakes"][0]["text"] == "1 ? end"


@pytest.mark.parametrize("scale", [1.0, 1e-3])
def test_perfect_separation_is_drawn_without_a_warning(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, scale: float
) -> None:
    rows = [(label, 0.2 + 0.7 * label, scale) for label in (0, 1) for _ in range(50)]
    path = table(tmp_path / "p.csv", "y_true,score,w", rows)
    done = run(capsys, "report", path, "--set", "weight=w", "--output", str(tmp_path / "out"))
    assert done.code == 0, done.err
    data = json.loads((tmp_path / "out" / "evaluation.json").read_text(encoding="utf-8"))
    assert data["curves"]["det"]["x"][0] == 0.0


def test_a_flipped_bit_of_a_parquet_file_is_an_error_or_a_table(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Through the whole command; exit 3 is a table whose column has got another name."""
    path, rng = tmp_path / "p.parquet", random.Random(3)  # noqa: S311
    parquet.write_table(pa.table({"y_true": [0, 1, 1, 0] * 3, "score": [0.25, 0.5, 0.75, 0.1] * 3}), path)
    whole = path.read_bytes()
    codes = set()
    for place in rng.sample(range(len(whole)), 20):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        done = run(capsys, "report", str(path), "-q", "-o", str(tmp_path / "page.html"))
        assert done.code in (0, 3, 5), f"byte {place}: {done.err}"
        assert done.code != 3 or "COLUMN" in done.err or "column" in done.err, f"byte {place}: {done.err}"
        codes.add(done.code)
    assert {0, 5} <= codes
