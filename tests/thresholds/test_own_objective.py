"""A threshold chosen by a metric of the user's own: by brute force, held out, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalreport as er
from evalreport.cli import main
from evalreport.core.errors import DataError
from evalreport.core.result import Estimate
from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Probabilities
from evalreport.intervals.interval_settings import Sampling
from evalreport.thresholds.best_threshold import Optimum
from evalreport.thresholds.own_objective import CANDIDATES, OwnObjective, _folds, thin_thresholds
from evalreport.thresholds.sweep import Sweep, scores_of_rows

N = 400
QUICK = Sampling(resamples=100)


def loss(y_true: Any, y_pred: Any, y_score: Any, weight: Any, columns: Any) -> float:
    """Return the mean loss: a missed amount, or five for a false positive."""
    missed, false_positive = (y_true == 1) & (y_pred == 0), (y_true == 0) & (y_pred == 1)
    return float((missed * columns["amount"] + 5.0 * false_positive).mean())


loss.better = "lower"  # type: ignore[attr-defined]


def f_one(y_true: Any, y_pred: Any, *_: Any) -> float:
    """Return F1."""
    return float(2 * ((y_true == 1) & (y_pred == 1)).sum() / ((y_true == 1).sum() + (y_pred == 1).sum()))


def rows(seed: int = 0, n: int = N, **more: Any) -> Predictions:
    generator = np.random.default_rng((11, seed))
    truth = (generator.random(n) < 0.2).astype(np.int64)
    score = np.round(1 / (1 + np.exp(-(generator.normal(size=n) + 1.5 * truth - 1))), 3)
    amount = generator.lognormal(3, 0.8, n)
    return predictions(Binary(0, 1), truth, scores=Probabilities(score), columns={"amount": amount}, **more)


def chosen(p: Predictions, function: Any = loss, **more: Any) -> Optimum:
    best = OwnObjective("own", function).choose(p, QUICK, **more)
    assert isinstance(best, Optimum)
    return best


def loss_at(p: Predictions, threshold: float) -> float:
    """Return the loss at a threshold by a second implementation."""
    scores, amounts = p.scores.values, p.columns["amount"]  # type: ignore[union-attr]
    total = 0.0
    for truth, score, amount in zip(p.y_true.tolist(), scores.tolist(), amounts.tolist(), strict=True):
        if truth and score < threshold:
            total += amount
        elif not truth and score >= threshold:
            total += 5.0
    return total / len(p)


def test_no_threshold_is_better_by_brute_force() -> None:
    p = rows()
    best = chosen(p)
    every = [loss_at(p, at) for at in (*np.unique(p.scores.values).tolist(), np.inf)]  # type: ignore[union-attr]
    assert best.apparent == pytest.approx(min(every))
    assert loss_at(p, best.threshold) == pytest.approx(min(every))
    assert best.tp + best.fn == p.y_true.sum()
    assert best.tp + best.fp + best.fn + best.tn == N


def test_f1_as_a_function_is_the_built_in_objective() -> None:
    p = rows(3)
    ours, theirs = chosen(p, f_one), Sweep.from_table(scores_of_rows(p)).best("f1")
    assert isinstance(theirs, Optimum)
    assert ours.threshold == theirs.threshold
    assert ours.apparent == pytest.approx(theirs.apparent)
    assert (ours.tp, ours.fp) == (theirs.tp, theirs.fp)


def test_value_is_held_out() -> None:
    """On average the value on the rows of the choice is too good, the cross-fitted value is not."""
    new = rows(1_000, 20_000)
    apparent, held_out, new_rows = [], [], []
    for seed in range(12):
        best = chosen(rows(seed, 150))
        assert best.out_of_sample is not None
        assert best.out_of_sample.method == "cross-fitted"
        assert isinstance(best.out_of_sample.value, Estimate)
        apparent.append(best.apparent)
        held_out.append(best.out_of_sample.value.value)
        decided = new.scores.values >= best.threshold  # type: ignore[union-attr]
        new_rows.append(loss(new.y_true, decided.astype(int), None, None, new.columns))
    assert np.mean(apparent) < np.mean(held_out)
    assert abs(np.mean(held_out) - np.mean(new_rows)) < 0.25 * np.mean(new_rows)


def test_other_rows_choose() -> None:
    p, tuning = rows(0), rows(1)
    best = chosen(p, tune_on=tuning)
    assert best.threshold == chosen(tuning).threshold
    assert best.out_of_sample is not None
    assert best.out_of_sample.method == "other rows"
    assert best.out_of_sample.value.value == pytest.approx(loss_at(p, best.threshold))


def test_groups_are_not_divided_and_classes_are_in_each_fold() -> None:
    grouped, plain = _folds(rows(groups=np.arange(N) // 8), QUICK), _folds(rows(), QUICK)
    assert grouped is not None and plain is not None
    assert all(len(set(grouped[k : k + 8].tolist())) == 1 for k in range(0, N, 8))
    truth = rows().y_true
    counts = [int(truth[plain == fold].sum()) for fold in range(10)]
    assert max(counts) - min(counts) <= 1


def test_number_of_thresholds_is_limited_and_said() -> None:
    calls = []

    def counted(y_true: Any, y_pred: Any, *_: Any) -> float:
        calls.append(1)
        return float((y_true == y_pred).mean())

    p, scores = rows(2, 3_000), Probabilities(np.random.default_rng(0).random(3_000))
    ev = er.evaluate(p.y_true, scores=scores, extra_metrics={"right": counted}, confidence=None)
    calls.clear()
    found = er.sweep(ev, "right")
    assert len(calls) <= CANDIDATES + 10 * 200 + 600
    note = "1,000 of 3,001 thresholds were evaluated by right, evenly spaced among scores."
    assert note in found.doubts
    assert list(found.found) == ["right"]
    assert len(thin_thresholds(np.arange(5_000.0), CANDIDATES)) == CANDIDATES


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda *_: 1 / 0, "m raised ZeroDivisionError: division by zero"),
        (lambda *_: "high", "m returned a str, not a number"),
        (lambda *_: float("nan"), "m returned NaN"),
        (lambda *_: np.ones(3), "m returned an array, not a number"),
    ],
)
def test_a_function_without_a_number_chooses_nothing(function: Any, reason: str) -> None:
    p = rows()
    ev = er.evaluate(p.y_true, scores=p.scores, extra_metrics={"m": function}, confidence=None)
    with pytest.raises(DataError, match=f"no threshold can be chosen by m: {reason}"):
        er.sweep(ev, "m")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    p = rows()
    cells = zip(range(N), p.y_true.tolist(), p.scores.values.tolist(), p.columns["amount"], strict=True)  # type: ignore[union-attr]
    Path("rows.csv").write_text(
        "id,y_true,score,amount\n" + "".join(f"{a},{b},{c},{d:.6f}\n" for a, b, c, d in cells)
    )
    Path("loss_of_a_test.py").write_text(
        "def loss(y_true, y_pred, y_score, weight, columns):\n"
        "    missed, alarm = (y_true == 1) & (y_pred == 0), (y_true == 0) & (y_pred == 1)\n"
        "    return float((missed * columns['amount'] + 5.0 * alarm).mean())\n"
        "loss.better = 'lower'\n"
    )


NAME = "loss_of_a_test:loss"


@pytest.mark.usefixtures("files")
def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("sweep", "thresholds", "rows.csv", "--objective", NAME, "--objective", "f1", "-o", "page.html")
    with pytest.raises(SystemExit) as stop:
        main((*words, "--json"))
    assert not stop.value.code
    made = json.loads(capsys.readouterr().out)["sweep"]
    best = made["optima"][NAME]
    assert best["threshold"] == chosen(rows()).threshold
    assert best["apparent"] == pytest.approx(chosen(rows()).apparent, abs=1e-6)
    assert best["held_out_method"] == "cross-fitted"
    assert best["held_out_estimate"]["low"] < best["held_out"] < best["held_out_estimate"]["high"]
    assert list(made["optima"]) == [NAME, "f1"]
    assert NAME in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("words", "what", "where"),
    [
        (
            ("--set", "engine=stream"),
            "is a function of all rows",
            "--objective",
        ),
        (("--objective", "loss_of_a_test:nothing"), "cannot be imported", "objective"),
        (("--objective", NAME), f"two objectives are named {NAME}", "--objective"),
    ],
)
def test_refused(words: tuple[str, ...], what: str, where: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(("sweep", "thresholds", "rows.csv", "--objective", NAME, *words))
    assert stop.value.code == 2
    lines = capsys.readouterr().err.splitlines()[-3:]
    assert what in lines[0]
    assert where in lines[1]
    assert lines[2].startswith("  fix  ")
