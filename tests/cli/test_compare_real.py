"""`evalreport compare` on real models: tests and movement against second implementations."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import f1_score, roc_auc_score

from tests.cli.running import run
from tests.comparison.test_differences import naive_delong

Capture = pytest.CaptureFixture[str]
DATA = Path(__file__).parents[2] / "examples" / "data"
EXTRA = Path(os.environ.get("EVALREPORT_EXTRA_DATA", ""))
needs_extra = pytest.mark.skipif(
    "EVALREPORT_EXTRA_DATA" not in os.environ, reason="name the folder of more data in EVALREPORT_EXTRA_DATA"
)
BINARY = (
    ("sms_spam", "spam", ("lr", "nb", "rf", "histgb")),
    ("ai4i_failure", 1, ("lr", "lr_balanced", "rf", "histgb")),
)


def comparison(capsys: Capture, *arguments: str) -> dict[str, Any]:
    done = run(capsys, "compare", *arguments, "--json")
    assert done.code == 0, done.err
    found: dict[str, Any] = done.json["comparison"]
    return found


def check_mcnemar(test: dict[str, Any], first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_]) -> None:
    """The test of two sets of right answers is McNemar's mid-p by its definition."""
    only = int((first & ~second).sum()), int((second & ~first).sum())
    assert (test["only_first"], test["only_second"]) == only
    fewer = stats.binom(sum(only), 0.5)
    mid = 2 * fewer.cdf(min(only)) - fewer.pmf(min(only))
    assert test["p"] == pytest.approx(min(mid, 1), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize(("source", "positive", "names"), BINARY, ids=["sms", "ai4i"])
def test_four_models_all_pairs(
    source: str, positive: object, names: tuple[str, ...], tmp_path: Path, capsys: Capture
) -> None:
    table = pd.read_parquet(DATA / source / "oof_scores.parquet")
    sliced = [name for name in table.columns if name == "product_type"]
    for name in names:
        one = table[["example_id", "y_true", *sliced]].assign(score=table[f"score_{name}"])
        one.to_parquet(tmp_path / f"{name}.parquet", index=False)
    files = [str(tmp_path / f"{name}.parquet") for name in names]
    more = [word for name in sliced for word in ("--slice", name)]
    reported = comparison(capsys, *files, "--all-pairs", *more, "--metrics", "roc_auc,accuracy,recall")
    truth = (table["y_true"] == positive).to_numpy()
    scores = {name: table[f"score_{name}"].to_numpy().astype(np.float64) for name in names}
    right = {name: (values >= 0.5) == truth for name, values in scores.items()}
    assert len(reported["mcnemar"]) == len(reported["delong"]) == len(reported["movements"]) == 6
    for test, delong, moved in zip(
        reported["mcnemar"], reported["delong"], reported["movements"], strict=True
    ):
        a, b = test["run"], test["baseline"]
        check_mcnemar(test, right[a], right[b])
        z, _ = naive_delong(truth, scores[a], scores[b])
        assert delong["z"] == pytest.approx(z, abs=1e-8)
        for one, metric in ((test, "accuracy"), (delong, "roc_auc")):
            (difference,) = (
                d for d in reported["differences"] if [d["metric"], d["run"], d["baseline"]] == [metric, a, b]
            )
            assert one["p"] == difference["p"], "one p value per difference"
        assert moved["both_wrong"] == int((~right[a] & ~right[b]).sum())
        assert moved["both_wrong_ids"] == table["example_id"][~right[a] & ~right[b]].astype(str)[:50].tolist()
        assert set(moved["fixed_ids"]) <= set(table["example_id"][right[a] & ~right[b]].astype(str))
        for name in sliced:
            for value, part in table.groupby(name).groups.items():
                fixed, broken, wrong = moved["by_slice"].get(f"{name} = {value}", (0, 0, 0))
                assert fixed == (right[a] & ~right[b])[part].sum()
                assert broken == (right[b] & ~right[a])[part].sum()
                assert wrong == (~right[b] & ~right[a])[part].sum()


@needs_extra
def test_four_checkpoints_in_their_order(tmp_path: Path, capsys: Capture) -> None:
    table = pd.read_parquet(EXTRA / "banking77" / "pred_checkpoints_long.parquet")
    files, right = [], {}
    for name, part in table.groupby("run", sort=False):
        files.append(str(tmp_path / f"{name}.csv"))
        part.drop(columns="run").to_csv(files[-1], index=False)
        right[str(name)] = (part["y_true"] == part["y_pred"]).to_numpy()
    reported = comparison(capsys, *files, "--all-pairs")
    for test in reported["mcnemar"]:
        check_mcnemar(test, right[test["run"]], right[test["baseline"]])
    assert [entry["run"] for entry in reported["ranking"]] == sorted(
        right, key=lambda name: -right[name].mean()
    )
    assert {d["verdict"] for d in reported["differences"] if d["metric"] == "accuracy"} == {"better"}
    whole = run(capsys, "compare", str(EXTRA / "banking77" / "pred_checkpoints_long.parquet"), files[0])
    assert whole.code == 5
    assert "3,080 ids occur more than once" in whole.err


@needs_extra
def test_two_intent_classifiers(capsys: Capture) -> None:
    names = ("tfidf_lr", "char_svm_logits")
    files = [EXTRA / "banking77" / f"pred_{name}.parquet" for name in names]
    reported = comparison(capsys, *map(str, files))
    base, other = (pd.read_parquet(file, columns=["y_true", "y_pred"]) for file in files)
    check_mcnemar(
        reported["mcnemar"][0],
        (other["y_true"] == other["y_pred"]).to_numpy(),
        (base["y_true"] == base["y_pred"]).to_numpy(),
    )
    gaps = {d["metric"]: d for d in reported["differences"]}
    f1 = [f1_score(table["y_true"], table["y_pred"], average="macro") for table in (other, base)]
    assert gaps["f1_macro"]["difference"] == pytest.approx(f1[0] - f1[1], abs=1e-12)
    assert gaps["f1_macro"]["low"] < f1[0] - f1[1] < gaps["f1_macro"]["high"]


@needs_extra
def test_emotions_label_by_label(capsys: Capture) -> None:
    folder = EXTRA / "goemotions"
    names = ("ovr_lr_proba", "ovr_svm_logits")
    files = [str(folder / f"pred_test_{name}.parquet") for name in names]
    reported = comparison(capsys, *files, "--set", f"truth_file={folder / 'y_true_test.parquet'!s}")
    truth = pd.read_parquet(folder / "y_true_test.parquet")
    tables = [pd.read_parquet(file) for file in files]
    found = {d["scope"].partition(": ")[2]: d for d in reported["parts"] if d["metric"] == "roc_auc"}
    assert len(found) == 27, "grief occurs too seldom"
    for label, d in found.items():
        marks = truth[f"true_{label}"]
        lr = roc_auc_score(marks, tables[0][f"proba_{label}"])
        svm = roc_auc_score(marks, tables[1][f"logit_{label}"])
        assert d["difference"] == pytest.approx(svm - lr, abs=1e-9)
        assert d["low"] <= d["difference"] <= d["high"]
    adjusted = [d["p_adjusted"] for d in found.values()]
    assert all(a >= d["p"] for a, d in zip(adjusted, found.values(), strict=True))
    shown = [d for d in found.values() if d["verdict"] in ("better", "worse")]
    assert shown
    assert all(d["p_adjusted"] <= 0.05 for d in shown)
