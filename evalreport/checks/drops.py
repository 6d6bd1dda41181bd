"""The run against a baseline: may it be so much worse, and could this sample have shown it?"""

from __future__ import annotations

from collections.abc import Sequence

from evalreport.checks.values import RELATIVE, AllowedDrop, CheckResult, Outcome
from evalreport.comparison.compare import compare
from evalreport.comparison.pairing import Pairing
from evalreport.comparison.values import Difference
from evalreport.errors import UsageError
from evalreport.evaluation.model import Evaluation
from evalreport.format import fixed
from evalreport.metrics.catalogue import find


def drop_checks(
    run: Evaluation, baseline: Evaluation, drops: Sequence[AllowedDrop]
) -> tuple[CheckResult, ...]:
    """Hold a run against its baseline, on the paired difference.

    Parameters
    ----------
    run, baseline : Evaluation
        Paired where the same examples are proven; else each result says why not.
    drops : sequence of AllowedDrop

    Returns
    -------
    tuple of CheckResult
        ``passed`` when the interval of the difference excludes a larger drop, ``failed`` when a larger drop
        is shown (or a value is undefined), else ``inconclusive``.

    Raises
    ------
    UsageError
        A metric that is not there or has no better direction, or runs of different tasks.
    DataError
        The same example has another truth in both.

    Examples
    --------
    >>> from evalreport.evaluation.evaluate import evaluate_predictions
    >>> from evalreport.labels import Multiclass
    >>> from evalreport.predictions import predictions
    >>> truth = ["a", "b"] * 20
    >>> runs = [predictions(Multiclass("ab"), truth, answer) for answer in (["a"] * 40, truth)]
    >>> run, baseline = (evaluate_predictions(rows) for rows in runs)
    >>> (result,) = drop_checks(run, baseline, [AllowedDrop("accuracy", 0.1)])
    >>> result.name, result.outcome
    ('accuracy drops by at most 0.1', 'failed')
    """
    if not drops:
        return ()
    better = {drop.metric: _direction(run, baseline, drop.metric) for drop in drops}
    compared = compare([run, baseline], baseline=1, metrics=tuple(better))
    (_, _, pairing), *_ = compared.pairings
    return tuple(
        _judged(drop, compared.of(drop.metric)[0], better[drop.metric] == "lower", pairing) for drop in drops
    )


def _direction(run: Evaluation, baseline: Evaluation, name: str) -> str:
    for ev in (run, baseline):
        ev[name]
    better = find(name, run.task).better
    if better not in ("higher", "lower"):
        raise UsageError(
            f"a drop of {name} means nothing: neither higher nor lower is better",
            where="--allow-drop",
            fix=f"bound it instead, as in --require '{name} <= NUMBER'",
        )
    return better


def _judged(drop: AllowedDrop, found: Difference, lower: bool, pairing: Pairing) -> CheckResult:
    verb = "rises" if lower else "drops"
    name = f"{drop.metric} {verb} by at most {drop.amount:.12g}"
    if found.difference is None:
        return CheckResult(name, "failed", f"undefined: {found.reason}", kind="drop", bound=drop.amount)
    outcome, why = _outcome(drop, found, lower, "rise" if lower else "drop")
    return CheckResult(
        name,
        outcome,
        _shown(drop, found) + (", not paired" if pairing.kind == "unpaired" else ""),
        "; ".join(filter(None, (why, _paired(pairing)))),
        kind="drop",
        value=found.difference,
        low=found.low,
        high=found.high,
        bound=drop.amount,
        smallest=found.smallest,
    )


def _outcome(drop: AllowedDrop, found: Difference, lower: bool, noun: str) -> tuple[Outcome, str]:
    if found.low is None or found.high is None:
        return "inconclusive", f"no interval of the difference: {found.reason}"
    least, most = (found.low, found.high) if lower else (-found.high, -found.low)
    if found.low == found.high == 0:
        return "passed", "the two do not differ on any row; make sure that the baseline is not the run itself"
    if most <= drop.amount + RELATIVE:
        return "passed", f"a larger {noun} is excluded"
    if least > drop.amount + RELATIVE:
        return "failed", f"a larger {noun} is shown"
    smallest = _fine(drop, found.smallest or 0.0)
    return (
        "inconclusive",
        f"a larger {noun} is neither shown nor excluded; "
        f"the smallest difference that this sample could have shown is {smallest}",
    )


def _shown(drop: AllowedDrop, found: Difference) -> str:
    value = _signed(drop, found.difference or 0.0)
    if found.low is None or found.high is None:
        return f"difference {value}"
    return f"difference {value} ({_signed(drop, found.low)} to {_signed(drop, found.high)})"


def _fine(drop: AllowedDrop, value: float) -> str:
    """Return a number with one decimal more than the allowed drop has, at least three."""
    decimals = len(f"{drop.amount:.10f}".rstrip("0").partition(".")[2])
    return fixed(value, max(3, decimals + 1))


def _signed(drop: AllowedDrop, value: float) -> str:
    text = _fine(drop, value)
    return f"+{text}" if value > 0 else text


def _paired(pairing: Pairing) -> str:
    if pairing.kind == "paired":
        return f"paired on {pairing.n_shared:,} examples, {pairing.reason}"
    return f"not paired: {pairing.reason}"
