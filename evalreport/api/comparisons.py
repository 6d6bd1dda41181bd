"""Runs against each other, as a notebook asks for it and shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import overload

from evalreport.api.views import viewed
from evalreport.comparison import compare as comparing
from evalreport.comparison import values
from evalreport.comparison.system_values import SystemsComparison
from evalreport.comparison.systems import compare_systems
from evalreport.errors import UsageError
from evalreport.evaluation import model
from evalreport.report.render import render_comparison_brief
from evalreport.thresholds.objectives import stated_costs


class Comparison(values.Comparison):
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

    def _repr_html_(self) -> str:
        return render_comparison_brief(self)


@overload
def compare(
    evaluations: Sequence[model.Evaluation],
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
    systems: Mapping[str, Sequence[model.Evaluation]],
    metrics: Sequence[str] = (),
    primary: str | None = None,
) -> SystemsComparison: ...


def compare(
    evaluations: Sequence[model.Evaluation] = (),
    baseline: int | None = 0,
    *,
    names: Sequence[str] | None = None,
    metrics: Sequence[str] = (),
    primary: str | None = None,
    unpaired: bool = False,
    cost: float | str | None = None,
    systems: Mapping[str, Sequence[model.Evaluation]] | None = None,
) -> Comparison | SystemsComparison:
    """Compare runs, paired wherever the same examples are proven, or systems of several runs each.

    Parameters
    ----------
    evaluations : two to twenty evaluations
    baseline : int or None
        Position of the run that the others are held against; None compares all with all.
    names : sequence of str, optional
        What to call the runs; their own names otherwise, made distinct.
    metrics : sequence of str
        Instead of the headline metrics.
    primary : str, optional
        The metric that the verdict is about.
    unpaired : bool
        The runs were scored on other examples: nothing is matched.
    cost : float or str, optional
        Of two classes: what a miss costs in false alarms, or ``fp=1,fn=10,tp=0,tn=0``. The runs are then also
        matched where that is lowest (``matched``).
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
    >>> round(found.of("accuracy")[0].difference, 2), found.of("accuracy")[0].verdict
    (0.75, 'better')
    """
    if systems is not None:
        if len(evaluations):
            raise UsageError("both runs and systems are given", fix="pass er.compare(systems={...}) alone")
        return compare_systems(systems, metrics=metrics, primary=primary)
    found = comparing.compare(
        evaluations,
        baseline,
        names=names,
        metrics=metrics,
        primary=primary,
        unpaired=unpaired,
        costs=None if cost is None else stated_costs(str(cost)),
    )
    return viewed(Comparison, found)
