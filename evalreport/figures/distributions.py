"""Scores by true class, and the classes with their intervals: what seaborn draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalreport.curves import Histogram
from evalreport.errors import UsageError
from evalreport.evaluation.model import Evaluation
from evalreport.figures.canvas import BLUE, GREY, LINE, ORANGE, drawn, new_figure, short_name
from evalreport.figures.curves import part
from evalreport.labels import Binary
from evalreport.values import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 40
"""Classes that are drawn, the hardest: as many as can be read."""


@drawn
def score_distributions(ev: Evaluation) -> Figure:
    """Draw the scores of each class, of several classes or labels the confidence of right and wrong answers.

    Each side has an area of 1: a rare class is seen as well as a frequent one.

    Raises
    ------
    UsageError
        There are no scores.

    Examples
    --------
    >>> import evalreport as er
    >>> ev = er.evaluate([0, 1] * 30, scores=er.Probabilities([k / 60 for k in range(60)]))
    >>> score_distributions(ev).axes[0].get_xlabel()
    'score'
    """
    import seaborn as sns

    bins = part(ev, "histogram")
    assert isinstance(bins, Histogram)  # noqa: S101  what `part` returns
    binary = isinstance(ev.space, Binary)
    above, below = (ev.space.shown[1], ev.space.shown[0]) if binary else ("right", "wrong")
    middles = np.add(bins.edges[:-1], bins.edges[1:]) / 2
    figure, axes = new_figure()
    sns.histplot(
        x=np.tile(middles, 2),
        weights=np.concatenate([bins.negative, bins.positive]),
        hue=np.repeat([0, 1], len(middles)),
        palette=[GREY if binary else ORANGE, BLUE],
        bins=list(bins.edges),
        stat="density",
        common_norm=False,
        element="step",
        alpha=0.25,
        ax=axes,
    )
    legend = axes.get_legend()
    assert legend is not None  # noqa: S101  seaborn made it
    legend.set_title("")
    for text, name in zip(legend.get_texts(), (below, above), strict=True):
        text.set_text(short_name(str(name)))
    axes.set(xlabel="score" if binary else "confidence", ylabel="density")
    axes.set_title("Scores by true class" if binary else "Confidence of right and wrong answers")
    return figure


@drawn
def class_forest(ev: Evaluation) -> Figure:
    """Draw F1 of each class or label with its interval, the lowest on top; of many the lowest 40.

    Raises
    ------
    UsageError
        There are no classes with an F1.

    Examples
    --------
    >>> import evalreport as er
    >>> ev = er.evaluate(list("aabbcc"), list("aabbba"))
    >>> [text.get_text() for text in class_forest(ev).axes[0].get_yticklabels()]
    ['c', 'a', 'b']
    """
    import seaborn as sns

    known = [(str(entry.label), entry.metrics.get("f1")) for entry in ev.classes]
    found = [(name, f1) for name, f1 in known if isinstance(f1, Estimate)]
    if not found:
        raise UsageError("no class has an F1", fix="log decisions of several classes or labels")
    lowest = sorted(found, key=lambda pair: pair[1].value)[:MOST]
    ends = [(f1.value if at is None else at) for _, f1 in lowest for at in (f1.value, f1.low, f1.high)]
    figure, axes = new_figure(5.6, 1.2 + 0.24 * len(lowest))
    sns.pointplot(
        x=ends,
        y=np.repeat(np.arange(len(lowest)), 3),
        orient="h",
        estimator=lambda three: three.iloc[0],
        errorbar=lambda three: (three.iloc[1], three.iloc[2]),
        linestyle="none",
        color=BLUE,
        markersize=5,
        err_kws={"linewidth": 1.2},
        ax=axes,
    )
    axes.set_yticks(range(len(lowest)), [short_name(name) for name, _ in lowest])
    axes.set(xlim=(-0.01, 1.01), xlabel="F1", ylabel="")
    axes.set_title(
        "Classes" if len(lowest) == len(found) else f"The {len(lowest)} lowest of {len(found)} classes"
    )
    axes.grid(visible=True, axis="x", color=LINE, linewidth=0.6)
    axes.set_axisbelow(True)
    return figure
