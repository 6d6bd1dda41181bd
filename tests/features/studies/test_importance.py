"""Parameter importance finds the parameter that matters, and says when it cannot be computed."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from evalreport.core.errors import MissingExtraError, UsageError
from evalreport.core.result import Undefined
from evalreport.features.studies.study import Importance, importance
from evalreport.thresholds.trial import Space, StudyObjective, Trial
from evalreport.thresholds.trial_search import Trials


def sweep(n: int, *, conditional: bool = False, direction: Any = "maximize") -> Trials:
    """A value that follows `lr` by its logarithm, a little `depth`, and never `noise`."""
    rng = np.random.default_rng(5)
    rows = []
    for _ in range(n):
        lr, depth, noise = 10 ** rng.uniform(-4, 0), int(rng.integers(1, 9)), rng.choice(["a", "b", "c"])
        params = {"lr": lr, "depth": depth, "noise": str(noise), "fixed": 3}
        if conditional and noise == "a":
            params["momentum"] = rng.uniform()
        value = np.log10(lr) + 0.05 * depth + rng.normal(0, 0.05)
        rows.append({"params": params, "value": value if direction == "maximize" else -value})
    made = Trials.from_records(rows, objectives=StudyObjective("v", direction))
    return Trials(made.objectives, made.trials, "test", space=(Space("lr", 1e-4, 1.0, log=True),))


def found(trials: Trials, **settings: Any) -> Importance:
    result = importance(trials, **settings)
    assert isinstance(result, Importance)
    return result


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize(
    ("n", "conditional", "method"),
    [(60, False, "fANOVA"), (60, True, "PED-ANOVA"), (300, False, "PED-ANOVA")],
)
def test_the_parameter_that_matters_leads(n: int, conditional: bool, method: str, direction: str) -> None:
    result = found(sweep(n, conditional=conditional, direction=direction))
    assert result.method == method
    names = [name for name, _ in result.shares]
    shares = [share for _, share in result.shares]
    assert names[0] == "lr" and shares[0] > 0.5
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1.0)
    assert result.left_out == (("fixed", "the same in every completed trial"),)
    assert ("momentum" in names) is conditional
    assert result.n_trials == n
    assert result.meaning


def test_the_same_seed_gives_the_same_shares() -> None:
    assert importance(sweep(30)) == importance(sweep(30))


def test_only_finite_completed_trials_count() -> None:
    made = sweep(20)
    odd = (
        Trial(20, "complete", (float("inf"),), {"lr": 1.0, "depth": 1, "noise": "a"}),
        Trial(21, "pruned", (9.0,), {"lr": 1.0, "other": 1}),
    )
    result = found(Trials(made.objectives, made.trials + odd, "test", space=made.space))
    assert result.n_trials == 20
    assert ("other", "in no completed trial") in result.left_out


def test_each_objective_has_its_own() -> None:
    rows = [{"params": {"a": at, "b": at * 7 % 11}, "values": (at, at * 7 % 11)} for at in range(30)]
    trials = Trials.from_records(rows, objectives=["one", "two"])
    assert found(trials, objective="one").shares[0][0] == "a"
    assert found(trials, objective="two").shares[0][0] == "b"
    with pytest.raises(UsageError):
        importance(trials)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([{"params": {"a": 1}, "value": 0.5}], "at least 10 completed trials; there are 1"),
        ([{"params": {"a": at}} for at in range(20)], "there are 0"),
        ([{"params": {"a": at}, "value": 0.5} for at in range(20)], "the same value"),
        ([{"params": {"a": 1}, "value": at} for at in range(20)], "no parameter differs"),
        ([{"params": {}, "value": at} for at in range(20)], "no parameter differs"),
    ],
)
def test_undefined_says_why(rows: list[dict[str, Any]], reason: str) -> None:
    result = importance(Trials.from_records(rows, objectives="f1"))
    assert isinstance(result, Undefined)
    assert reason in result.reason


def test_a_parameter_that_one_trial_has_is_no_failure() -> None:
    rows: list[dict[str, Any]] = [{"params": {"a": at}, "value": at} for at in range(20)]
    rows[3]["params"]["rare"] = "x"
    result = found(Trials.from_records(rows, objectives="f1"))
    assert result.left_out[0][0] == "rare"


def test_optuna_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError):
        importance(sweep(20))


def test_whole_numbers_are_no_continuum() -> None:
    """A parameter of three whole numbers that does nothing must not look like a peak of a density."""
    rng = np.random.default_rng(2)
    rows = []
    for _ in range(60):
        params: dict[str, Any] = {"lr": float(rng.uniform()), "n": int(rng.integers(3, 6))}
        if rng.random() < 0.7:
            params["width"] = int(rng.integers(1, 3))
        rows.append({"params": params, "value": params["lr"]})
    result = found(Trials.from_records(rows, objectives="v"))
    assert result.method == "PED-ANOVA"
    assert dict(result.shares)["lr"] > 0.8


def test_a_logarithmic_whole_number() -> None:
    rows = [{"params": {"n": 2**at, "m": at % 3}, "value": at % 12 + at / 100} for at in range(12)] * 2
    result = found(Trials.from_records(rows, objectives="v"))
    assert result.shares[0][0] == "n"
