"""Labels of 5,000 characters: shortened where they are shown and in metric keys, whole in JSON."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from evalreport.core.text import truncate_with_digest
from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.payload import LONGEST_KEY
from evalreport.tracking.client import Store
from tests.cli.running import run
from tests.tracking import make_run

Capture = pytest.CaptureFixture[str]
WORD = "wörd "
LABELS = tuple(f"{WORD * 1000}{k}" for k in range(3))
"""They differ in their last character alone."""
MOST = 100


def rows(task: str) -> str:
    """Predictions with a score of each label, every fifth of them wrong."""
    labels = LABELS[:2] if task == "binary" else LABELS
    several = task == "multilabel"
    head = [f"true_{label}" for label in labels] if several else ["y_true", "y_pred"]
    lines = [[*head, *(f"proba_{label}" for label in labels)]]
    for row in range(60):
        truth, answer = row % len(labels), (row + (row % 5 == 0)) % len(labels)
        part = 0.2 / (len(labels) - 1)
        scores = [str(0.8 if code == answer else part) for code in range(len(labels))]
        known = [str(int(code == truth)) for code in range(len(labels))]
        lines.append([*(known if several else [labels[truth], labels[answer]]), *scores])
    return "".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines)


def longest(text: str) -> int:
    """Return how much of a label stands anywhere at one piece."""
    return max(map(len, re.findall(rf"(?:{WORD})+", text)), default=0)


@pytest.mark.parametrize("task", ["binary", "multiclass", "multilabel"])
def test_a_label_of_5000_characters(capsys: Capture, tmp_path: Path, task: str) -> None:
    file, out = tmp_path / "rows.csv", tmp_path / "out"
    file.write_text(rows(task), encoding="utf-8")
    done = run(capsys, "report", str(file), "--set", f"task={task}", "--output", str(out))
    assert done.code == 0, done.err
    page = (out / "evalreport.html").read_text(encoding="utf-8")
    assert 20 < longest(page) <= MOST
    assert longest(done.out + done.err) <= MOST
    data = json.loads((out / "evaluation.json").read_text(encoding="utf-8"))
    assert data["labels"] == list(LABELS[: len(data["labels"])])
    if task != "binary":
        shown = [entry["label"] for entry in data["classes"]]
        assert len(set(shown)) == 3
        assert {len(name) for name in shown} == {MOST}
        with (out / "classes.csv").open(encoding="utf-8", newline="") as table:
            assert [line["label"] for line in csv.DictReader(table)] == shown
    assert Evaluation.from_json((out / "evaluation.json").read_bytes()).space.names == tuple(
        map(truncate_with_digest, data["labels"])
    )


def test_keys_descriptions_rules_and_comparisons(
    capsys: Capture, sqlite_store: Store, tmp_path: Path
) -> None:
    made = make_run(sqlite_store, {"predictions.csv": rows("multiclass")}, folder=tmp_path)
    done = run(capsys, "log", "--run-id", made.run_id, "--log-all", "--tracking-uri", sqlite_store.uri)
    assert done.code == 0, done.err
    data = sqlite_store.client.get_run(made.run_id).data
    keys = [key for key in data.metrics if "classes/f1" in key]
    assert len(keys) == 3
    assert max(map(len, data.metrics)) <= LONGEST_KEY
    assert longest(" ".join(data.tags.values())) <= MOST
    file = tmp_path / "rows.csv"
    file.write_text(rows("multiclass"), encoding="utf-8")
    held = run(capsys, "check", str(file), "--require", f"f1[{LABELS[0]}] >= 0.2")
    assert held.code == 0, held.err
    (tmp_path / "other.csv").write_bytes(file.read_bytes())
    versus = run(
        capsys, "compare", str(file), str(tmp_path / "other.csv"), "-o", str(tmp_path / "versus.html")
    )
    assert versus.code == 0, versus.err
    assert longest((tmp_path / "versus.html").read_text(encoding="utf-8")) <= MOST


def test_what_is_longer_than_any_label_is_a_text(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text(f"y_true,y_pred\na,{'long ' * 2001}\nb,b\n", encoding="utf-8")
    done = run(capsys, "report", str(file), "-o", str(tmp_path / "page.html"))
    assert done.code == 5
    assert "10,005 characters" in done.err
    assert "--response" in done.err
