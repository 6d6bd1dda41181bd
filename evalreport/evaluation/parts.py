"""The parts of an evaluation other than metrics: classes, slices, mistakes, examples, origin.

With weights, sentences count whole rows; rates and metrics use the weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.json_codec import Mass, Share, Whole
from evalreport.core.result import Result
from evalreport.core.result import gap as signed_gap
from evalreport.data.labels import UNPARSED, Binary, Label, Multilabel
from evalreport.data.predictions import Predictions
from evalreport.data.scores import NoScores, Probabilities
from evalreport.metrics.catalogue import OF_CLASS
from evalreport.metrics.record import one_vs_rest
from evalreport.statistics.class_scores import RankedScores
from evalreport.statistics.confusion import BinaryCounts, Counts
from evalreport.statistics.summary import Summary
from evalreport.thresholds.best_threshold import Optimum
from evalreport.thresholds.sweep import Sweep

State: TypeAlias = Literal["ok", "absent", "never_predicted", "spurious"]
"""``absent``: no true example, cannot be measured; ``never_predicted``: has true examples and recall 0
because no prediction names it; ``spurious``: predicted, but no true example."""


@dataclass(frozen=True)
class Confusion:
    """A label that examples of this class are misclassified as: number, and proportion of the class."""

    label: Label | None
    weight: Mass
    share: Share


@dataclass(frozen=True)
class ClassResult:
    """One label against all others.

    Parameters
    ----------
    label : str, int or bool
    state : str
    support, predicted, right : float
        Weight of true examples, of predictions, and of examples that are both.
    metrics : mapping from metric name to Estimate or Undefined
        Multiclass: precision, recall, f1, roc_auc, average_precision. Multilabel: the binary list.
    confusions : tuple of Confusion
        The (up to three) labels that its examples were most often given; label None is unparsed.
    threshold : float or None
        Multilabel: where this label was decided; infinite for one that is never flagged.
    best : (float, float) or None
        Multilabel with scores: the threshold with the highest F1 on these rows, and that F1; an upper
        bound, for it was chosen on the rows that judge it.
    """

    # values of metrics without intervals, for readers that need only them
    KEYS: ClassVar = (
        *("label", "state", "support", "predicted", "right"),
        *OF_CLASS,
        *("metrics", "confusions", "threshold", "best"),
    )

    label: Label
    state: State
    support: Mass
    predicted: Mass
    right: Mass
    metrics: Mapping[str, Result]
    confusions: tuple[Confusion, ...] = ()
    threshold: float | None = None
    best: tuple[float, float] | None = None

    def again(self, name: str) -> float | None:
        """Return the value of a metric without its interval."""
        return self.metrics[name].value if name in self.metrics else None


@dataclass(frozen=True)
class Slice:
    """The headline metrics of the rows that share one value of a column.

    Parameters
    ----------
    column, value : str
    rows : int
    weight : float
    metrics : mapping from name to Estimate or Undefined
    differences : mapping from name to Estimate or Undefined
        Slice minus the rest, with its interval.
    p_adjusted : mapping from name to float
        p-value of each difference, Holm-corrected over the slices of the column.
    too_few : bool
        Fewer than ten rows: counts only, nothing is claimed.
    """

    column: str
    value: str
    rows: Whole
    weight: Mass
    metrics: Mapping[str, Result] = field(default_factory=dict)
    differences: Mapping[str, Result] = field(default_factory=dict)
    p_adjusted: Mapping[str, Share] = field(default_factory=dict)
    too_few: bool = False


@dataclass(frozen=True)
class Disparity:
    """How far apart the groups of a column lie by one metric.

    Parameters
    ----------
    column, metric : str
        ``equalized_odds`` is the worse of recall and false positive rate.
    difference, ratio : Estimate or Undefined
        The greatest value of a group less the least, and the least over the greatest.
    lowest, highest : str
        Groups; of equalized odds those of the metric that differs more.
    groups, left_out : int
        How many were compared, and how many were not: fewer than ten rows, or no value.
    smallest : str
    smallest_rows : int
    smallest_value : Estimate or Undefined
        The smallest evaluated group and its value: its uncertainty limits the comparison.
    """

    column: str
    metric: str
    difference: Result
    ratio: Result
    lowest: str
    highest: str
    groups: Whole
    left_out: Whole
    smallest: str
    smallest_rows: Whole
    smallest_value: Result


@dataclass(frozen=True)
class Mistake:
    """One wrong answer.

    Parameters
    ----------
    row : int
        Position in the predictions, from 0.
    id : str
        Its id, or the row as text.
    truth, predicted : tuple of str
        Labels; `predicted` is empty where nothing was predicted or read.
    confidence : float or None
        Score of what was predicted.
    text : str or None
        The example's own text, cut, only when its column was named.
    answer : str or None
        The generated answer that the label was read from, cut.
    """

    row: Whole
    id: str
    truth: tuple[str, ...]
    predicted: tuple[str, ...]
    confidence: float | None = None
    text: str | None = None
    response: str | None = None


@dataclass(frozen=True)
class Swap:
    """Multilabel: one label missed while another was added wrongly, on the same row.

    `by_chance` is the count that independent errors would give.
    """

    missed: str
    added: str
    rows: Mass
    by_chance: Mass


@dataclass(frozen=True)
class RowCounts:
    """Rows that each cell of the confusion matrix and each label has, each counted once.

    Parameters
    ----------
    cells : tuple of (truth code, predicted code, rows)
        Empty for several labels; the code after the last label is of answers that could not be read.
    labels : tuple of (support, predicted, right)
        In the order of the labels.
    """

    cells: tuple[tuple[Whole, Whole, Whole], ...]
    labels: tuple[tuple[Whole, Whole, Whole], ...]

    def confusion(self) -> Counts:
        """Return the confusion matrix in rows."""
        size = len(self.labels)
        cells = np.array(self.cells, dtype=np.int64).reshape(-1, 3)
        return Counts(size, cells[:, 0] * (size + 1) + cells[:, 1], cells[:, 2].astype(np.float64))

    def classes(self, known: tuple[ClassResult, ...]) -> tuple[ClassResult, ...]:
        """Return results of classes with their counts in rows; shares and metrics stay weighted."""
        cells = {(row, column): n for row, column, n in self.cells}
        place = {entry.label: code for code, entry in enumerate(known)}
        return tuple(
            replace(
                entry,
                support=n,
                predicted=predicted,
                right=right,
                confusions=tuple(
                    replace(one, weight=cells.get((code, place.get(one.label, len(known))), 0))  # type: ignore[arg-type]
                    for one in entry.confusions
                ),
            )
            for code, (entry, (n, predicted, right)) in enumerate(zip(known, self.labels, strict=False))
        )


def row_counts(p: Predictions) -> RowCounts | None:
    """Return the rows behind weighted counts; None where each row weighs the same, or nothing decides.

    Examples
    --------
    >>> from evalreport.data.labels import Binary
    >>> from evalreport.data.predictions import predictions
    >>> row_counts(predictions(Binary(0, 1), [0, 1, 1], [0, 1, 0], weights=[1, 2, 7])).cells
    ((0, 0, 1), (1, 0, 1), (1, 1, 1))
    """
    if not p.weighted or p.y_pred is None:
        return None
    if isinstance(p.space, Multilabel):
        truth, answer = p.y_true.astype(bool), p.y_pred > 0
        columns = truth.sum(axis=0), answer.sum(axis=0), (truth & answer).sum(axis=0)
        return RowCounts((), _whole(*columns))
    counts = Counts.from_codes(p.y_true, p.y_pred, len(p.space), None)
    known = counts.marginals
    return RowCounts(
        _whole(counts.rows, counts.columns, counts.weight), _whole(known.support, known.predicted, known.tp)
    )


def _whole(*columns: np.ndarray) -> tuple[tuple[int, int, int], ...]:
    a, b, c = (column.astype(np.int64).tolist() for column in columns)
    return tuple(zip(a, b, c, strict=True))


TOP_CONFUSIONS = 3
"""Maximum number of labels that a class is most often misclassified as, for a cell of the table."""


def state(support: float, predicted: float) -> State:
    """Return the state of a label from its weight in truth and in predictions.

    Examples
    --------
    >>> state(0, 3), state(5, 0), state(0, 0), state(5, 1)
    ('spurious', 'never_predicted', 'absent', 'ok')
    """
    if support == 0:
        return "spurious" if predicted > 0 else "absent"
    return "ok" if predicted > 0 else "never_predicted"


def class_results(summary: Summary, values: Iterable[Mapping[str, Result]]) -> tuple[ClassResult, ...]:
    """Return one result per label, in the order of the labels; none for a binary problem.

    Parameters
    ----------
    summary : Summary
    values : one mapping of metric values per label
        Taken one at a time, so that each label's table of scores is made once.
    """
    counts = one_vs_rest(summary)
    if counts is None or isinstance(summary.space, Binary):
        return ()
    confusions = top_confusions(summary)
    support, predicted, right = counts.positives, counts.tp + counts.fp, counts.tp
    return tuple(
        ClassResult(
            label=label,
            state=state(support[code], predicted[code]),
            support=float(support[code]),
            predicted=float(predicted[code]),
            right=float(right[code]),
            metrics=found,
            confusions=confusions[code],
            threshold=_threshold(summary, counts, code),
            best=_best(summary, code),
        )
        for code, (label, found) in enumerate(zip(summary.space.display_labels, values, strict=True))
    )


def _best(summary: Summary, code: int) -> tuple[float, float] | None:
    if not isinstance(summary.space, Multilabel) or not isinstance(summary.scores, RankedScores):
        return None
    best = Sweep.from_table(summary.scores.table(code)).best("f1")
    return (best.threshold, best.apparent) if isinstance(best, Optimum) and best.threshold < inf else None


def top_confusions(summary: Summary) -> list[tuple[Confusion, ...]]:
    """Return, for each label, the other labels that its examples were most often given."""
    counts = summary.counts
    if not isinstance(counts, Counts):
        return [() for _ in summary.space.labels]
    support = counts.marginals.support
    labels = (*summary.space.display_labels, None)
    found: list[list[Confusion]] = [[] for _ in summary.space.labels]
    for cell in counts.off_diagonal:
        row, weight = int(counts.rows[cell]), float(counts.weight[cell])
        if len(found[row]) < TOP_CONFUSIONS:
            found[row].append(Confusion(labels[int(counts.columns[cell])], weight, weight / support[row]))
    return [tuple(entry) for entry in found]


def _threshold(summary: Summary, counts: BinaryCounts, code: int) -> float | None:
    if not isinstance(summary.space, Multilabel) or summary.threshold is None:
        return None
    return float(np.asarray(counts.threshold)[code])


@dataclass(frozen=True)
class AgreementGroup:
    """Rows whose most frequent response has a share in ``(low, high]`` of theirs, and its accuracy."""

    low: Share
    high: Share
    rows: Whole
    accuracy: Result


@dataclass(frozen=True)
class RepeatedResponses:
    """Metrics of several responses to each row, as of a language model that is sampled n times.

    Parameters
    ----------
    rows, responses : int
        Rows, and responses to all of them.
    fewest, most : int
        Responses to a row.
    one : Estimate or Undefined
        Accuracy of one response drawn from those of a row.
    majority : Estimate or Undefined
        Accuracy of the most frequent response; of several equally frequent ones, of the first.
    agreement : Estimate or Undefined
        Chance that two responses to a row are the same.
    pass_at : mapping from k to Estimate
        Chance that one of k responses is right, without bias.
    by_agreement : tuple of AgreementGroup
        Accuracy of the most frequent response by how many of the responses agree with it.
    """

    rows: Whole
    responses: Whole
    fewest: Whole
    most: Whole
    one: Result
    majority: Result
    agreement: Result
    pass_at: Mapping[str, Result]
    by_agreement: tuple[AgreementGroup, ...]

    def results(self) -> Iterator[tuple[str, str, Result]]:
        """Yield name, explanation and value of each metric, in the order in which they are shown."""
        yield "one response", "a random response to each row", self.one
        yield "majority", "the most frequent response", self.majority
        for k, result in self.pass_at.items():
            if k != "1":
                yield f"pass@{k}", f"at least one of {k} responses is right", result
        yield "agreement", "two responses are the same, right or wrong", self.agreement


@dataclass(frozen=True)
class WeakSlice:
    """A slice of the rows in which a model is confirmed to be worse, or miscalibrated.

    The numbers are those of the rows that did not choose the slice.

    Parameters
    ----------
    kind : {"error", "calibration"}
    slice : str
        In words: ``age over 75 and site = north``.
    columns, values : tuple of str
        One or two.
    n : int
        Rows in the slice.
    errors : int
        Wrong predictions; of kind ``calibration`` rows of the positive class.
    rate : Estimate or Undefined
        Error rate; of kind ``calibration`` the gap: observed rate minus mean predicted probability.
    rate_outside : float
        The same of all other rows.
    p : float
        Of the difference from the other rows; adjusted for all slices that were tested (Holm).
    expected : float or None
        Of kind ``calibration``, the sum of the predicted probabilities.
    """

    kind: Literal["error", "calibration"]
    slice: str
    columns: tuple[str, ...]
    values: tuple[str, ...]
    n: Whole
    errors: Whole
    rate: Result
    rate_outside: float
    p: Share
    expected: float | None = None


@dataclass(frozen=True)
class WeakSlices:
    """The result of a search for weak slices.

    Parameters
    ----------
    searched : int
        Slices searched on each half of the rows.
    tested : int
        Of these, the worst ones, each tested on the other half.
    confirmed : tuple of WeakSlice
        Significantly worse there; those of kind ``error`` first.
    reason : str
        Why nothing was searched.
    """

    searched: Whole = 0
    tested: Whole = 0
    confirmed: tuple[WeakSlice, ...] = ()
    reason: str = ""

    @property
    def summary(self) -> str:
        """What was found, in one line without a full stop."""
        return _search_summary(self, "weak slice", "weak slices")


@dataclass(frozen=True)
class WorseSlice:
    """A slice in which a run makes more errors than its baseline; fields as of `WeakSlice`.

    Parameters
    ----------
    errors : int
        Wrong predictions of the run.
    difference : Estimate or Undefined
        Error rate of the run minus that of the baseline.
    difference_outside : float
        The same of all other rows.
    """

    kind: Literal["error"]
    slice: str
    columns: tuple[str, ...]
    values: tuple[str, ...]
    n: Whole
    errors: Whole
    difference: Result
    difference_outside: float
    p: Share


@dataclass(frozen=True)
class WorseSlices:
    """The result of a search for slices in which a run is worse; fields as of `WeakSlices`."""

    run: str
    baseline: str
    searched: Whole = 0
    tested: Whole = 0
    confirmed: tuple[WorseSlice, ...] = ()
    reason: str = ""

    @property
    def summary(self) -> str:
        """What was found, in one line without a full stop."""
        return _search_summary(self, "worse slice", "worse slices")


@dataclass(frozen=True)
class CorrectedDifference:
    """The difference of two corrected pass rates with its interval; the ends are None without one."""

    difference: float
    low: float | None
    high: float | None
    method: str

    @property
    def ends(self) -> tuple[float, float | None, float | None]:
        """The difference and the ends of its interval."""
        return self.difference, self.low, self.high


@dataclass(frozen=True)
class JudgedPair:
    """Pass rates of two runs as people would grade all items, estimated through one judge.

    Parameters
    ----------
    run, baseline : str
    n_human : int
        Items of both runs with human grades of both.
    rates : tuple of Estimate or Undefined
        Corrected pass rate of the run and of the baseline.
    corrected : CorrectedDifference
        Of the two rates, paired by item.
    """

    run: str
    baseline: str
    n_human: Whole
    rates: tuple[Result, Result]
    corrected: CorrectedDifference

    @property
    def summary(self) -> str:
        """The difference in one line without a full stop."""
        gap, limits = signed_gap(*self.corrected.ends, "percent")
        return (
            f"Pass rate corrected by people: “{self.run}” minus “{self.baseline}” is {gap} "
            f"({limits}; {self.n_human:,} items with human grades)"
        )


def _search_summary(found: WeakSlices | WorseSlices, one: str, several: str) -> str:
    if found.reason:
        return f"No {one} searched for: {found.reason}"
    if not found.confirmed:
        return f"No {one} confirmed among {found.searched:,} searched"
    first, n = found.confirmed[0], len(found.confirmed)
    more = "" if n == 1 else f" and {n - 1} more"
    noun = (one if n == 1 else several).capitalize()
    return f"{noun} confirmed among {found.searched:,} searched: {first.slice}{more}"


MISTAKES = 20
"""Maximum number of rows in the list of worst mistakes."""
SWAPS = 50
"""Pairs of labels, the most frequent first: the page shows a dozen, `evaluation.json` more."""
PAIRS = 120
"""Confusions that may carry example texts, two each: 240 texts are 30 kB of a page."""
TEXT = 140
"""Characters of an example text that the report shows."""
WHOLE = 1000
"""Characters of the text of a mistake that are kept, to be opened."""


def truncate_text(text: str, length: int = TEXT) -> str:
    """Return the text cut to a length, with an ellipsis where something is missing.

    Examples
    --------
    >>> truncate_text("abcdef", 4)
    'abc…'
    """
    short = text if len(text) <= length else text[: length - 1] + "…"
    return short.encode("utf-8", "replace").decode("utf-8")  # a half surrogate pair has no place in a file


def worst_mistakes(p: Predictions, limit: int = MISTAKES) -> tuple[Mistake, ...]:
    """Return the most confident wrong predictions; multilabel: the rows with most label errors.

    Without scores, rows of the most frequent confusions: one row of each in turn.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.labels import Multiclass
    >>> worst_mistakes(predictions(Multiclass(["a", "b"]), ["a", "b"], ["a", "a"]))[0].predicted
    ('a',)
    """
    if p.y_pred is None:
        return ()
    if isinstance(p.space, Multilabel):
        errors = (p.y_true != p.y_pred).sum(axis=1)
        wrong = np.flatnonzero(errors)
        key = doubt = -errors[wrong].astype(np.float64)
    else:
        wrong = np.flatnonzero((p.y_true != p.y_pred) & (p.weights > 0))
        sure = confidence(p, wrong)
        if sure is None:
            return tuple(_mistake(p, row) for row in _of_each_pair(p, wrong, limit))
        key = doubt = -np.nan_to_num(sure, nan=-np.inf)
        if not isinstance(p.scores, NoScores) and p.scores.values.ndim == 1:
            # 1 - 1e-20 is 1: of answers that seem equally sure the score tells more.
            doubt = np.where(p.y_pred[wrong] == 1, key, p.scores.values[wrong])
    if len(wrong) > limit:
        first = key <= np.partition(key, limit)[limit]
        wrong, key, doubt = wrong[first], key[first], doubt[first]
    chosen = wrong[np.lexsort((doubt, key))[:limit]]
    return tuple(_mistake(p, int(row)) for row in chosen)


def _of_each_pair(p: Predictions, wrong: npt.NDArray[np.intp], limit: int) -> list[int]:
    """Rows of different confusions in turn, then sorted by the frequency of their confusion."""
    pair = p.y_true[wrong].astype(np.int64) * (len(p.space) + 1) + np.asarray(p.y_pred)[wrong]
    _, code, count = np.unique(pair, return_inverse=True, return_counts=True)
    frequent = np.argsort(-count, kind="stable")[:limit]
    return in_turns([wrong[np.flatnonzero(code == which)[:limit]].tolist() for which in frequent], limit)


def in_turns(rows: Sequence[Sequence[int]], limit: int = MISTAKES) -> list[int]:
    """Return one row of each confusion in turn until there are enough, sorted by confusion.

    Parameters
    ----------
    rows : the rows of each confusion, most frequent first
    limit : int

    Examples
    --------
    >>> in_turns([[3, 4, 5], [1]], 3)
    [3, 4, 1]
    """
    turns = [(turn, rank, row) for rank, found in enumerate(rows) for turn, row in enumerate(found)]
    return [row for rank, row in sorted((rank, row) for _, rank, row in sorted(turns)[:limit])]


def confidence(p: Predictions, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64] | None:
    """Return the score of the answer of some rows; NaN for unparsed; None without scores.

    Binary probabilities give P(answer); binary decision scores their distance from the threshold.
    """
    if isinstance(p.scores, NoScores) or p.y_pred is None or p.y_true.ndim == 2:
        return None
    answer = p.y_pred[rows]
    if p.scores.values.ndim == 2:
        own = p.scores.values[rows, np.maximum(answer, 0)].astype(np.float64)
        return np.where(answer == UNPARSED, np.nan, own)
    values = p.scores.values[rows].astype(np.float64)
    if isinstance(p.scores, Probabilities):
        return np.where(answer == 1, values, 1 - values)
    middle = p.threshold.value if p.threshold is not None else 0.0
    distance: npt.NDArray[np.float64] = np.abs(values - np.asarray(middle))
    return distance


def _mistake(p: Predictions, row: int) -> Mistake:
    sure = confidence(p, np.array([row]))
    return Mistake(
        row=row,
        id=example_id(p, row),
        truth=answer_names(p, p.y_true, row),
        predicted=answer_names(p, p.y_pred, row),
        confidence=None if sure is None or not np.isfinite(sure[0]) else float(sure[0]),
        text=None if p.texts is None else truncate_text(p.texts[row], WHOLE),
        response=None
        if p.parsed is None or not p.parsed.texts
        else truncate_text(p.parsed.texts[row], WHOLE),
    )


def example_id(p: Predictions, row: int) -> str:
    """Return the id of a row, its position where rows have none."""
    return str(row) if p.ids is None else str(p.ids[row])


def answer_names(p: Predictions, codes: npt.NDArray[np.generic] | None, row: int) -> tuple[str, ...]:
    """Return the labels of a row: none where no label could be read."""
    if codes is None:
        return ()
    if codes.ndim == 2:
        return tuple(p.space.names[label] for label in np.flatnonzero(codes[row]))
    code = int(codes[row])
    return () if code == UNPARSED else (p.space.names[code],)


def one_label(p: Predictions, code: int) -> Predictions:
    """Return one label of a problem against all others, as a binary problem on the same rows.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> one_label(predictions(Multiclass("abc"), list("abc"), list("abb")), 1).y_pred
    array([0, 1, 1], dtype=int32)
    """
    name, point, scores = p.space.names[code], p.threshold, p.scores
    if point is not None and isinstance(point.value, tuple):
        point = replace(point, value=point.value[code])
    if not isinstance(scores, NoScores):
        scores = replace(scores, values=np.ascontiguousarray(scores.values[:, code]))
    return replace(
        p,
        space=Binary(negative=f"not {name}", positive=name),
        y_true=_column(p.y_true, code),
        y_pred=None if p.y_pred is None else _column(p.y_pred, code),
        scores=scores,
        threshold=point,
        parsed=None,
    )


def _column(codes: npt.NDArray[Any], code: int) -> npt.NDArray[np.int32]:
    return (codes[:, code] if codes.ndim == 2 else codes == code).astype(np.int32)


def swaps(p: Predictions) -> tuple[Swap, ...]:
    """Return label pairs of which one was missed and the other added, most frequent first.

    `by_chance` is the product of both error counts over the number of rows.
    """
    if p.y_pred is None or not isinstance(p.space, Multilabel):
        return ()
    left, added = p.y_true & ~p.y_pred, p.y_pred & ~p.y_true
    wrong = np.flatnonzero(left.any(axis=1) & added.any(axis=1))
    both = np.zeros((len(p.space), len(p.space)))
    for label, rows in enumerate(left[wrong].T):  # a row leaves out few labels: this beats a matrix product
        np.einsum("i,ij->j", p.weights[wrong[rows]], added[wrong[rows]], out=both[label])
    chance = np.outer(_weigh(p, left), _weigh(p, added)) / p.weights.sum()
    return top_swaps(p.space, both, chance)


def top_swaps(space: Multilabel, both: npt.NDArray[Any], chance: npt.NDArray[Any]) -> tuple[Swap, ...]:
    """Return the pairs of labels with the greatest weight.

    Parameters
    ----------
    both, chance : float64 arrays of shape (labels, labels)
        How often the first was missed and the second added, and how often by chance.

    Examples
    --------
    >>> top_swaps(Multilabel("ab"), np.array([[0.0, 2.0], [0.0, 0.0]]), np.ones((2, 2)))[0].rows
    2.0
    """
    order = np.argsort(-both, axis=None, kind="stable")[:SWAPS]
    pairs = [np.unravel_index(place, both.shape) for place in order]
    return tuple(
        Swap(space.names[a], space.names[b], float(both[a, b]), float(chance[a, b]))
        for a, b in pairs
        if both[a, b] > 0
    )


def _weigh(p: Predictions, rows: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    found: npt.NDArray[np.float64] = np.einsum("i,ij->j", p.weights, rows)
    return found


def pair_texts(p: Predictions, counts: Counts) -> tuple[tuple[int, int, tuple[str, ...]], ...]:
    """Return up to two texts of each of the most frequent confusions; nothing without texts."""
    if p.texts is None or p.y_pred is None:
        return ()
    top = counts.off_diagonal[:PAIRS]
    found = []
    for row, column in zip(counts.rows[top].tolist(), counts.columns[top].tolist(), strict=True):
        answer = UNPARSED if column == counts.size else column
        rows = np.flatnonzero((p.y_true == row) & (p.y_pred == answer))[:2]
        found.append((row, column, tuple(truncate_text(p.texts[int(i)]) for i in rows)))
    return tuple(found)
