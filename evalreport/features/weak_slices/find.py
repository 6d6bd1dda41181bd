"""Weak slices of one run, and slices in which a run is worse than its baseline; their section and finding."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from evalreport.columns.names import FOLDS, INDEX, is_confidence, role
from evalreport.comparison.changed_predictions import correct_rows
from evalreport.comparison.comparison import Comparison
from evalreport.core.format import count, percent
from evalreport.core.result import Estimate, format_estimate, interval
from evalreport.core.sentences import say
from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions
from evalreport.data.scores import Probabilities
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import WeakSlice, WeakSlices, WorseSlice, WorseSlices
from evalreport.features.weak_slices.search import (
    FEWEST_GROUPS,
    FEWEST_ROWS,
    Codes,
    Data,
    Mask,
    Quantity,
    Tested,
    are_nested,
    search,
    search_columns,
    split_halves,
)
from evalreport.findings.rule import AddedRule, FindingDraft, rule
from evalreport.intervals.distributions import t_quantile, wilson
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.paired import ScoreCurve, holm
from evalreport.page.elements import Column, Heading, Note, PagePart, Row, Table
from evalreport.page.evaluation_terms import confidence_percent
from evalreport.statistics.resampling import Stream


def weak_slices(p: Predictions, sampling: Sampling) -> WeakSlices | None:
    """Return the slices whose error rate, or calibration gap, is confirmed on rows that did not choose them.

    Parameters
    ----------
    p : Predictions
        With the columns that are searched: those that are used for nothing else.
    sampling : Sampling
        Seed and level; slices are corrected for their number at this level.

    Returns
    -------
    WeakSlices or None
        None without a column to search, or without predictions.
    """
    if not _names(p) or p.y_pred is None:
        return None
    halves = _halves(p, sampling)
    if isinstance(halves, str):
        return WeakSlices(reason=halves)
    quantities = [Quantity("error", (~correct_rows(p)).astype(np.float64), is_binary=True)]
    if isinstance(p.space, Binary) and isinstance(p.scores, Probabilities):
        scores = p.scores.values.astype(np.float64)
        gap, variances = p.y_true - scores, scores * (1 - scores)
        quantities.append(Quantity("calibration", gap, two_sided=True, variances=variances))
    looked, tested, significant = _confirm(halves, quantities, sampling)
    confirmed = [_weak(p, *one, sampling) for one in significant]
    confirmed.sort(key=lambda one: (one.kind != "error", one.p))
    return WeakSlices(looked, tested, tuple(confirmed))


def worse_slices(
    run: Predictions, baseline: Predictions, names: tuple[str, str], sampling: Sampling
) -> WorseSlices | None:
    """Return the slices in which a run is confirmed to make more errors than its baseline on the same rows.

    Parameters
    ----------
    run, baseline : Predictions
        Of the same rows in the same order.
    names : (str, str)
        Of the run and of the baseline.
    """
    if not _names(run) or run.y_pred is None or baseline.y_pred is None:
        return None
    halves = _halves(run, sampling)
    if isinstance(halves, str):
        return WorseSlices(*names, reason=halves)
    values = correct_rows(baseline).astype(np.float64) - correct_rows(run)
    quantities = [Quantity("error", values, against_zero=True)]
    looked, tested, significant = _confirm(halves, quantities, sampling)
    confirmed = [_worse(run, *one, sampling) for one in significant]
    confirmed.sort(key=lambda one: one.p)
    return WorseSlices(*names, looked, tested, tuple(confirmed))


def _confirm(
    halves: Sequence[Data], quantities: Sequence[Quantity], sampling: Sampling
) -> tuple[int, int, list[tuple[Data, Tested, float]]]:
    """Return the numbers of slices looked at and tested, and the significant ones with their adjusted p.

    Each half proposes slices, and the other half tests them. Holm's correction covers the tests on one half,
    Bonferroni's the two halves. Of nested slices the one with the smaller p is returned.
    """
    looked, number, found = 0, 0, list[tuple[Data, Tested, float]]()
    for data in halves:
        seen, tested = search(data, quantities)
        looked, number = max(looked, seen), number + len(tested)
        adjusted = [min(1.0, len(halves) * float(p)) for p in holm([one.p for one in tested])]
        found += [(data, one, p) for one, p in zip(tested, adjusted, strict=True) if p < 1 - sampling.level]
    kept: list[tuple[Data, Tested, float]] = []
    masks: list[tuple[str, Mask]] = []
    for data, one, p in sorted(found, key=lambda each: each[2]):
        rows = data.rows_of(one.conditions)
        if not any(one.quantity.kind == kind and are_nested(rows, other) for kind, other in masks):
            kept.append((data, one, p))
            masks.append((one.quantity.kind, rows))
    return looked, number, kept


_OF_A_MODEL = re.compile(r"(score|proba|prob|logit|pred)_", re.IGNORECASE)
"""Beginnings of the names of columns with the output of another model, which do not describe a row."""


def _names(p: Predictions) -> list[str]:
    """Return the columns that may be a property of a row: no slices, folds, indexes or scores."""
    known = (*p.slices, *INDEX)
    return [
        name for name in p.columns if name not in known and name.lower() not in FOLDS and not _is_score(name)
    ]


def _is_score(name: str) -> bool:
    """Return whether a column is the output of a model: low confidence does not define a group."""
    return bool(_OF_A_MODEL.match(name)) or is_confidence(name) or role(name) == "score"


def _halves(p: Predictions, sampling: Sampling) -> tuple[Data, ...] | str:
    """Return the rows twice, with each half as the first one; or why they cannot be searched."""
    if len(p) < FEWEST_ROWS:
        return f"too few rows to search: {len(p)}; at least {FEWEST_ROWS} are needed"
    groups: Codes | None = None
    if p.groups is not None:
        _, codes = np.unique(p.groups.codes, return_inverse=True)
        groups = codes.astype(np.int64)
        if groups.max() + 1 < FEWEST_GROUPS:
            return f"too few groups to search: {groups.max() + 1}; at least {FEWEST_GROUPS} are needed"
    first = split_halves(len(p), groups, sampling.generator(Stream.WEAK_SLICES))
    weights = np.asarray(p.weights, dtype=np.float64)
    halves = (first, ~first)
    columns = search_columns(p.columns, _names(p), halves)
    made = tuple(
        Data(found, half, weights, groups, p.weighted) for found, half in zip(columns, halves, strict=True)
    )
    if not any(data.columns for data in made):
        return "no column can be searched: each has one value only, or is an id"
    return made


def _words(data: Data, one: Tested) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Return a slice in words, its columns, and their values."""
    columns = [data.columns[condition.column] for condition in one.conditions]
    values = [
        column.text(condition.first, condition.last)
        for column, condition in zip(columns, one.conditions, strict=True)
    ]
    names = tuple(column.name for column in columns)
    shown = " and ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))
    return shown, names, tuple(value.removeprefix("= ") for value in values)


