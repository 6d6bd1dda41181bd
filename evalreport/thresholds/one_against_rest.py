"""Bounds of labels or classes: the threshold of one against the rest, and one common to all labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evalreport.core.bounds import Bound, is_bound
from evalreport.core.errors import UsageError, nearest
from evalreport.data.labels import Binary, LabelSpace, Multilabel
from evalreport.data.predictions import Categorical, Predictions
from evalreport.data.scores import NoScores
from evalreport.intervals.settings import Sampling
from evalreport.metrics.catalogue import OF_ALL
from evalreport.statistics.score_table import ScoreTable
from evalreport.thresholds.best_threshold import Choice, Hold, Optimum, Unreachable
from evalreport.thresholds.cross_fitting import check_alike, evaluate_thresholds
from evalreport.thresholds.objectives import Objective
from evalreport.thresholds.sweep import scores_of_rows

REST = Binary("rest", "label")
_NAMES = {binary: name for name, binary in OF_ALL.items()}


@dataclass(frozen=True)
class PartBound:
    """A bound on one label or class against the rest, or on all labels together.

    Parameters
    ----------
    name : str
        Key of the objective, as in ``recall[joy]>=0.9`` or ``recall_micro>=0.9``.
    label : int or None
        Code of the label; None for all of them together.
    objective : Objective
        Of the binary problem that it is.
    """

    name: str
    label: int | None
    objective: Objective


def part_bounds(text: str, space: LabelSpace) -> tuple[PartBound, ...]:
    """Read an objective as bounds of labels; none of them where it is no bound.

    Parameters
    ----------
    text : str
        ``recall[joy]>=0.9`` of one label or class; ``recall>=0.9`` of each; ``recall_micro>=0.9`` of all
        labels together, at one threshold for all.

    Raises
    ------
    UsageError
        A bound that is not understood, of no such label, or of an average that no threshold is chosen by.

    Examples
    --------
    >>> [bound.name for bound in part_bounds("recall >= 90%", Multilabel("ab"))]
    ['recall[a]>=0.9', 'recall[b]>=0.9']
    >>> part_bounds("f1_macro", Multilabel("ab"))
    ()
    """
    if not is_bound(text):
        return ()
    where = f"objective {text!r}"
    bound = Bound.parse(text, where=where)
    if isinstance(space, Multilabel) and not bound.part and bound.metric in OF_ALL:
        binary = replace(bound, metric=OF_ALL[bound.metric])
        return (PartBound(bound.key, None, Objective.parse(binary.text)),)
    if bound.metric.partition("_")[2] in ("macro", "weighted", "samples", "supported"):
        raise UsageError(
            f"{bound.metric} is an average, by which no threshold can be held",
            where=where,
            fix="bound every label: recall>=0.9; then their average keeps it, too",
        )
    if bound.part and bound.part not in space.names:
        raise UsageError(
            f"there is no label {bound.part!r}", where=where, fix=nearest(bound.part, space.names)
        )
    objective = Objective.parse(replace(bound, part="").text)
    parts = (bound.part,) if bound.part else space.names
    return tuple(
        PartBound(replace(bound, part=name).key, space.names.index(name), objective) for name in parts
    )


def part_threshold(
    rows: Predictions, bound: PartBound, *, tune_on: Predictions | None = None, sampling: Sampling
) -> Choice:
    """Return the best threshold under a bound of one label, or of all together.

    Where all labels have one threshold, the rows of the binary problem are the decisions, and those of one
    example belong together: it is folded, drawn and counted whole.

    Parameters
    ----------
    rows : Predictions
        Of several labels or classes, with scores.
    tune_on : Predictions, optional
        Other rows that it is chosen on; without them its value elsewhere is cross-fitted.

    Raises
    ------
    UsageError
        Labels or scores unlike those of `tune_on`.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> from evalreport.data.scores import Probabilities
    >>> scores = Probabilities([[0.2, 0.7], [0.6, 0.3], [0.1, 0.2], [0.4, 0.1]])
    >>> rows = predictions(Multilabel("ab"), [["b"], ["a", "b"], [], ["a"]], scores=scores)
    >>> both = part_bounds("recall>=1", rows.space)
    >>> [part_threshold(rows, bound, sampling=Sampling()).threshold for bound in both]
    [0.4, 0.3]
    >>> part_threshold(rows, *part_bounds("recall_micro>=1", rows.space), sampling=Sampling()).threshold
    0.3
    """
    if tune_on is not None:
        check_alike(rows, tune_on)
    own, other = (None if p is None else _against_rest(p, bound.label) for p in (rows, tune_on))
    assert own is not None  # noqa: S101  of these rows there always is one
    return table_threshold(scores_of_rows(own), bound, rows=own, tune_on=other, sampling=sampling)


def table_threshold(
    table: ScoreTable,
    bound: PartBound,
    *,
    rows: Predictions | None = None,
    tune_on: Predictions | None = None,
    sampling: Sampling,
) -> Choice:
    """Return the best threshold of a label's score table under a bound; `rows` as of `judged`.

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.2, 0.6, 0.4]), np.array([False, True, True]))
    >>> table_threshold(table, part_bounds("recall>=1", Multilabel("a"))[0], sampling=Sampling()).threshold
    0.4
    """
    sweep = evaluate_thresholds(table, rows, tune_on=tune_on, objectives=[bound.objective], sampling=sampling)
    return _rename_choice(sweep.optima[bound.objective.name], bound)


def _against_rest(rows: Predictions, label: int | None) -> Predictions:
    """The binary problem of one label, or of every decision."""
    plain = replace(
        rows, space=REST, y_pred=None, threshold=None, texts=None, ids=None, slices={}, parsed=None
    )
    assert not isinstance(rows.scores, NoScores)  # noqa: S101  asked before
    values, width = rows.scores.values, len(rows.space)
    if label is not None:
        true = rows.y_true[:, label] if rows.y_true.ndim == 2 else rows.y_true == label
        scores = replace(rows.scores, values=np.ascontiguousarray(values[:, label]))
        return replace(plain, y_true=true.astype(np.int32), scores=scores)
    groups = rows.groups or Categorical(np.arange(len(rows), dtype=np.int32), ())
    return replace(
        plain,
        y_true=rows.y_true.astype(np.int32).ravel(),
        scores=replace(rows.scores, values=values.ravel()),
        weights=np.repeat(rows.weights, width),
        groups=replace(groups, codes=np.repeat(groups.codes, width)),
        folds=None,
    )


def _rename_choice(choice: Choice, bound: PartBound) -> Choice:
    """The choice under the name of its bound, with metrics by their names of all labels together."""

    def name(metric: str) -> str:
        return metric if bound.label is not None else _NAMES.get(metric, metric)

    if isinstance(choice, Unreachable):
        return replace(choice, objective=bound.name, text=bound.name, metric=name(choice.metric))
    if not isinstance(choice, Optimum):
        return choice
    return replace(
        choice,
        objective=bound.name,
        text=bound.name,
        metric=name(choice.metric),
        constraint=None
        if choice.constraint is None
        else replace(choice.constraint, metric=name(choice.constraint.metric)),
        at_confidence=None
        if choice.at_confidence is None
        else _hold_named(choice.at_confidence, name(choice.metric)),
    )


def _hold_named(hold: Hold, metric: str) -> Hold:
    return hold if hold.costs is None else replace(hold, costs=replace(hold.costs, metric=metric))
