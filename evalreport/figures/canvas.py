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
from typing import TYPE_CHECKING, Any, ParamSpec, cast

from evalreport.core.errors import UsageError
from evalreport.core.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OWN = "DejaVu Sans"
"""Comes with matplotlib: Latin, Greek, Cyrillic, Arabic and (not bold) Hebrew letters, no Chinese ones."""
OTHERS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "Noto Sans JP",
    "Noto Sans KR",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "IPAGothic",
    "NanumGothic",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Arial Unicode MS",
    "Noto Sans Devanagari",
    "Nirmala UI",
    "Noto Sans Bengali",
    "Noto Sans Tamil",
    "Noto Sans Thai",
    "Leelawadee UI",
    "Noto Sans Ethiopic",
    "Noto Sans Symbols 2",
    "Noto Emoji",
)
"""Fonts of Linux, macOS and Windows, asked in this order, so that one machine always draws alike."""


def families() -> list[str]:
    """Return the fonts to draw with, each for what those before it lack."""
    from matplotlib.font_manager import fontManager

    installed = {entry.name for entry in fontManager.ttflist}
    return [OWN, *(name for name in OTHERS if name in installed)]


BLUE, ORANGE, INK, GREY, LINE = "#0a5ba8", "#b0370c", "#14202c", "#485867", "#d8dfe6"
BLUES = ("#ffffff", "#dbe9f7", "#a9cdee", "#4a8fcf", "#0a5ba8")
LINES = ("solid", "dashed", "dashdot", "dotted", (0, (8, 2, 1, 2, 1, 2)))
"""Line styles of several runs: never told apart by colour alone."""
COLUMNS = 3
"""Small charts in a row: their axes can still be read on a page."""
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
    "axes.titley": 1.0,  # else its place is worked out anew with every text of both axes
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

FIFTHS = tuple(k / 5 for k in range(6))
"""Where the ticks of a unit square stand: known beforehand, none is made that lies outside."""

P = ParamSpec("P")
_one_at_a_time = RLock()
_inside: list[bool] = []
"""Whether the one who draws is inside our settings already."""
_given: list[Axes] = []
"""Axes of the user that the next figure is drawn on."""


@contextmanager
def style() -> Iterator[None]:
    """Draw and save inside our own settings; the user's come back at the end.

    Several figures inside of one cost less: to set them and back takes as long as a third of a drawing.
    """
    import matplotlib as mpl

    with _one_at_a_time:
        if _inside:
            yield
            return
        _inside.append(True)
        try:
            with warnings.catch_warnings(), mpl.rc_context():
                warnings.filterwarnings("ignore", message="Glyph .* missing from")
                warnings.simplefilter("ignore", BytesWarning)  # of fontTools, an error under `python -bb`
                mpl.rcdefaults()
                mpl.rcParams.update(STYLE | {"font.family": families()})
                yield
        finally:
            _inside.clear()


def apply_figure_style(function: Callable[P, Figure]) -> Callable[P, Figure]:
    """Return a figure function that draws in our style and whose texts are never read as mathematics."""

    @wraps(function)
    def draw_styled_figure(*args: P.args, **kwargs: P.kwargs) -> Figure:
        from matplotlib.text import Text

        with style():
            figure = function(*args, **kwargs)
            for text in (_given[0] if _given else figure).findobj(Text):
                text.set_parse_math(False)
        return figure

    return draw_styled_figure


@contextmanager
def drawing_on(axes: Axes) -> Iterator[None]:
    """Draw the next figure on given axes, whose figure keeps its size and layout."""
    with _one_at_a_time:
        _given.append(axes)
        try:
            yield
        finally:
            _given.clear()


def new_figure(width: float = 5.2, height: float = 4.6) -> tuple[Figure, Axes]:
    """Return an empty figure (inches) that no window manager knows of, and its axes; or the given axes."""
    if _given:
        return cast("Figure", _given[0].figure), _given[0]
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def unit_square(figure: Figure, axes: Axes, x: str, y: str) -> None:
    """Set both axes to 0 … 1 with their names, and the margins."""
    if not _given:
        figure.set_layout_engine(None)
        figure.subplots_adjust(**MARGINS)
    axes.set(xticks=FIFTHS, yticks=FIFTHS, xlim=(-0.01, 1.01), ylim=(-0.01, 1.02), xlabel=x, ylabel=y)
    axes.grid(visible=True, linewidth=0.6)
    axes.set_axisbelow(True)


def short_name(name: str, longest: int = 28) -> str:
    """Return a name as an axis bears it: printable, and of no more than so many characters.

    Examples
    --------
    >>> short_name("card_payment_not_recognised", 12)
    'card_paymen…'
    """
    name = printable(name)
    return name if len(name) <= longest else name[: longest - 1] + "…"


def png(figure: Figure) -> bytes:
    """Return a figure as PNG, the same bytes for the same figure."""
    buffer = BytesIO()
    with style():
        figure.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def small_charts(number: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with so many charts in rows and columns."""
    if _given and number > 1:
        raise UsageError(
            f"the figure has {number} charts, and one is given to draw on",
            where="ax",
            fix="leave ax out, or ask for one objective",
        )
    if _given:
        return cast("Figure", _given[0].figure), [_given[0]]
    columns = min(COLUMNS, number)
    rows = -(-number // columns)
    figure, first = new_figure(2.9 * columns + 0.4, 2.5 * rows + 0.3)
    first.remove()
    return figure, [figure.add_subplot(rows, columns, place) for place in range(1, number + 1)]


def name_axes(axes: Axes, x: str, y: str, title: str) -> None:
    """Name both axes and the chart."""
    axes.set(xlabel=printable(x), ylabel=printable(y), title=printable(title))