def _weak(p: Predictions, data: Data, one: Tested, p_value: float, sampling: Sampling) -> WeakSlice:
    shown, columns, values = _words(data, one)
    n = int(one.inside.sum())
    is_error = one.quantity.kind == "error"
    counted = one.quantity.values[one.inside] if is_error else p.y_true[one.inside]
    expected = None
    if not is_error and isinstance(p.scores, Probabilities):
        expected = float(p.scores.values[one.inside].sum())
    return WeakSlice(
        kind="error" if is_error else "calibration",
        slice=shown,
        columns=columns,
        values=values,
        n=n,
        errors=int(counted.sum()),
        rate=_rate(data, one, n, sampling),
        rate_outside=one.mean_outside,
        p=p_value,
        expected=expected,
    )


def _rate(data: Data, one: Tested, n: int, sampling: Sampling) -> Estimate:
    if one.quantity.is_binary and data.groups is None and not data.is_weighted:
        ends = wilson(float(one.quantity.values[one.inside].sum()), n, sampling.level)
        return Estimate(one.mean, n, float(ends[0]), float(ends[1]), "wilson")
    half = t_quantile(sampling.upper, one.df) * one.standard_error
    low, high = one.mean - half, one.mean + half
    if one.quantity.is_binary:
        low, high = max(low, 0.0), min(high, 1.0)
    return Estimate(
        one.mean, n, low, high, "Student's t" if data.groups is None else "Student's t, by cluster"
    )


def _worse(p: Predictions, data: Data, one: Tested, p_value: float, sampling: Sampling) -> WorseSlice:
    shown, columns, values = _words(data, one)
    n, inside = int(one.inside.sum()), one.quantity.values[one.inside]
    if data.groups is None and not data.is_weighted:
        curve = ScoreCurve(int((inside > 0).sum()), int((inside < 0).sum()), n)
        (low, high), how = curve.limits(sampling.level), "paired score"
    else:
        half = t_quantile(sampling.upper, one.df) * one.standard_error
        low, high, how = one.mean - half, one.mean + half, "Student's t"
    return WorseSlice(
        kind="error",
        slice=shown,
        columns=columns,
        values=values,
        n=n,
        errors=int((~correct_rows(p))[one.inside].sum()),
        difference=Estimate(one.mean, n, float(low), float(high), how),
        difference_outside=one.mean_outside,
        p=p_value,
    )


