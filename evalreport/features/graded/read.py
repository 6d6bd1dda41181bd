"""Graded items from a table: grade, item, repeat, measures; several evaluations are refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import Columns, list_names, missing_column
from evalreport.columns.graded import REPEAT, grade_columns, unread_grade
from evalreport.columns.join import rows_meant, texts_of
from evalreport.columns.names import ID, INDEX, WEIGHT, plain_name
from evalreport.columns.plausible import SeveralEvaluationsError
from evalreport.core.errors import DataError, some_of
from evalreport.core.format import pluralize
from evalreport.core.result import Provenance, Result, Undefined
from evalreport.data.arrays import BINS, as_array, bin_slices, identity_texts
from evalreport.data.labels import Graded
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions, NoScores
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import Slice
from evalreport.features.graded.evaluation import (
    FULL,
    UNIT,
    GradedEvaluation,
    GradedExample,
    RepeatStatistics,
)
from evalreport.features.graded.grades import Grades, read_grades
from evalreport.features.graded.judge import JudgedItems, differing_slices, judge_result
from evalreport.features.graded.metrics import NO_GRADE, PASS, PASS_GRADED, SCORE
from evalreport.features.graded.repeats import Items, as_float, measure
from evalreport.intervals.interval_settings import Sampling
from evalreport.intervals.paired import holm, independent_difference
from evalreport.readers.formats import RawTable
from evalreport.statistics.confusion import Array
from evalreport.workflow.collect import Collected
from evalreport.workflow.evaluate import evaluate_collected
from evalreport.workflow.request import Request

ITEM: Final = ("item_id", "item", "task_id", "question_id", "sample_id", "instance_id", "doc_id", "trace_id")
"""Names of a column of items beside those of examples."""
EVALUATIONS: Final = (
    "filter",
    "scorer",
    "metric",
    "metric_name",
    "provider",
    "model",
    "model_name",
    "promptIdx",
)
"""Columns that distinguish several evaluations of the same items."""
MOST_VALUES: Final = 50
MOST_EXAMPLES: Final = 50


def collect_grades(table: RawTable, request: Request, origin: Provenance) -> Collected:
    """Return the graded items of a table as predictions, to be evaluated like any other.

    Raises
    ------
    EvalreportError
        Several evaluations in one table, values that are not grades, columns that are not there.
    """
    asked = request.columns
    table, asked, filter_notes = rows_meant(table, asked)
    column = _Column(table)
    grade = _grade_column(table, request)
    key = asked.id or _first_column(table, (table.parts.get("id"), *ID, *ITEM))
    ids = None if key is None else _ids(column(key, "--id"), key, table.source)
    repeat = asked.graded.repeat or (None if ids is None else _first_column(table, REPEAT))
    if ids is not None and len(set(ids)) < len(ids):
        _refuse_several(table, ids, {grade, key, repeat})
    grades = read_grades(column(grade, "--grade"), grade, passing=asked.graded.passing, source=table.source)
    human = _human_column(table, asked, grade)
    people = (
        None if human is None else _human(column(human, "--set human"), human, asked.graded.passing, table)
    )
    measures = {
        name: _read_measure(column(name, "--set measure"), name, table.source)
        for name in asked.graded.measures
    }
    weight, text = asked.weight or _first_column(table, WEIGHT), asked.example_text
    groups = [identity_texts(column(name, "--set group"), name) for name in asked.groups]
    binned, bin_notes = bin_slices({name: column(name, "--slice") for name in asked.slices}, asked.slice_bins)
    tried = attempts(
        grades,
        ids,
        repeats=None if repeat is None else identity_texts(column(repeat, "--set repeat"), repeat),
        weights=None if weight is None else as_float(column(weight, "--set weight")),
        groups=[" / ".join(map(str, one)) for one in zip(*groups, strict=True)] if groups else None,
        slices=binned,
        texts=None if text is None else texts_of(column(text, "--set show_text")).tolist(),
    )
    named = [("grade", grade), ("id", key), ("repeat", repeat), ("weight", weight), ("example text", text)]
    named += [("group", name) for name in asked.groups] + [("slice", name) for name in asked.slices]
    named += [("measure", name) for name in measures] + [("human", human)]
    named += [("task", "graded"), ("scale", grades.space.scale)]
    taken = tuple((part, name) for part, name in named if name)
    provenance = replace(
        origin,
        source=table.name,
        sha256=table.sha256,
        columns=taken,
        **request.origin() | {"unit": UNIT if request.unit == Request.unit else request.unit},
        notes=(*origin.notes, *table.notes, *filter_notes, *bin_notes),
    )
    return Collected(tried.rows, taken, provenance, completed=completion(tried, grades, measures, people))


def _ids(values: npt.NDArray[Any], name: str, source: str) -> list[str]:
    ids = identity_texts(values, name)
    if None in ids:
        raise DataError(
            f"{pluralize(ids.count(None), 'row')} without an id",
            where=f"{source}, column {name!r}, first: row {ids.index(None)}",
            fix="name another column with --id, or fill the gaps",
        )
    return [str(one) for one in ids]


class _Column:
    """A column by its name; the error of a missing one names the option."""

    def __init__(self, table: RawTable) -> None:
        self.table = table

    def __call__(self, name: str, option: str) -> npt.NDArray[Any]:
        if name not in self.table.columns:
            raise missing_column(name, option, self.table.names, self.table.name)
        return self.table.columns[name]


def _grade_column(table: RawTable, request: Request) -> str:
    """Return the column of grades; several that differ are refused with the choice."""
    chosen = request.columns.graded.main_grade
    if chosen is not None:
        return chosen
    every = grade_columns(table)
    if not every and (unread := unread_grade(table)) is not None:
        return unread
    names = [name for name in every if not (name.endswith(" (human)") and name[: -len(" (human)")] in every)]
    cells = {name: [str(value) for value in table.columns[name].tolist()] for name in names}
    differ = [name for name in names if cells[name] != cells[names[0]]]
    if differ:
        several = [names[0], *differ]
        raise SeveralEvaluationsError(
            f"the file has {len(several)} grades for each item: {list_names(several)}",
            where=table.source,
            fix=f"choose one with --grade, as in --grade {several[0]}",
        )
    return names[0]


def _human_column(table: RawTable, asked: Columns, grade: str) -> str | None:
    """Return the column of human grades; None without one and without a judge."""
    by_people, judge = f"{grade} (human)", asked.graded.judge
    found = asked.graded.human or (by_people if by_people in table.columns else None)
    if found is None and judge is not None:
        raise DataError(
            "a judge is checked by human grades, and no column of them is named",
            where=f"{table.source}, column {judge!r}",
            fix=f"name it with --set human=COLUMN, or read the judge's grades alone with --grade {judge}",
        )
    return found


def _human(
    values: npt.NDArray[Any], name: str, passing: str | None, table: RawTable
) -> npt.NDArray[np.integer]:
    try:
        found = read_grades(values, name, passing=passing, source=table.source)
    except DataError as error:
        if error.message != "no item has a grade":
            raise
        fix = "let people grade a random sample of the items"
        raise DataError("no item has a human grade", where=error.where, fix=fix) from None
    if found.passed is None:
        raise DataError(
            "the human grades are ratings, and nothing says which ratings pass",
            where=f"{table.source}, column {name!r}",
            fix="name what passes, such as --set pass='>=4'",
        )
    return found.passed


def _first_column(table: RawTable, names: Sequence[str | None]) -> str | None:
    known = {plain_name(name): name for name in reversed(list(table.columns)) if name not in INDEX}
    found = (name if name in table.columns else known.get(plain_name(name)) for name in names if name)
    return next((name for name in found if name is not None), None)


def _refuse_several(table: RawTable, ids: Sequence[str], skipped: set[str | None]) -> None:
    """Refuse items that come once in each of several evaluations.

    Raises
    ------
    SeveralEvaluationsError
    """
    items = np.unique(np.asarray(ids), return_inverse=True)[1]
    known = {plain_name(name): name for name in table.columns}
    for usual in EVALUATIONS:
        name = known.get(plain_name(usual))
        if name is None or name in skipped:
            continue
        texts = np.array([str(value) for value in table.columns[name].tolist()])
        values, codes = np.unique(texts, return_inverse=True)
        if not 2 <= len(values) <= MOST_VALUES:
            continue
        pairs = np.unique(items * len(values) + codes)
        if np.bincount(pairs // len(values)).max() > 1:
            raise SeveralEvaluationsError(
                f"the file has {len(values)} evaluations of the same items, one for each value of {name!r}",
                where=f"{table.source}, column {name!r}, values {list_names(values.tolist()[:5])}",
                fix=f"choose one with --where, as in --where '{name}={values[0]}'",
            )


def _read_measure(values: npt.NDArray[Any], name: str, source: str) -> Array:
    try:
        return as_float(values)
    except (TypeError, ValueError):
        raise DataError(
            f"the measure {name!r} is not a column of numbers",
            where=f"{source}, column {name!r}",
            fix="name a column of numbers with --set measure, such as cost or latency",
        ) from None


@dataclass(frozen=True, eq=False)
class Attempts:
    """Graded attempts, with the item of each.

    Parameters
    ----------
    rows : Predictions
        One row per attempt; every attempt should pass.
    codes : int array of shape (n,)
        Item of each attempt.
    items : tuple of str
        Ids of the items; empty where each row is an item without an id.
    """

    rows: Predictions
    codes: npt.NDArray[np.intp]
    items: tuple[str, ...]

    @property
    def has_repeats(self) -> bool:
        """Whether there are several attempts at an item."""
        return bool(self.codes.size and np.bincount(self.codes).max() > 1)


def attempts(
    grades: Grades,
    ids: Sequence[str] | None,
    *,
    repeats: Sequence[str | None] | None = None,
    weights: Array | None = None,
    groups: Sequence[Any] | None = None,
    slices: Mapping[str, Any] | None = None,
    texts: Sequence[str] | None = None,
) -> Attempts:
    """Return graded attempts as predictions: every attempt should pass.

    Items with several attempts are clusters, and each item has the same weight whatever their number.

    Parameters
    ----------
    grades : Grades
        Of n attempts.
    ids : sequence of str of length n, or None
        Item of each attempt; None where each row is an item.
    repeats : sequence of str of length n, optional
        Number of each attempt, distinct for attempts at one item; else they are numbered in order.

    Raises
    ------
    DataError
        Two attempts at an item with one number.

    Examples
    --------
    >>> made = attempts(read_grades([1, 0, 1], "grade"), ["a", "a", "b"])
    >>> made.rows.ids.tolist(), made.rows.weights.round(2).tolist(), made.items
    (['a #1', 'a #2', 'b #1'], [0.75, 0.75, 1.5], ('a', 'b'))
    """
    n = len(grades.values)
    items: tuple[str, ...] = () if ids is None else tuple(ids)
    codes, named = np.arange(n), ids
    if ids is not None and len(set(ids)) < n:
        distinct, codes = np.unique(np.asarray(ids, dtype=str), return_inverse=True)
        items, counts = tuple(distinct.tolist()), np.bincount(codes)
        named = [f"{item} #{number}" for item, number in zip(ids, _numbers(codes, ids, repeats), strict=True)]
        own = np.ones(n) if weights is None else weights
        weights = own / counts[codes]
        groups = ids if groups is None else groups
    made = predictions(
        grades.space,
        np.full(n, "pass"),
        np.where(grades.known, "pass", "fail"),
        weights=weights,
        ids=named,
        groups=groups,
        slices=slices,
        texts=texts,
    )
    scores = grades.scores
    known = NoScores() if scores is None else Decisions(np.column_stack([scores, np.zeros(n)]))
    return Attempts(replace(made, y_pred=grades.passed, scores=known), codes, items)


def _numbers(
    codes: npt.NDArray[np.intp], ids: Sequence[str], repeats: Sequence[str | None] | None
) -> Sequence[Any]:
    """Return the number of each attempt at its item."""
    if repeats is None:
        order = np.argsort(codes, kind="stable")
        counts = np.bincount(codes)
        number = np.empty(len(codes), dtype=np.int64)
        number[order] = np.arange(len(codes)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
        return number.tolist()
    seen: set[tuple[int, str | None]] = set()
    for row, pair in enumerate(zip(codes.tolist(), repeats, strict=True)):
        if pair in seen:
            raise DataError(
                f"item {ids[row]!r} has two attempts with the number {repeats[row]!r}",
                where=f"row {row}",
                fix="name the column of attempts with --set repeat, or choose one evaluation with --where",
            )
        seen.add(pair)
    return list(repeats)


def completion(
    tried: Attempts,
    grades: Grades,
    measures: Mapping[str, Array],
    people: npt.NDArray[np.integer] | None = None,
) -> Callable[[Evaluation], Evaluation]:
    """Return the function that adds repeats, measures and the judge to the evaluation of the core.

    Raises
    ------
    DataError
        Grades of people beside several attempts at an item, or beside ratings without a rule.
    """
    if people is not None and (grades.passed is None or tried.has_repeats):
        raise DataError(
            "a judge is compared with people on one attempt per item, which passes or fails",
            where="--set human",
            fix="choose one attempt with --where, or name what passes with --set pass",
        )

    return lambda ev: _complete_evaluation(ev, tried, grades, measures, people)


def _complete_evaluation(
    ev: Evaluation,
    tried: Attempts,
    grades: Grades,
    measures: Mapping[str, Array],
    people: npt.NDArray[np.integer] | None,
) -> GradedEvaluation:
    made, items, sampling = tried.rows, _items(tried, grades), ev.sampling
    several = items.of_repeats(sampling) if grades.passed is not None else {}
    computed = {name: r for name, r in ev.metrics.items() if not isinstance(r, Undefined)}
    metrics: dict[str, Result] = {**computed, **several}
    if several or items.clusters is not None:
        metrics |= _of_names(_over_items(items, sampling), metrics)
    if SCORE in metrics and grades.scores is not None:
        metrics[SCORE] = items.mean_score(grades.scores, grades.bounds, sampling)
    if grades.passed is None:
        metrics.pop(PASS, None)
    split = items.variances()
    repeats = None if split is None else RepeatStatistics(*split, never=items.never, some=items.some)
    withheld = bool(ev.data_checks.get("withheld"))
    return GradedEvaluation.from_evaluation(
        ev,
        metrics=metrics,
        slices=_slices(ev, tried, grades, items, metrics),
        disparities=tuple(one for one in ev.disparities if one.metric in metrics),
        classes=(),
        confusion=None,
        mistakes=(),
        swaps=(),
        pair_texts=(),
        row_counts=None,
        findings=(),
        items=len(items),
        no_grade=int((~grades.known).sum()),
        rule=grades.rule,
        measures={name: measure(values, items, sampling) for name, values in measures.items()},
        repeats=repeats,
        examples=() if withheld or grades.passed is None else tuple(_examples(tried, items)),
        notes=(*_notes(ev, grades, items), *([] if people is None else _sample_notes(made, people))),
        judge=None
        if people is None
        else judge_result(made, people, metrics[PASS], sampling, withheld=withheld),
        attempts_at=dict(zip(tried.items, items.attempts.tolist(), strict=True)) if tried.items else {},
        judge_items=None if people is None else JudgedItems(made, people),
    )


def _slices(
    ev: Evaluation, tried: Attempts, grades: Grades, items: Items, known: Mapping[str, Result]
) -> tuple[Slice, ...]:
    """Return the slices with the metrics of grades; with repeats or groups, intervals are over items."""
    parts = tuple(replace(one, metrics=_of_names(one.metrics, known)) for one in ev.slices)
    if not tried.has_repeats and items.clusters is None:
        return parts

    def over_items(rows: npt.NDArray[np.bool_]) -> dict[str, Result]:
        inside = items.take(rows)
        found = _over_items(inside, ev.sampling)
        if grades.scores is not None:
            found[SCORE] = inside.mean_score(grades.scores[rows], grades.bounds, ev.sampling)
        return found

    return slices_over_rows(parts, tried.rows, over_items, ev.sampling.level)


def _over_items(items: Items, sampling: Sampling) -> dict[str, Result]:
    """Return the rates of grades with intervals over items."""
    return {
        PASS: items.pass_rate(sampling),
        PASS_GRADED: items.pass_rate_graded(sampling),
        NO_GRADE: items.no_grade_rate(sampling),
    }


def _of_names(metrics: Mapping[str, Result], known: Mapping[str, Result]) -> dict[str, Result]:
    return {name: result for name, result in metrics.items() if name in known}


def slices_over_rows(
    parts: Sequence[Slice],
    made: Predictions,
    estimate: Callable[[npt.NDArray[np.bool_]], Mapping[str, Result]],
    level: float,
) -> tuple[Slice, ...]:
    """Return slices whose metrics are estimated from their rows again, and compared with the rest.

    Parameters
    ----------
    estimate : function
        From a bool array of shape (n,) to estimates by name; only metrics of the slice are replaced.
    """
    found: list[Slice] = []
    for column in dict.fromkeys(part.column for part in parts):
        values = made.slices[column]
        among = [part for part in parts if part.column == column]
        p_values: dict[str, dict[int, float]] = {}
        for place, part in enumerate(among):
            if part.too_few:
                continue
            inside = values.codes == values.values.index(part.value)
            here = _of_names(estimate(inside), part.metrics)
            rest = estimate(~inside) if part.differences else {}
            gaps = {name: independent_difference(here[name], rest[name], level) for name in here if rest}
            differences = {**part.differences, **{name: gap for name, (gap, _) in gaps.items()}}
            among[place] = replace(part, metrics={**part.metrics, **here}, differences=differences)
            for name, (_, p_value) in gaps.items():
                if p_value is not None:
                    p_values.setdefault(name, {})[place] = p_value
        for name, family in p_values.items():
            for place, adjusted in zip(family, holm(list(family.values())), strict=True):
                old = among[place]
                among[place] = replace(old, p_adjusted={**old.p_adjusted, name: adjusted})
        found += among
    return tuple(found)


def _sample_notes(made: Predictions, people: npt.NDArray[np.integer]) -> Iterator[str]:
    yield "the corrected pass rate assumes that the items with human grades are a random sample"
    found = differing_slices(made, people)
    if found:
        yield f"items with human grades differ in {some_of(found)}: they are not a random sample"


def _items(tried: Attempts, grades: Grades) -> Items:
    made, codes = tried.rows, tried.codes
    first = np.unique(codes, return_index=True)[1]
    weights = np.bincount(codes, made.weights).astype(np.float64)
    clusters: npt.NDArray[np.integer] | None = None
    if made.groups is not None and len(made.groups.values) < len(first):
        clusters = made.groups.codes[first]
    passed = np.where(grades.known, 1, -1) if grades.passed is None else grades.passed
    return Items(codes, passed, weights, clusters)


def _notes(ev: Evaluation, grades: Grades, items: Items) -> Iterator[str]:
    yield from (note for note in ev.notes if " repeat" not in note)
    missing = int((~grades.known).sum())
    if missing:
        verb = "has no grade and counts" if missing == 1 else "have no grade and count"
        yield f"{pluralize(missing, 'attempt')} {verb} as not passed"
    if grades.rule:
        yield "an item passes with a score " + ("of 1" if grades.rule == FULL else grades.rule)
    if int(items.attempts.min()) < int(items.attempts.max()):
        fewer = f"{int(items.attempts.min())} to {int(items.attempts.max())}"
        yield f"items have {fewer} attempts; each item has the same weight"


def _examples(tried: Attempts, items: Items) -> Iterator[GradedExample]:
    """Yield items that fail, those that some attempts pass first."""
    if not tried.items:
        return
    codes, texts = tried.codes, tried.rows.texts
    rate = items.passes / items.attempts
    order = np.lexsort((np.arange(len(items)), rate == 0))
    first = np.unique(codes, return_index=True)[1]
    missing = np.bincount(codes[items.passed < 0], minlength=len(items))
    for item in [one for one in order if rate[one] < 1][:MOST_EXAMPLES]:
        yield GradedExample(
            tried.items[item],
            int(items.passes[item]),
            int(items.attempts[item]),
            int(missing[item]),
            None if texts is None else str(texts[first[item]]),
        )


def evaluate_grades(
    grades: Any,
    space: Graded,
    sampling: Sampling,
    *,
    ids: Any = None,
    groups: Any = None,
    weights: Any = None,
    slices: Mapping[str, Any] | None = None,
    texts: Any = None,
    slice_bins: int = BINS,
) -> Evaluation:
    """Return the evaluation of grades held in memory; ids that repeat are attempts at one item.

    Examples
    --------
    >>> found = evaluate_grades([True, False, True, True], Graded(), Sampling(), ids=["a", "a", "b", "b"])
    >>> round(found["pass_rate"].value, 2), found.repeats.never, found.repeats.some
    (0.75, 0, 1)
    """
    read = read_grades(grades, "grades", space.scale)
    binned, bin_notes = bin_slices(slices or {}, slice_bins)
    tried = attempts(
        read,
        None if ids is None else _ids(as_array(ids), "ids", "arrays"),
        weights=None if weights is None else as_float(weights),
        groups=groups,
        slices=binned,
        texts=None if texts is None else texts_of(as_array(texts)).tolist(),
    )
    provenance = Provenance(unit=UNIT, notes=bin_notes)
    collected = Collected(tried.rows, (), provenance, completed=completion(tried, read, {}))
    return evaluate_collected(collected, Request(sampling=sampling))
