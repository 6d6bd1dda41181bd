"""The confusion matrix: annotated while a number can be read, coloured only above that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evalreport.errors import UsageError
from evalreport.evaluation.model import Evaluation
from evalreport.figures.canvas import BLUES, drawn, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ANNOTATED = 20
"""Labels up to which every cell carries its count."""
NAMED = 80
"""Labels up to which every row is named; above, about forty of them are."""
NAME = 28
"""Characters of a label's name on an axis."""


@drawn
def confusion_matrix(ev: Evaluation) -> Figure:
    """Draw rows of truth against columns of predictions, coloured by the share of the row.

    Raises
    ------
    UsageError
        The evaluation has no confusion matrix (multilabel, or nothing decides).
    """
    from matplotlib.colors import LinearSegmentedColormap

    if ev.confusion is None:
        raise UsageError("there is no confusion matrix", fix="multilabel problems and bare scores have none")
    ev = ev.in_rows()
    assert ev.confusion is not None  # noqa: S101  asked before
    counts = ev.confusion.dense()
    if not ev.confusion.unparsed:
        counts = counts[:, :-1]
    rows = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, rows, out=np.zeros_like(counts), where=rows > 0)
    size = len(counts)
    side = (
        float(np.clip(1.6 + 0.42 * size, 4.4, 9.0)) if size <= ANNOTATED else (9.0 if size <= NAMED else 7.5)
    )
    figure, axes = new_figure(side + 0.8, side)
    colors = LinearSegmentedColormap.from_list("evalreport", BLUES)
    names = [_short(name) for name in ev.space.names]
    if size <= NAMED:
        _cells(axes, share, counts, colors)
    else:
        axes.imshow(share, cmap=colors, vmin=0, vmax=1, interpolation="antialiased", aspect="auto")
    _name_axes(axes, names, [*names, "(not readable)"][: counts.shape[1]], 0.5 if size <= NAMED else 0.0)
    axes.set(xlabel="predicted", ylabel="truth", title="Confusion matrix (colour: share of the true label)")
    return figure


def _cells(
    axes: Axes, share: npt.NDArray[np.float64], counts: npt.NDArray[np.float64], colors: object
) -> None:
    import seaborn as sns

    small = len(counts) <= ANNOTATED
    sns.heatmap(
        share,
        ax=axes,
        cmap=colors,
        vmin=0,
        vmax=1,
        cbar=False,
        annot=np.vectorize(_count)(counts) if small else None,
        fmt="",
        annot_kws={"size": 9},
        linewidths=0.6 if small else 0,
        linecolor="white",
        rasterized=not small,
    )


def _name_axes(axes: Axes, rows: list[str], columns: list[str], shift: float) -> None:
    step = 1 if len(rows) <= NAMED else -(-len(rows) // 40)
    size = 9 if len(rows) <= ANNOTATED else 6
    across = range(0, len(columns), step)
    down = range(0, len(rows), step)
    axes.set_xticks(
        [place + shift for place in across], [columns[place] for place in across], rotation=90, fontsize=size
    )
    axes.set_yticks(
        [place + shift for place in down], [rows[place] for place in down], rotation=0, fontsize=size
    )
    axes.tick_params(length=0)


def _count(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def _short(name: str) -> str:
    clean = "".join(char if char.isprintable() else "\ufffd" for char in name)
    return clean if len(clean) <= NAME else clean[: NAME - 1] + "…"
