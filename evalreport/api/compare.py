"""Comparisons and sweeps in Python, as a notebook asks for them and shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy.typing as npt

from evalreport.api.evaluate import convert_to_view, draw
from evalreport.api.input import public_api, tuning_rows
from evalreport.comparison import compare as comparing
from evalreport.comparison import comparison
from evalreport.core.errors import UsageError
from evalreport.core.extensions import extension
from evalreport.core.result import Estimate
from evalreport.evaluation import evaluation
from evalreport.figures.plots import differences, objective_curves, pr_curve, roc_curve
from evalreport.page.comparison.table import (
    DIFFERENCE_COLUMNS,
    RANKING_COLUMNS,
    comparison_ranking,
    table_data,
)
from evalreport.page.payload import present
from evalreport.page.render import Result, render_comparison_brief, render_summary
from evalreport.thresholds.best_threshold import Cutoff, Optimum
from evalreport.thresholds.objectives import CostMatrix, Objective, stated_costs
from evalreport.thresholds.trial import Judging
from evalreport.thresholds.trial_search import Search, Trials
from evalreport.workflow.choose_thresholds import ThresholdRequest, select_thresholds
from evalreport.workflow.collect import Collected
from evalreport.workflow.request import Request

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from evalreport.features.studies.sweep_trials import PlottedStudy
    from evalreport.features.systems.variance import SystemsComparison


class Comparison(Result, comparison.Comparison):
    """Several runs against a baseline, or all against all; made by `compare`.

    Frozen. ``comparison.of(metric)`` gives the differences of a metric; `er.to_html` makes its page.

    Parameters
    ----------
    names : tuple of str
    differences, parts : tuple of Difference
        Over all rows; by class and by slice.
    pairings, mcnemar, delong, movement : tuple
        Pair by pair.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = ["a", "b", "c", "d"] * 10
    >>> found = er.compare([er.evaluate(truth, answers) for answers in (["a"] * 40, truth)])
    >>> found.movement[0].fixed, found._repr_html_().count("<table>")
    (30, 1)
    """

    @property
    def plot(self) -> ComparisonPlots:
        """The figures of this comparison."""
        return ComparisonPlots(self)

    def _repr_html_(self) -> str:
        return render_comparison_brief(self)

    def to_frame(self, table: Literal["differences", "ranking"] = "differences") -> pd.DataFrame:
        """Return every difference, or the runs by the primary metric, one a row.

        Parameters
        ----------
        table : {"differences", "ranking"}

        Returns
        -------
        pandas.DataFrame
            The columns of ``differences.csv`` and ``ranking.csv``.
        """
        import pandas as pd

        if table == "ranking":
            return pd.DataFrame(table_data(RANKING_COLUMNS, comparison_ranking(self)))
        return pd.DataFrame(table_data(DIFFERENCE_COLUMNS, [*self.differences, *self.parts]))


@dataclass(frozen=True)
class ComparisonPlots:
    """The figures of a comparison, each a matplotlib `Figure`; with `ax` it is drawn on these axes."""

    comparison: comparison.Comparison

    def differences(self, ax: Axes | None = None) -> Figure:
        """Difference of each metric with its interval."""
        return draw(differences, self.comparison, ax)

    def roc(self, ax: Axes | None = None) -> Figure:
        """ROC curves of all runs."""
        return draw(lambda found: roc_curve(*found.evaluations), self.comparison, ax)

    def precision_recall(self, ax: Axes | None = None) -> Figure:
        """Precision-recall curves of all runs."""
        return draw(lambda found: pr_curve(*found.evaluations), self.comparison, ax)


@overload
def compare(
    evaluations: Sequence[evaluation.Evaluation],
    baseline: int | None = 0,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] = (),
    primary: str | None = None,
    unpaired: bool = False,
    cost: float | str | None = None,
) -> Comparison: ...


@overload
def compare(
    *,
    systems: Mapping[str, Sequence[evaluation.Evaluation]],
    metrics: Sequence[str] = (),
    primary: str | None = None,
) -> SystemsComparison: ...


@public_api
def compare(
    evaluations: Sequence[evaluation.Evaluation] = (),
    baseline: int | None = 0,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] = (),
    primary: str | None = None,
    unpaired: bool = False,
    cost: float | str | None = None,
    systems: Mapping[str, Sequence[evaluation.Evaluation]] | None = None,
) -> Comparison | SystemsComparison:
    """Compare runs, paired wherever the same examples are proven, or systems of several runs each.

    Parameters
    ----------
    evaluations : two to twenty evaluations
    baseline : int or None
        Position of the run to compare with; None compares every pair.
    names : sequence of str, optional
        What to call the runs; their own names otherwise, made distinct.
    metrics : sequence of str
        Instead of the headline metrics.
    primary : str, optional
        The metric that the verdict is about.
    unpaired : bool
        The runs were scored on other examples: nothing is matched.
    cost : float or str, optional
        For two classes: the cost of a miss in false positives, or ``fp=1,fn=10,tp=0,tn=0``. The runs are
        then also matched where that is lowest (``matched``).
    systems : mapping from a system's name to its evaluations, optional
        In place of `evaluations`: runs of one system differ by their seed alone. All runs are compared on
        the rows that they share, and intervals cover new rows and new seeds.

    Returns
    -------
    Comparison or SystemsComparison

    Raises
    ------
    UsageError
        Fewer than two or too many runs or systems, different tasks, levels or label pairs, an unknown metric.
    DataError
        The same example has another truth in two runs; systems that share no rows.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = ["a", "b", "c", "d"] * 10
    >>> found = er.compare([er.evaluate(truth, answers) for answers in (["a"] * 40, truth)])
    >>> (
    ...     round(found.differences_for("accuracy")[0].difference, 2),
    ...     found.differences_for("accuracy")[0].verdict,
    ... )
    (0.75, 'better')
    """
    if systems is not None:
        if len(evaluations):
            raise UsageError("both runs and systems are given", fix="pass only er.compare(systems={...})")
        compared: SystemsComparison = extension("api", "comparing systems")(
            systems, metrics=metrics, primary=primary
        )
        return compared
    if baseline and baseline not in range(len(evaluations)):
        raise UsageError(
            f"there is no run {baseline}",
            where="baseline",
            fix=f"pass its position, 0 to {len(evaluations) - 1}, or None",
        )
    if names and len(names) != len(evaluations):
        raise UsageError(
            f"there are {len(names)} names for {len(evaluations)} runs",
            where="names",
            fix="pass one for each",
        )
    found = comparing.compare(
        evaluations,
        baseline,
        names=names,
        metrics=metrics,
        primary=primary,
        unpaired=unpaired,
        costs=None if cost is None else stated_costs(str(cost)),
    )
    return convert_to_view(Comparison, found)


class PlottedSelection(Result, evaluation.ThresholdSelection):
    """What was chosen for each objective; made by `sweep`.

    ``found[name]`` is what was chosen for one of them, ``found.best`` for the first. `to_html`, `report` and
    `log` take it.
    """

    def __repr__(self) -> str:
        return f"ThresholdSelection({present(self).headline})"

    def _repr_html_(self) -> str:
        return render_summary(self)

    @property
    def plot(self) -> SelectionPlots:
        """The figures of this choice."""
        return SelectionPlots(self)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per objective, and per label where each has its own threshold.

        Returns
        -------
        pandas.DataFrame
            Columns objective, label, threshold (of classes: their weight), low, high, apparent (on the
            rows of the choice), held_out, held_out_low, held_out_high.
        """
        import pandas as pd

        rows: list[dict[str, Any]] = []
        chosen: list[tuple[str, Optimum | Cutoff]] = [*self.optima.items(), *self.cutoffs.items()]
        for name, best in chosen:
            apparent = best.apparent if isinstance(best, Optimum) else best.coverage
            limits = {"threshold": best.threshold, "low": best.low, "high": best.high}
            held_out = None if best.out_of_sample is None else best.out_of_sample.value
            rows.append(
                {
                    "objective": name,
                    "label": None,
                    **limits,
                    "apparent": apparent,
                    **_held_out_columns(held_out),
                }
            )
        for name, tuned in self.tuned_choices.items():
            rows += [
                {
                    **{"objective": name, "label": label, "threshold": value, "low": None, "high": None},
                    **{"apparent": tuned.apparent, **_held_out_columns(tuned.out_of_sample.value)},
                }
                for label, value in tuned.values.items()
            ]
        columns = ["objective", "label", "threshold", "low", "high", "apparent", *_held_out_columns(None)]
        return pd.DataFrame(rows, columns=columns)


