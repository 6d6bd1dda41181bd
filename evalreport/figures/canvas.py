"""The one place that knows how a figure looks: `Figure` objects, no pyplot state, no mathtext.

The user's rcParams are left as they are: everything is drawn inside a context of our own. They belong to the
process, so that one thread draws at a time (`-j` has several); drawing holds the interpreter's lock anyway.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from io import BytesIO
from threading import RLock
from typing import TYPE_CHECKING, Any, ParamSpec

from evalreport.figures.fonts import families

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, INK, GREY, LINE = "#0a5ba8", "#b0370c", "#14202c", "#485867", "#d8dfe6"
BLUES = ("#ffffff", "#dbe9f7", "#a9cdee", "#4a8fcf", "#0a5ba8")
LINES = ("solid", "dashed", "dashdot", "dotted", (0, (8, 2, 1, 2, 1, 2)))
"""Line styles of several runs: never told apart by colour alone."""
DPI = 110
"""Dots per inch of a PNG."""
STYLE: Any = {
    "text.parse_math": False,
    "text.usetex": False,
    "font.size": 10,
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.titlesize": 11,
    "axes.grid": False,
    "grid.color": LINE,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.hashsalt": "evalreport",
    "legend.frameon": False,
}

MARGINS: Any = {"left": 0.11, "right": 0.98, "bottom": 0.1, "top": 0.94}
"""Room for titles and numbers around a unit square, which need no layout to be worked out."""

P = ParamSpec("P")
_one_at_a_time = RLock()


@contextmanager
def style() -> Iterator[None]:
    """Draw and save inside our own settings; the user's come back at the end."""
    import matplotlib as mpl

    with _one_at_a_time, warnings.catch_warnings(), mpl.rc_context():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")  # `printed` tells of the boxes
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE | {"font.family": families()})
        yield


def drawn(function: Callable[P, Figure]) -> Callable[P, Figure]:
    """Return a figure function that draws in our style and whose texts are never read as mathematics."""

    @wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> Figure:
        from matplotlib.text import Text

        with style():
            figure = function(*args, **kwargs)
            for text in figure.findobj(Text):
                text.set_parse_math(False)
        return figure

    return inside


def new_figure(width: float = 5.2, height: float = 4.6) -> tuple[Figure, Axes]:
    """Return an empty figure (inches) that no window manager knows of, and its axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def unit_square(figure: Figure, axes: Axes, x: str, y: str) -> None:
    """Set both axes to 0 … 1 with their names, and the margins."""
    figure.set_layout_engine(None)
    figure.subplots_adjust(**MARGINS)
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), xlabel=x, ylabel=y)
    axes.grid(visible=True, linewidth=0.6)
    axes.set_axisbelow(True)


def png(figure: Figure) -> bytes:
    """Return a figure as PNG, the same bytes for the same figure."""
    buffer = BytesIO()
    with style():
        figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()
