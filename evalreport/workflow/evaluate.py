"""Where the decision is taken: a given threshold, one chosen on other rows, or a cross-fitted one.

From collected predictions to an evaluation with its findings and its origin.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import assert_never

from evalreport.core.bounds import is_bound
from evalreport.core.errors import DataError, UsageError
from evalreport.core.extensions import extensions, installed_extension, load_function
from evalreport.core.progress import report_progress
from evalreport.core.result import Undefined
from evalreport.data.labels import Binary, LabelSpace, Multiclass, Multilabel
from evalreport.data.predictions import Origin, OwnFunction, Predictions, Threshold
from evalreport.data.scores import NoScores, Probabilities, on_scale
from evalreport.evaluation.evaluate import evaluate_facts, evaluate_predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.ordered_rules import find
from evalreport.intervals.interval_settings import Sampling
from evalreport.metrics.operating_points import at_prevalence
from evalreport.statistics.class_scores import RankedScores
from evalreport.statistics.score_table import ScoreTable
from evalreport.thresholds.best_threshold import Choice, Optimum, Tuned, Unreachable
from evalreport.thresholds.class_thresholds import PartBound, part_bounds, part_threshold, table_threshold
from evalreport.thresholds.cross_fitting import evaluate_thresholds
from evalreport.thresholds.objectives import STANDARD, Objective
from evalreport.thresholds.per_label import LabelObjective, label_thresholds
from evalreport.thresholds.sweep import Sweep, scores_of_rows
from evalreport.workflow.collect import Collected
from evalreport.workflow.request import CollectedFacts, Request


@dataclass(frozen=True, eq=False)
class Decision:
    """Rows decided as wanted, and how the threshold (binary) or thresholds (multilabel) were chosen."""

    rows: Predictions
    sweep: Sweep | None = None
    tuned: Tuned | None = None


def decide_rows(
    rows: Predictions, wanted: str | None, tune_on: Predictions | None, sampling: Sampling
) -> Decision:
    """Return the rows decided as wanted, with the out-of-sample values of what was chosen.

    Parameters
    ----------
    rows : Predictions
        Those that are reported on.
    wanted : str or None
        A number, an objective (``max-f1``, ``youden``, ``cost:10``, ``recall>=0.95``, …), or nothing.
    tune_on : Predictions or None
        Other rows, on which an objective chooses.

    Raises
    ------
    UsageError
        A threshold for a multiclass problem or without scores, or an unknown objective.
    DataError
        No threshold keeps the constraint; names the best that can be reached.
    """
    check_threshold_holdable(rows.space, sampling, wanted)
    number = None if wanted is None else number_of(wanted)
    if tune_on is not None and (wanted is None or number is not None):
        raise UsageError(
            "there are rows to tune on, but no objective",
            where="--tune-on",
            fix="name the objective, as in --threshold max-f1",
        )
    if wanted is None:
        return Decision(rows)
    if isinstance(rows.space, Multiclass):
        raise no_threshold()
    if isinstance(rows.scores, NoScores):
        raise no_scores_to_decide()
    if number is not None:
        (value,) = on_scale([number], probabilities=isinstance(rows.scores, Probabilities))
        return Decision(rows.with_threshold(Threshold(value, "given")))
    origin: Origin = "cross-fitted" if tune_on is None else "tuned"
    match rows.space:
        case Binary():
            return _binary(rows, wanted, tune_on, sampling, origin)
        case Multilabel():
            return _per_label(rows, wanted, tune_on, sampling, origin)
        case never:
            assert_never(never)


def no_threshold() -> UsageError:
    """Return the error of a threshold where the highest score of a row decides."""
    return UsageError("a multiclass problem has no decision threshold", fix="leave --threshold out")


def number_of(text: str) -> float | None:
    """Return the threshold that a text says; None where it says an objective.

    Raises
    ------
    UsageError
        A number that is not finite.

    Examples
    --------
    >>> number_of("0.5"), number_of("max-f1")
    (0.5, None)
    """
    try:
        number = float(text)
    except ValueError:
        return None
    if math.isfinite(number):
        return number
    raise UsageError(
        f"--threshold {text} is not a number", fix="pass a finite number, or an objective such as max-f1"
    )


def _binary(
    rows: Predictions, wanted: str, tune_on: Predictions | None, sampling: Sampling, origin: Origin
) -> Decision:
    check_both_classes(tune_on)
    point, sweep = choose_threshold(
        table_of(rows), wanted, sampling, rows=rows, tune_on=tune_on, origin=origin
    )
    return Decision(rows.with_threshold(point), sweep)


def choose_threshold(
    table: ScoreTable,
    wanted: str,
    sampling: Sampling,
    *,
    rows: Predictions | None = None,
    tune_on: Predictions | None = None,
    origin: Origin = "cross-fitted",
) -> tuple[Threshold, Sweep]:
    """Return the threshold that an objective chooses, with the sweep that it was chosen among.

    Parameters
    ----------
    table : ScoreTable
        Of the rows that are reported on.
    wanted : str
        An objective.
    rows, tune_on : Predictions, optional
        Those rows, needed where they weigh or belong together; and others, to choose on.

    Raises
    ------
    UsageError
        An unknown objective.
    DataError
        No threshold keeps the constraint.
    """
    objective = Objective.parse(wanted)
    named = [other for other in STANDARD if other.name != objective.name]
    sweep = evaluate_thresholds(
        table, rows, tune_on=tune_on, objectives=(*named, objective), sampling=sampling
    )
    return Threshold(_selected_threshold(sweep.optima[objective.name], wanted), origin), sweep


def _selected_threshold(choice: Choice, wanted: str) -> float:
    """The threshold of a choice.

    Raises
    ------
    DataError
        There is none.
    """
    match choice:
        case Optimum():
            return _constraint_threshold(choice, wanted)
        case Unreachable() | Undefined():
            raise DataError(
                f"no threshold can be chosen by {wanted}: {choice.reason}",
                where="--threshold",
                fix="relax the constraint, or pass a number",
            )
        case never:
            assert_never(never)


def _per_label(
    rows: Predictions, wanted: str, tune_on: Predictions | None, sampling: Sampling, origin: Origin
) -> Decision:
    bounds = part_bounds(wanted, rows.space)
    if bounds:
        check_each(bounds, rows.space, wanted)
        chosen = [part_threshold(rows, bound, tune_on=tune_on, sampling=sampling) for bound in bounds]
        return Decision(rows.with_threshold(_of_bounds(chosen, bounds, rows.space, origin)))
    found = label_thresholds(rows, label_goal(wanted), tune_on=tune_on, sampling=sampling)
    if isinstance(found, Undefined):
        raise DataError(
            f"no thresholds can be chosen: {found.reason}", where="--threshold", fix="pass a number"
        )
    return Decision(rows.with_threshold(Threshold(tuple(found.values.values()), origin)), tuned=found)


def label_goal(wanted: str) -> str:
    """Return the name of the objective that thresholds of several labels are chosen by.

    Examples
    --------
    >>> label_goal("max-f1"), label_goal("max-f1_micro")
    ('f1_macro', 'f1_micro')
    """
    goal = wanted.removeprefix("max-")
    return "f1_macro" if goal == "f1" else goal


def is_chosen_by_function(wanted: str) -> bool:
    """Return whether a threshold is chosen by a function of the user's, whose module is imported.

    Everything that is not a number, a constraint, or a built-in objective.

    Examples
    --------
    >>> [is_chosen_by_function(text) for text in ("0.5", "max-f1", "cost:10", "max-scoring:value")]
    [False, False, False, True]
    """
    with suppress(UsageError):
        if number_of(wanted) is not None or Objective.parse(wanted):
            return False
    return not is_bound(wanted) and LabelObjective.is_function(label_goal(wanted))


def check_each(bounds: Sequence[PartBound], space: LabelSpace, wanted: str) -> None:
    """Refuse the bound of one label where each needs a threshold.

    Raises
    ------
    UsageError
    """
    if bounds[0].label is not None and len(bounds) < len(space):
        raise UsageError(
            f"{wanted} applies to one label, and each needs a threshold",
            where="--threshold",
            fix=f"constrain every label: {bounds[0].objective.name}",
        )


def _of_bounds(
    chosen: Sequence[Choice], bounds: Sequence[PartBound], space: LabelSpace, origin: Origin
) -> Threshold:
    at = [_selected_threshold(choice, bound.name) for choice, bound in zip(chosen, bounds, strict=True)]
    return Threshold(tuple(at if len(at) > 1 else at * len(space)), origin)


def label_bounds(wanted: str, space: LabelSpace) -> tuple[PartBound, ...]:
    """Return the bounds by which each label's threshold is chosen from its scores alone; else none.

    Raises
    ------
    UsageError
        A bound that is not understood, or of one label alone.
    """
    bounds = part_bounds(wanted, space)
    if not bounds or bounds[0].label is None:
        return ()
    check_each(bounds, space, wanted)
    return bounds


def chosen_label_by_label(
    scores: RankedScores, space: LabelSpace, wanted: str, sampling: Sampling
) -> Threshold:
    """Return the threshold of each label that keeps a bound best.

    Raises
    ------
    DataError
        No threshold of some label keeps it.
    """
    bounds = label_bounds(wanted, space)
    tables = (scores.table(label) for label in range(scores.size))
    chosen = [
        table_threshold(table, bound, sampling=sampling) for table, bound in zip(tables, bounds, strict=True)
    ]
    return _of_bounds(chosen, bounds, space, "cross-fitted")


def _constraint_threshold(choice: Optimum, wanted: str) -> float:
    """The threshold that meets a constraint with confidence on request, else the best in the sample."""
    if choice.at_confidence is None:
        return choice.threshold
    if choice.at_confidence.threshold is None:
        raise DataError(
            f"{wanted} {choice.at_confidence.reason}",
            where="--set constraint_confidence",
            fix="relax the constraint, remove --set constraint_confidence, or use more rows",
        )
    return choice.at_confidence.threshold


def check_threshold_holdable(space: LabelSpace, sampling: Sampling, wanted: str | None) -> None:
    """Refuse to hold a bound where the threshold that is wanted, if any, has none.

    Raises
    ------
    UsageError
    """
    bounds = () if wanted is None or isinstance(space, Multiclass) else (wanted,)
    several = 'sweep thresholds --objective "accuracy>=0.95"'
    check_holdable(
        space, sampling, bounds, several if isinstance(space, Multiclass) else '--threshold "recall>=0.9"'
    )


def check_holdable(space: LabelSpace, sampling: Sampling, objectives: Sequence[str], ask: str) -> None:
    """Refuse to hold a bound where none is asked for; of two classes there always is one.

    Parameters
    ----------
    objectives : sequence of str
        What is asked for.
    ask : str
        How to ask for a bound.

    Raises
    ------
    UsageError
    """
    if sampling.constraint_confidence is None or isinstance(space, Binary) or any(map(is_bound, objectives)):
        return
    raise UsageError(
        f"there is no constraint; these are {len(space)} labels",
        where="--set constraint_confidence",
        fix=f"ask for one, as in {ask}, or leave --set constraint_confidence out",
    )


def check_both_classes(tune_on: Predictions | None) -> None:
    """Refuse rows to tune on in which but one class of a binary problem occurs.

    Raises
    ------
    DataError
    """
    if tune_on is None or len({*tune_on.y_true.tolist()}) > 1:
        return
    name = tune_on.space.names[int(tune_on.y_true[0])]
    raise DataError(
        f"the rows to tune on are all {name!r}: no threshold can be chosen on one class",
        where="--tune-on",
        fix="tune on rows of both classes",
    )


def no_scores_to_decide() -> UsageError:
    """Return the error of a threshold without scores."""
    return UsageError(
        "--threshold needs scores, and there are none", fix="name them with --score or --scores"
    )


def no_scores() -> UsageError:
    """Return the error of thresholds that are sought without scores."""
    return UsageError("there are no scores to sweep", fix="name them with --score or --scores")


def table_of(rows: Predictions) -> ScoreTable:
    """Return the score table of a binary problem.

    Raises
    ------
    UsageError
        There are no scores.
    """
    if isinstance(rows.scores, NoScores):
        raise no_scores()
    return scores_of_rows(rows)


logger = logging.getLogger(__name__)


def deployment_metrics(space: LabelSpace, prevalence: float | None) -> tuple[str, ...]:
    """Return the names of the metrics that a stated prevalence of deployment asks for.

    Raises
    ------
    UsageError
        A prevalence outside of 0 to 1, or for a problem that is not binary.
    """
    if prevalence is None:
        return ()
    if not isinstance(space, Binary):
        raise UsageError(
            f"a prevalence needs two classes; these are {len(space)} labels",
            where="--set prevalence",
            fix="leave --set prevalence out",
        )
    if not 0 < prevalence < 1:
        raise UsageError(
            f"prevalence {prevalence} is not between 0 and 1", where="--set prevalence", fix="pass 0.01"
        )
    return at_prevalence(prevalence)


def _own_metrics(request: Request) -> Mapping[str, OwnFunction]:
    """Return the functions of the user's own that a request names, and those of installed packages.

    Raises
    ------
    UsageError
        A function that cannot be imported.
    """
    named = dict.fromkeys(name for name in (*request.metrics, *request.points) if ":" in name)
    return {
        **{name: load_function(name, "metric") for name in named},
        **{one.name: one.load() for one in extensions("own_metrics")},
        **request.extra_metrics,
    }


def evaluate_collected(
    collected: Collected, request: Request, tune_on: Predictions | None = None
) -> Evaluation:
    """Evaluate what was collected.

    Parameters
    ----------
    tune_on : Predictions, optional
        Other rows, on which the threshold is chosen.
    """
    report_progress(f"evaluating {len(collected.predictions):,} rows")
    own = _own_metrics(request)
    decision = decide_rows(collected.predictions, request.threshold, tune_on, request.sampling)
    rows = replace(decision.rows, own_metrics=own)
    if request.no_examples or collected.sensitive:
        rows = replace(rows, texts=None)
    ev = evaluate_predictions(
        rows,
        request.sampling,
        only=[name for name in request.metrics if name not in own],
        more=(
            *deployment_metrics(rows.space, request.prevalence),
            *(name for name in request.points if name not in own),
        ),
        sweep=decision.sweep,
        tuned=decision.tuned,
    )
    if request.find_slices and request.sampling.intervals:
        search = installed_extension("slice_searches", "weak slices")
        ev = ev if search is None else ev.with_fields(weak_slices=search(rows, request.sampling))
    answers = None if collected.response_metrics is None else collected.response_metrics(request.sampling)
    ev = ev.with_fields(provenance=collected.provenance, repeated_responses=answers)
    if request.no_examples or collected.sensitive:
        ev = replace(ev, mistakes=(), pair_texts=(), data_checks={**ev.data_checks, "withheld": 1.0})
    logger.debug("evaluated %s rows, %d metrics", f"{ev.rows:,}", len(ev.metrics))
    if collected.completed is not None:
        return collected.completed(ev)
    return ev.with_fields(findings=find(ev) if request.sampling.intervals else partial(find, ev))


def evaluated_facts(collected: CollectedFacts, request: Request) -> Evaluation:
    """Evaluate what was counted of a stream."""
    seen = collected.seen
    report_progress(f"evaluating {seen.summary.rows:,} rows")
    ev = evaluate_facts(
        seen,
        request.sampling,
        only=request.metrics,
        more=(*deployment_metrics(seen.summary.space, request.prevalence), *request.points),
        sweep=collected.sweep,
        tuned=None if request.threshold is None else next(iter(collected.tuned.values()), None),
    )
    ev = replace(ev, provenance=collected.provenance)
    if request.no_examples or collected.sensitive:
        ev = replace(ev, mistakes=(), data_checks={**ev.data_checks, "withheld": 1.0})
    return replace(ev, findings=find(ev))
