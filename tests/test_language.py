"""Texts for people use the terms of the field: no word of the list in `tests.scan_language`.

Text that users see is free of them. Comments and docstrings of some folders still have some: the number of
each folder may only fall.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import evalreport as er
from evalreport.cli.help_texts import TOPICS
from tests.cli.running import run
from tests.cli.test_help import ALL
from tests.scan_language import ROOT, files, find_hits, find_words

MOST: dict[str, int] = {
    "docs": 1,
    "evalreport/adapters": 1,
    "evalreport/api": 2,
    "evalreport/columns": 1,
    "evalreport/core": 9,
    "evalreport/data": 3,
    "evalreport/evaluation": 24,
    "evalreport/features/large": 11,
    "evalreport/features/site": 11,
    "evalreport/features/studies": 60,
    "evalreport/features/systems": 15,
    "evalreport/features/text_labels": 4,
    "evalreport/features/weak_slices": 1,
    "evalreport/intervals": 1,
    "evalreport/metrics": 1,
    "evalreport/page": 23,
    "evalreport/readers": 5,
    "evalreport/statistics": 2,
    "evalreport/workflow": 11,
}
"""Hits that a folder still has in comments and docstrings; every other folder has none."""


def folder_of(path: Path) -> str:
    """The package, the feature or the folder of a file."""
    parts = path.relative_to(ROOT).parts
    depth = 3 if parts[:2] == ("evalreport", "features") else 2 if parts[0] == "evalreport" else 1
    return "/".join(parts[: min(depth, len(parts) - 1)]) or parts[0]


def test_no_folder_has_more_retired_words_than_before() -> None:
    paths = [ROOT / name for name in ("evalreport", "templates", "docs", "examples")]
    hits: Counter[str] = Counter()
    for path in files([*paths, *ROOT.glob("*.md")]):
        if "examples/data" not in path.as_posix():
            hits[folder_of(path)] += sum(1 for _ in find_hits(path))
    more = {name: n for name, n in hits.items() if n > MOST.get(name, 0)}
    assert not more, "python -m tests.scan_language PATH lists them"


def page_text(page: str) -> str:
    """The words of a page, without markup, styles and scripts."""
    page = re.sub(r"<(style|script)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def binary() -> str:
    rng = np.random.default_rng(1)
    truth = (rng.random(600) < 0.2).astype(int)
    scores = 1 / (1 + np.exp(-(2 * truth - 2 + rng.normal(size=600))))
    return er.to_html(er.evaluate(truth, scores=er.Probabilities(scores), slices={"site": truth % 2}))


def multiclass() -> str:
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 6, 600)
    answers = np.where(rng.random(600) < 0.6, truth, rng.integers(0, 3, 600))
    return er.to_html(er.evaluate(truth.tolist(), answers.tolist()))


def comparison() -> str:
    rng = np.random.default_rng(3)
    truth = (rng.random(400) < 0.3).astype(int)
    runs = [er.Probabilities(1 / (1 + np.exp(-(k * truth - 1 + rng.normal(size=400))))) for k in (1, 1.5)]
    return er.to_html(er.compare([er.evaluate(truth, scores=one) for one in runs]))


@pytest.mark.parametrize("make", [binary, multiclass, comparison])
def test_pages_use_the_terms_of_the_field(make: Callable[[], str]) -> None:
    assert [*find_words(page_text(make()))] == []


@pytest.mark.parametrize(
    "words", [*((*words, "--help-all") for words in ALL), *(("help", t) for t in TOPICS)]
)
def test_help_uses_the_terms_of_the_field(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert [*find_words(run(capsys, *words).out)] == []


@pytest.mark.parametrize("command", ["report {0}", "sweep thresholds {0} --objective f1", "compare {0} {1}"])
def test_output_uses_the_terms_of_the_field(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rng, paths = np.random.default_rng(4), [tmp_path / "a.csv", tmp_path / "b.csv"]
    truth = rng.integers(0, 2, 200)
    for shift, path in enumerate(paths, start=1):
        scores = 1 / (1 + np.exp(-(shift * truth - 1 + rng.normal(size=200))))
        rows = [f"{y},{p:.4f}" for y, p in zip(truth, scores, strict=True)]
        path.write_text("\n".join(["label,score", *rows]), encoding="utf-8")
    done = run(capsys, *command.format(*paths).split(), "--positive", "1")
    assert done.code == 0, done.err
    assert [*find_words(done.out + done.err)] == []


def test_the_scan_finds_a_retired_word() -> None:
    assert [word for word, _ in find_words("rows that took no part; in fact 3 of 4")] == ["took no part"]