def _held_out_columns(found: Any) -> dict[str, float | None]:
    """Return the held-out value of a choice and its interval as columns."""
    known = found if isinstance(found, Estimate) else None
    ends = (None, None, None) if known is None else (known.value, known.low, known.high)
    return dict(zip(("held_out", "held_out_low", "held_out_high"), ends, strict=True))


@dataclass(frozen=True)
class SelectionPlots:
    """The figures of a choice of thresholds; with `ax` one objective is drawn on these axes."""

    selection: evaluation.ThresholdSelection

    def objectives(self, ax: Axes | None = None) -> Figure:
        """Each objective over the threshold, with the best one and its interval (binary).

        Raises
        ------
        UsageError
            The result has several thresholds.
        """
        return draw(objective_curves, self.selection, ax)


@overload
def sweep(what: Trials, objective: str | None = None, *, judging: Judging | None = None) -> PlottedStudy: ...


@overload
def sweep(
    what: evaluation.Evaluation,
    objective: str | Sequence[str] | None = None,
    *,
    tune_on: evaluation.Evaluation | None = None,
    costs: npt.ArrayLike | None = None,
    trials: int | None = None,
    constraint_confidence: float | None = None,
    prevalence: float | None = None,
) -> PlottedSelection: ...


@public_api
def sweep(
    what: evaluation.Evaluation | Trials,
    objective: str | Sequence[str] | None = None,
    *,
    tune_on: evaluation.Evaluation | None = None,
    costs: npt.ArrayLike | None = None,
    trials: int | None = None,
    constraint_confidence: float | None = None,
    prevalence: float | None = None,
    judging: Judging | None = None,
) -> PlottedSelection | PlottedStudy:
    """Return what is best for objectives, thresholds of an evaluation, or how the trials of a sweep stand.

    Parameters
    ----------
    what : Evaluation or Trials
    objective : str or sequence of str, optional
        As on the command line: ``f1``, ``recall>=0.95``, ``cost:10`` (binary), ``f1_macro``,
        ``subset_accuracy``, ``recall>=0.9`` of each, ``recall_micro>=0.9`` (several labels),
        ``accuracy>=0.95``, ``f1_macro``, ``recall[CLASS]>=0.9`` (classes), ``module:function`` or a name of
        `extra_metrics`; those of the task without it. Of trials, the name of one of several objectives.
    tune_on : Evaluation, optional
        Other rows that the choice is made on; default: the held-out value is cross-fitted.
    costs : array-like of shape (K, K), optional
        Of classes: row the true label, column the answer.
    trials : int, optional
        Let Optuna search so many where an objective does not fall apart.
    constraint_confidence : float, optional
        Confidence with which a threshold (or a cut-off of confidence) under a bound has to keep it on new
        rows; that of the evaluation without it.
    prevalence : float, optional
        For two classes: the prevalence where the thresholds will be used; ``found.deployed`` then has
        what each does there.
    judging : Judging, optional
        For trials: the number of validation examples of each.

    Returns
    -------
    ThresholdSelection or Study
        ``best`` is the first choice, or the best trial; `to_html`, `report` and `log` take both.

    Raises
    ------
    EvalreportError
        No such objective; nothing to choose from; no trial completed; labels unlike those of `tune_on`.

    Examples
    --------
    >>> import evalreport as er
    >>> ev = er.evaluate([0, 0, 1, 1], scores=er.Probabilities([0.1, 0.4, 0.35, 0.8]))
    >>> er.sweep(ev, ["recall>=1", "f1"])["recall>=1"].threshold
    0.35
    >>> study = er.sweep(er.Trials.from_records([{"value": 0.7}, {"value": 0.8}], objectives="f1"))
    >>> study.best.number
    1
    """
    if isinstance(what, Trials):
        if any(value is not None for value in (tune_on, costs, trials, constraint_confidence, prevalence)):
            raise UsageError(
                "trials have no thresholds to choose",
                where="er.sweep",
                fix="leave out tune_on, costs, trials, constraint_confidence and prevalence",
            )
        study: PlottedStudy = extension("api", "reporting on trials")(what, objective, judging)
        return study
    wanted = () if objective is None else (objective,) if isinstance(objective, str) else tuple(objective)
    if what.predictions is None and (constraint_confidence is not None or prevalence is not None):
        raise UsageError(
            "the evaluation has no predictions, which a constraint confidence and a prevalence need",
            where="er.sweep",
            fix="evaluate the predictions in this session, not from JSON",
        )
    if what.predictions is None:
        return convert_to_view(PlottedSelection, _of_json(what, wanted))
    other = tuning_rows(tune_on)
    asked = ThresholdRequest(
        wanted,
        costs=None if costs is None else CostMatrix(costs),
        search=None if trials is None else Search(trials=trials, seed=what.sampling.seed),
    )
    rows = Collected(what.predictions, (), what.provenance)
    sampling = (
        what.sampling
        if constraint_confidence is None
        else replace(what.sampling, constraint_confidence=constraint_confidence)
    )
    found = select_thresholds(rows, Request(sampling=sampling, prevalence=prevalence), other, asked)
    return convert_to_view(PlottedSelection, found if tune_on is None else _with_origin(found, tune_on))


def _with_origin(
    found: evaluation.ThresholdSelection, tune_on: evaluation.Evaluation
) -> evaluation.ThresholdSelection:
    """The choice with the name of the rows that it was made on, where they have one."""
    name = tune_on.provenance.title or tune_on.provenance.run_name or tune_on.provenance.source
    return replace(found, tuned_on=name or found.tuned_on)


def _of_json(ev: evaluation.Evaluation, wanted: tuple[str, ...]) -> evaluation.ThresholdSelection:
    """What the thinned sweep of an evaluation without its predictions still knows."""
    if ev.sweep is None:
        raise UsageError(
            "there is no threshold to sweep: the evaluation has no predictions",
            where="er.sweep",
            fix="evaluate the predictions in this session, not from JSON",
        )
    goals = tuple(map(Objective.parse, wanted or tuple(ev.sweep.optima)))
    found = {goal.name: ev.sweep.best(goal) for goal in goals}
    return evaluation.ThresholdSelection(ev, found, {goal.name: goal for goal in goals})