MOST_SHOWN = 10


def group_part(ev: Evaluation) -> tuple[PagePart, ...]:
    """Return the confirmed weak slices as a table, or that none was confirmed."""
    found = ev.weak_slices
    if found is None or (found.reason and not ev.slices):
        return ()
    if not found.confirmed:
        return (Note(say("{summary}.", summary=found.summary)),)
    words = (
        "{searched:count} slices of the other columns were searched on each half of the rows. Those with the "
    )
    words += (
        "greatest excess were tested on the other half ({tested:count}). The numbers are of that half, and p "
    )
    words += "is adjusted for the number of tests (Holm)."
    note = Note(say(words, searched=found.searched, tested=found.tested))
    heads = (
        "Slice",
        Column("Rows", "n"),
        Column("Errors", "n"),
        "Error rate",
        f"{confidence_percent(ev)} interval",
        "Other rows",
        "p",
    )
    parts: list[PagePart] = [Heading("Weak slices, found by a search"), note]
    errors = [one for one in found.confirmed if one.kind == "error"][:MOST_SHOWN]
    gaps = [one for one in found.confirmed if one.kind == "calibration"][:MOST_SHOWN]
    if errors:
        parts.append(Table.from_rows("weak-slices", "Slices with more errors", heads, map(_row, errors)))
    if gaps:
        heads = (
            "Slice",
            Column("Rows", "n"),
            Column("Positives", "n"),
            "Observed minus predicted",
            f"{confidence_percent(ev)} interval",
            "Other rows",
            "p",
        )
        parts.append(Table.from_rows("gaps-by-slice", "Calibration in slices", heads, map(_row, gaps)))
    return tuple(parts)


def _row(one: WeakSlice) -> Row:
    return (
        one.slice,
        count(one.n),
        count(one.errors),
        format_estimate(one.rate, "percent") if isinstance(one.rate, Estimate) else "–",
        interval(one.rate, "percent"),
        percent(one.rate_outside, one.n),
        _p_text(one.p),
    )


def _p_text(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def comparison_part(comparison: Comparison) -> tuple[PagePart, ...]:
    """Return the slices in which a run makes more errors than its baseline, as a table."""
    found = [(one, each) for one in comparison.weak_slices for each in one.confirmed[:MOST_SHOWN]]
    if not found:
        return ()
    words = "Each half of the rows was searched for slices with more errors of the run. Those with the "
    words += "greatest excess were tested on the other half. The numbers are of that half, and p is "
    words += "adjusted for the number of tests (Holm)."
    heads = (
        "Pair",
        "Slice",
        Column("Rows", "n"),
        Column("Errors of the run", "n"),
        "Difference in error rate",
        f"{comparison.level * 100:.10g}% interval",
        "Other rows",
        "p",
    )
    rows = [
        (
            f"{one.run} − {one.baseline}",
            each.slice,
            count(each.n),
            count(each.errors),
            "–" if each.difference.value is None else f"{100 * each.difference.value:+.1f} points",
            interval(each.difference, "percent"),
            percent(each.difference_outside, each.n),
            _p_text(each.p),
        )
        for one, each in found
    ]
    table = Table.from_rows("worse-slices", "Slices with more errors than the baseline", heads, rows)
    return Heading("Slices in which a run is worse"), Note(say(words)), table


@rule(
    section="groups",
    action="Look at the errors in this group; with --slice COLUMN the page has all metrics by its values.",
)
def weak_slice(ev: Evaluation) -> FindingDraft | None:
    """A group of rows, found by a search, in which the model makes significantly more errors."""
    found = () if ev.weak_slices is None else ev.weak_slices.confirmed
    errors = [one for one in found if one.kind == "error" and one.rate.value is not None]
    if ev.weak_slices is None or not errors:
        return None
    first = errors[0]
    return FindingDraft(
        "The error rate is {rate:whole} where {slice} ({errors:count} of {n:rows}), and {outside:whole} "
        "otherwise. This was found on one half of the rows and confirmed on the other, among "
        "{searched:count} slices searched.",
        {
            "rate": first.rate.value,
            "slice": first.slice,
            "errors": first.errors,
            "n": first.n,
            "outside": first.rate_outside,
            "searched": ev.weak_slices.searched,
        },
    )


WEAK_SLICE = AddedRule(weak_slice, before="slice_gap")
