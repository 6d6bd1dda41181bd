"""What thresholds of several labels are sought for, and how they are chosen of rows that stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalreport.bounds import is_bound
from evalreport.errors import UsageError
from evalreport.evaluation.streamed import Watch
from evalreport.labels import LabelSpace, Multiclass, Multilabel
from evalreport.predictions import Predictions, Threshold
from evalreport.sources.streams import MEMORY, PredictionStream
from evalreport.stages import stage
from evalreport.thresholds.label_optima import LabelObjective
from evalreport.thresholds.one_against_rest import PartBound, part_bounds
from evalreport.thresholds.records import Tuned
from evalreport.thresholds.streamed_labels import StreamedLabels
from evalreport.workflow.request import Request
from evalreport.workflow.thresholds import (
    chosen_label_by_label,
    label_bounds,
    label_goal,
    no_scores,
    number_of,
)

EACH_LABEL = ("f1_macro", "f1_micro")
ADVICE = f"pass {MEMORY}, or ask for f1_macro, f1_micro or a bound of each label, such as recall>=0.9"


@dataclass(frozen=True)
class LabelAims:
    """Bounds of labels, and objectives of all labels, each by its name."""

    bounds: Mapping[str, PartBound]
    goals: Mapping[str, LabelObjective]


def label_aims(objectives: Sequence[str], space: LabelSpace) -> LabelAims:
    """Read what is asked for; without anything, what is usual.

    Raises
    ------
    UsageError
        An objective that is not known, or stands twice.

    Examples
    --------
    >>> list(label_aims(["max-f1", "recall[a]>=0.9"], Multilabel("ab")).goals)
    ['f1_macro']
    """
    check_cost(objectives, "several labels", "an objective of yours: --objective module:function")
    objectives = objectives or EACH_LABEL
    bounds = {bound.name: bound for name in objectives for bound in part_bounds(name, space)}
    names = [label_goal(name) for name in objectives if not is_bound(name)]
    check_distinct(names)
    return LabelAims(bounds, {name: LabelObjective.parse(name) for name in names})


def check_cost(objectives: Sequence[str], what: str, instead: str) -> None:
    """Refuse a cost of misses where there are more than two classes.

    Raises
    ------
    UsageError
    """
    if any(name.split(":")[0] == "cost" for name in objectives):
        raise UsageError(
            f"a cost of misses is for two classes; these are {what}", where="--cost", fix=f"use {instead}"
        )


def check_distinct(names: Sequence[str]) -> None:
    """Refuse an objective that stands twice.

    Raises
    ------
    UsageError
    """
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise UsageError(
            f"two objectives are named {twice}", where="--objective", fix="ask for one of them at a time"
        )


def goals_of_stream(
    stream: PredictionStream, request: Request, sought: Sequence[str] | None
) -> tuple[LabelObjective, ...]:
    """Return the objectives that thresholds of several labels are chosen by; none where nothing asks.

    Raises
    ------
    UsageError
        What is chosen on rows that are held; no scores to choose by.
    """
    if sought is not None and isinstance(stream.space, Multiclass):
        raise chosen_by_row()
    asked = _asked(request) if sought is None else sought
    if not isinstance(stream.space, Multilabel) or asked is None:
        return ()
    if stream.found.scores is None:
        raise no_scores()
    if sought is None:
        label_bounds(asked[0], stream.space)  # refused before a row is counted
    aims = label_aims(asked, stream.space)
    alone = [goal.name for goal in aims.goals.values() if goal.kind not in ("each", "pooled")]
    alone += [name for name, bound in aims.bounds.items() if bound.label is None]
    if alone:
        raise UsageError(
            f"thresholds for {alone[0]} are chosen and judged on label sets of rows: a stream cannot",
            where="--threshold" if sought is None else "--objective",
            fix=ADVICE,
        )
    return tuple(aims.goals.values())


def chosen_by_row() -> UsageError:
    """Return the error of what is chosen of several classes where no rows are held."""
    return UsageError(
        "cut-offs and weights of classes are chosen row by row: a stream cannot",
        fix=f"pass the rows, with {MEMORY}",
    )


def not_at_hand(name: str) -> UsageError:
    """Return the error of an objective that needs rows where facts are all there is."""
    return UsageError(f"thresholds for {name} are judged on rows, which are not at hand", fix=ADVICE)


def _asked(request: Request) -> tuple[str] | None:
    """What `--threshold` seeks."""
    wanted = request.threshold
    return None if wanted is None or number_of(wanted) is not None else (wanted,)


def passed_again(
    stream: PredictionStream, watch: Watch, goals: Sequence[LabelObjective], request: Request
) -> Mapping[str, Tuned]:
    """Let the rows of a stream go by again, as often as is needed, once all were counted.

    Returns
    -------
    What was chosen for each objective.
    """
    scores = watch.label_scores()
    if scores is None or not goals:
        if scores is not None and _asked(request) and request.threshold is not None:
            point = chosen_label_by_label(scores, watch.space, request.threshold, request.sampling)
            watch.decide_anew(point)
        if watch.again(request.sampling):
            _pass(stream, watch, "rows placed", watch.place)
        return {}
    names, likely = watch.space.names, stream.found.score_kind != "decision"
    held = watch.holders.budget
    with StreamedLabels(names, scores, goals, held, request.sampling, probabilities=likely) as choice:
        if request.threshold is not None:
            first = choice.points[goals[0].name]
            watch.decide_anew(Threshold(tuple(first.tolist()), "cross-fitted"))
        watch.again(request.sampling)

        def placed(batch: Predictions, ids: Any) -> None:
            watch.place(batch, ids)
            choice.deal(batch)

        _pass(stream, watch, "rows placed", placed)
        choice.settle()
        if choice.is_folded:
            _pass(stream, watch, "rows judged", lambda batch, _: choice.judge(batch))
        return choice.found()


def _pass(
    stream: PredictionStream, watch: Watch, what: str, take: Callable[[Predictions, Any], None]
) -> None:
    """Read the rows again."""
    done = 0
    for batch, ids in stream.batches():
        take(batch, ids)
        done += len(batch)
        stage(what, done, watch.rows)
