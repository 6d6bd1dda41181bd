"""The differences of a comparison as a matplotlib figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalreport.comparison.comparison import Comparison
from evalreport.core.errors import UsageError
from evalreport.figures.canvas import apply_figure_style, new_figure, short_name

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_DIFFERENCES = 40


@apply_figure_style
def differences(comparison: Comparison) -> Figure:
    """Draw the difference of each metric with its interval, one row per metric and run.

    Raises
    ------
    UsageError
        No metric has a difference.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = ["a", "b", "c", "d"] * 10
    >>> found = er.compare([er.evaluate(truth, answers) for answers in (["a"] * 40, truth)])
    >>> drawn = [one for one in found.differences if one.difference is not None]
    >>> len(differences(found).axes[0].get_yticklabels()) == len(drawn)
    True
    """
    known = [one for one in comparison.differences if one.difference is not None][:MOST_DIFFERENCES]
    if not known:
        raise UsageError("no metric has a difference to draw", fix="compare runs with a common metric")
    several = len({(one.run, one.baseline) for one in known}) > 1
    figure, axes = new_figure(5.6, 1.2 + 0.24 * len(known))
    for place, one in enumerate(known):
        middle = float(one.difference or 0.0)
        low = middle if one.low is None else one.low
        high = middle if one.high is None else one.high
        color = {"better": "#1f6fb2", "worse": "#b2452f"}.get(one.verdict, "#777777")
        axes.errorbar(
            middle, place, xerr=[[middle - low], [high - middle]], fmt="o", markersize=4, color=color
        )
    names = [f"{one.metric} ({one.run} − {one.baseline})" if several else one.metric for one in known]
    axes.set_yticks(range(len(known)), [short_name(name, 48) for name in names])
    axes.axvline(0, color="#777777", linewidth=0.8)
    axes.invert_yaxis()
    title = "Differences" if several else f"{known[0].run} − {known[0].baseline}"
    axes.set(xlabel="difference", title=short_name(title, 48))
    return figure
