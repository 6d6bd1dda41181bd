"""Metrics of the user's own: values, intervals, differences, rules and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import fbeta_score, make_scorer, roc_auc_score

import evalreport as er
from evalreport.cli import main
from evalreport.core.errors import UsageError
from evalreport.core.result import Estimate, Undefined

N = 400


def cost(y_true: Any, y_pred: Any, y_score: Any, weight: Any, columns: Any) -> float:
    """Return the mean amount of missed positives."""
    return float((((y_true == 1) & (y_pred == 0)) * columns["amount"] * weight).sum() / weight.sum())


cost.better = "lower"  # type: ignore[attr-defined]


def data(seed: int = 0) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    generator = np.random.default_rng(0)
    truth, amount = (generator.random(N) < 0.3).astype(int), generator.lognormal(3, 1, N)
    score = np.clip(0.3 * truth + 0.6 * np.random.default_rng(seed + 10).random(N), 0, 1)
    return truth, score, amount


def evaluated(metrics: dict[str, Any], seed: int = 0, **more: Any) -> er.Evaluation:
    truth, score, amount = data(seed)
    return er.evaluate(
        truth,
        scores=er.Probabilities(score),
        extra_metrics=metrics,
        extra_columns={"amount": amount},
        resamples=200,
        **more,
    )


def test_value_interval_and_json() -> None:
    truth, score, amount = data()
    ev = evaluated({"cost": cost})
    found = ev["cost"]
    assert isinstance(found, Estimate)
    assert found.value == pytest.approx(np.where((truth == 1) & (score < 0.5), amount, 0).mean())
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.value < found.high
    assert found.method == "bootstrap"
    assert er.Evaluation.from_json(ev.to_json()) == ev


def test_interval_is_that_of_the_mean() -> None:
    """The mean of a column: the bootstrap has the standard error of a mean."""
    found = evaluated({"mean_amount": lambda *rows: float(rows[4]["amount"].mean())})["mean_amount"]
    amount = data()[2]
    assert isinstance(found, Estimate)
    assert found.standard_error == pytest.approx(amount.std() / np.sqrt(N), rel=0.2)


def test_groups_are_resampled_as_a_whole() -> None:
    groups = np.arange(N) // 20
    plain = evaluated({"mean_group": lambda *rows: float(rows[4]["amount"].mean())})["mean_group"]
    constant = np.repeat(np.random.default_rng(1).normal(size=N // 20), 20)
    truth, score, _ = data()
    grouped = er.evaluate(
        truth,
        scores=er.Probabilities(score),
        groups=groups,
        extra_metrics={"mean_group": lambda *rows: float(rows[4]["of_group"].mean())},
        extra_columns={"of_group": constant},
    )["mean_group"]
    assert isinstance(plain, Estimate)
    assert isinstance(grouped, Estimate)
    assert grouped.standard_error == pytest.approx(constant.std() / np.sqrt(N // 20), rel=0.2)


def test_scorers_of_scikit_learn() -> None:
    truth, score, _ = data()
    ev = evaluated(
        {
            "f_beta_3": make_scorer(fbeta_score, beta=3),
            "area": make_scorer(roc_auc_score, response_method="predict_proba"),
        }
    )
    assert ev["f_beta_3"].value == pytest.approx(fbeta_score(truth, score >= 0.5, beta=3))
    assert ev["area"].value == pytest.approx(ev["roc_auc"].value)


def test_labels_are_those_of_the_data() -> None:
    def ham(y_true: Any, y_pred: Any, *_: Any) -> float:
        return float(((y_true == "ham") & (y_pred == "ham")).sum())

    assert (
        er.evaluate(["ham", "spam", "ham"], ["ham", "ham", "spam"], extra_metrics={"ham": ham})["ham"].value
        == 1
    )


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda *_: 1 / 0, "m raised ZeroDivisionError: division by zero"),
        (lambda *_: "high", "m returned a str, not a number"),
        (lambda *_: float("nan"), "m returned NaN"),
        (lambda *_: np.ones(3), "m returned an array, not a number"),
        (lambda *_: None, "m returned a NoneType, not a number"),
    ],
)
def test_what_is_not_a_number_is_undefined(function: Any, reason: str) -> None:
    found = evaluated({"m": function})["m"]
    assert isinstance(found, Undefined)
    assert found.reason == reason


def test_difference_is_paired() -> None:
    """The same columns cancel: the interval of a difference is that of the rows that changed."""
    metrics = {"cost": cost}
    compared = er.compare([evaluated(metrics), evaluated(metrics, seed=1)])
    (found,) = compared.differences_for("cost")
    assert found.method == "paired bootstrap"
    assert found.difference is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.difference < found.high
    assert found.verdict in ("better", "worse", "not_significant")
    same = er.compare([evaluated(metrics), evaluated(metrics)]).differences_for("cost")[0]
    assert (same.difference, same.low, same.high) == (0, 0, 0)


def test_lower_is_better_where_the_function_says_so() -> None:
    truth, score, amount = data()
    worse = er.evaluate(
        truth,
        scores=er.Probabilities(score / 2),
        extra_metrics={"cost": cost},
        extra_columns={"amount": amount},
        resamples=200,
    )
    assert er.compare([evaluated({"cost": cost}), worse]).differences_for("cost")[0].verdict == "worse"


def test_name_of_the_catalogue_is_refused() -> None:
    with pytest.raises(UsageError, match="'recall' is a metric of the catalogue"):
        evaluated({"recall": cost})


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, seed in (("a", 0), ("b", 1)):
        rows = zip(*data(seed), strict=True)
        lines = [f"{k},{t},{s:.4f},{a:.2f}" for k, (t, s, a) in enumerate(rows)]
        Path(f"{name}.csv").write_text("\n".join(["id,y_true,score,amount", *lines]) + "\n")
    Path("money_of_a_test.py").write_text(
        "def net(y_true, y_pred, y_score, weight, columns):\n"
        "    return float((((y_true == 1) & (y_pred == 0)) * columns['amount']).mean())\n"
        "net.better = 'lower'\n"
    )


NET = "money_of_a_test:net"


def ran(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    with pytest.raises(SystemExit) as stop:
        main(words)
    return int(str(stop.value.code or 0)), json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("files")
def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, made = ran(capsys, "report", "a.csv", "--metrics", NET, "-o", "page.html", "--json")
    assert code == 0
    truth, score, amount = data()
    missed = np.where((truth == 1) & (score < 0.5), amount, 0).mean()
    assert made["runs"][0]["metrics"][NET]["value"] == pytest.approx(missed, abs=0.05)
    assert "recall" in made["runs"][0]["metrics"]
    assert NET in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("files")
def test_rules_and_sorting(capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(capsys, "check", "a.csv", "--require", f"{NET} <= 1000", "--json")[0] == 0
    assert ran(capsys, "check", "a.csv", "--require", f"{NET} <= 0.01", "--json")[0] == 1
    rule = f"{NET} rises <= 1000"
    assert ran(capsys, "check", "b.csv", "--baseline", "a.csv", "--require", rule, "--json")[0] == 0
    _, made = ran(capsys, "compare", "a.csv", "b.csv", "--sort-by", NET, "--json")
    values = [row["value"] for row in made["comparison"]["ranking"]]
    assert values == sorted(values)
    assert made["comparison"]["primary"] == NET


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "words",
    [
        ("report", "a.csv", "--metrics", NET, "-o", "page.html"),
        ("check", "a.csv", "--require", f"{NET} <= 1000"),
    ],
)
def test_streams_refuse_functions_of_all_rows(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        main((*words, "--set", "engine=stream"))
    assert stop.value.code == 2
    what, where, fix = capsys.readouterr().err.splitlines()
    assert what == f"error: {NET} is a function of all rows, and a stream does not keep them"
    assert where == f"  at   a.csv, {NET}"
    assert fix == f"  fix  pass --set engine=memory, or leave {NET} out"


@pytest.mark.usefixtures("files")
def test_streams_refuse_functions_in_python() -> None:
    with pytest.raises(UsageError, match="cost is a function of all rows"):
        er.evaluate_file("a.csv", engine="stream", extra_metrics={"cost": cost})
