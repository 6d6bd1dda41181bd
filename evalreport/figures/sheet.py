"""A sheet of paper that is drawn on in points: words that wrap, lines, dots, and the charts of a page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from evalreport.core.text import printable
from evalreport.figures.style import (
    BLUE,
    BLUES,
    GREY,
    INK,
    LINE,
    ORANGE,
    RIGHT_TO_LEFT,
    families,
    style,
    undrawn,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE, TALL, EDGE = 595.0, 842.0, 48.0
"""A4 and its margin, in points."""
PALE, RED, STRONG = "#a9cdee", "#fbd9c8", "#768494"
FILLED = {"band": BLUES[1], "bars": BLUES[3], "bars-2": STRONG, "bars-wrong": "#df6f42"}
DOTS = {"dots": (BLUE, 3.4), "dots-2": (STRONG, 2.4), "dots-wrong": (ORANGE, 3.4)}
STROKES: dict[str, tuple[str, float, Any]] = {
    "line": (BLUE, 1.3, "solid"),
    "line-2": (GREY, 1.3, "dashdot"),
    "line-3": (INK, 1.2, "dotted"),
    "line-4": (BLUES[3], 1.3, "dashed"),
    "guide": (STRONG, 0.6, "dashed"),
    "whisker": (BLUE, 1.0, "solid"),
    "thin": (BLUE, 0.8, "solid"),
    "span": (BLUES[3], 1.6, "solid"),
    "span-2": (STRONG, 1.6, "solid"),
    "span-wrong": (ORANGE, 1.6, "solid"),
}
"""How the shapes of a chart look on paper, as the style of the page has them."""
STEP = re.compile(r"([MLHVhZ])([^MLHVhZ]*)")
FACES: dict[str, Any] = {"": {}, "bold": {"weight": "bold"}, "serif": {"family": "DejaVu Serif"}}


def printed(draws: Sequence[Callable[[Sheet], None]], title: str, footer: str) -> bytes:
    """Return sheets of A4 as PDF: the same bytes for the same drawing, fonts embedded, no time and no host.

    Parameters
    ----------
    draws : sequence of callable
        Each draws on a sheet of its own.
    title, footer : str
        Of the document; of each sheet.

    Warns
    -----
    UserWarning
        Characters that no installed font has.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure

    buffer = BytesIO()
    known = {"Title": title, "Creator": "evalreport", "CreationDate": None}
    words: list[str] = []
    with (
        style(),
        rc_context({"pdf.fonttype": 42}),
        warnings.catch_warnings(record=True) as warned,
        PdfPages(buffer, metadata=known) as pdf,
    ):
        warnings.filterwarnings("always", message="Glyph .* missing from")
        for place, draw in enumerate(draws, 1):
            figure = Figure(figsize=(WIDE / 72, TALL / 72))
            FigureCanvasAgg(figure)
            sheet = Sheet(figure)
            draw(sheet)
            sheet.text(EDGE, TALL - 26, f"{place} of {len(draws)}  ·  {footer}", 6, color=GREY)
            pdf.savefig(figure)
            words += sheet.words
    if lacking := undrawn([str(one.message) for one in warned], " ".join(words)):
        warnings.warn(f"the PDF: {lacking}", stacklevel=2)
    return buffer.getvalue()


def _face(name: str) -> dict[str, Any]:
    """What a face is drawn with; one of another family has the rest of the fonts behind it."""
    face: dict[str, Any] = FACES[name]
    return face | {"family": [face["family"], *families()]} if "family" in face else face


class Sheet:
    """One page; `y` is where the next thing stands, in points from the top.

    Parameters
    ----------
    figure : Figure
        Of A4.
    """

    def __init__(self, figure: Figure) -> None:
        self.axes = figure.add_axes((0, 0, 1, 1))
        self.axes.set(xlim=(0, WIDE), ylim=(TALL, 0))
        self.axes.set_axis_off()
        self.y = EDGE
        self.words: list[str] = []

    def line(self, xs: Sequence[float], ys: Sequence[float], color: str = LINE, **how: Any) -> None:
        """Draw a line through points."""
        self.axes.plot(xs, ys, color=color, solid_capstyle="butt", **{"linewidth": 0.6, **how})

    def text(self, x: float, y: float, words: str, size: float = 8.5, face: str = "", **how: Any) -> None:
        """Write one line, its baseline at y."""
        self.words.append(printable(words))
        face = "" if RIGHT_TO_LEFT.search(words) else face  # our bold font has no Hebrew letters
        self.axes.text(x, y, self.words[-1], fontsize=size, **{"color": INK, **_face(face), **how})

    def paragraph(
        self, words: str, size: float = 8.5, face: str = "", *, x: float = EDGE, wide: float = 0, **how: Any
    ) -> None:
        """Write words from `y` on, in as many lines as they take."""
        room = (wide or WIDE - EDGE - x) / size
        for line in wrapped(words, room, FACES[face]):
            self.y += size * 1.36
            self.text(x, self.y - size * 0.3, line, size, face, **how)

    def chart(self, chart: Any, x: float, y: float, wide: float) -> None:
        """Draw a chart of the page's panels, a value, with its left upper corner at a place."""
        scale = wide / 340
        self.text(x, y + 8, chart.title, 9, "bold")
        self.text(x, y + 19, chart.y.title, 6.5, color=GREY)
        place = _Placed(self, x, y + 22, scale)
        for path in sorted(chart.paths, key=lambda path: path.shape != "band"):
            place.path(path.shape, path.d)
        place.axis(chart)
        for label in chart.labels:
            color = {"blue": BLUE, "wrong": ORANGE}.get(label.look, INK)
            ends = {"start": "left", "middle": "center", "end": "right"}[label.anchor]
            place.words(label.x, label.y, label.text, ha=ends, color=color)
        if chart.ring is not None:
            place.dots([chart.ring], INK, 6, markerfacecolor="white")
            place.dots([chart.ring], INK, 2.4)


class _Placed:
    """A chart's own units on a sheet."""

    def __init__(self, sheet: Sheet, x: float, y: float, scale: float) -> None:
        self.sheet, self.x, self.y, self.scale = sheet, x, y, scale

    def at(self, points: Sequence[tuple[float, float]]) -> tuple[list[float], list[float]]:
        return [self.x + a * self.scale for a, _ in points], [self.y + b * self.scale for _, b in points]

    def words(self, x: float, y: float, words: str, **how: Any) -> None:
        ((left,), (base,)) = self.at([(x, y)])
        self.sheet.text(left, base, words, 6.8, **how)

    def dots(self, points: Sequence[tuple[float, float]], color: str, size: float, **how: Any) -> None:
        self.sheet.axes.plot(*self.at(points), "o", color=color, markersize=size, **how)

    def path(self, shape: str, d: str) -> None:
        """Draw path data in the look of its shape."""
        lines = strokes(d)
        if shape in DOTS:
            self.dots([line[0] for line in lines], *DOTS[shape])
            return
        for line in lines:
            xs, ys = self.at(line)
            if shape in FILLED:
                self.sheet.axes.fill(xs, ys, color=FILLED[shape], linewidth=0)
            else:
                color, wide, dash = STROKES.get(shape, (STRONG, 0.5, "solid"))
                self.sheet.line(xs, ys, color, linewidth=wide, linestyle=dash)

    def axis(self, chart: Any) -> None:
        """Draw grid, ticks and the title below."""
        for y, text in chart.y.ticks:
            self.sheet.line(*self.at([(40, y), (330, y)]), zorder=0)
            self.words(35, y + 3, text, ha="right", color=GREY)
        for x, text in chart.x.ticks:
            self.words(x, 278, text, ha="center", color=GREY)
        self.sheet.line(*self.at([(40, 262), (330, 262)]), STRONG)
        self.words(185, 294, chart.x.title, ha="center", color=GREY)


def strokes(d: str) -> list[list[tuple[float, float]]]:
    """Return the lines of path data as points; a line of no length is a dot.

    Examples
    --------
    >>> strokes("M0 1H2V3M5 5h0M1 1L2 2Z")
    [[(0.0, 1.0), (2.0, 1.0), (2.0, 3.0)], [(5.0, 5.0), (5.0, 5.0)], [(1.0, 1.0), (2.0, 2.0), (1.0, 1.0)]]
    """
    lines: list[list[tuple[float, float]]] = []
    for letter, rest in STEP.findall(d):
        numbers = [float(number) for number in rest.split()]
        x, y = lines[-1][-1] if lines else (0.0, 0.0)
        match letter:
            case "M":
                lines.append([(numbers[0], numbers[1])])
            case "L":
                lines[-1].append((numbers[0], numbers[1]))
            case "Z":
                lines[-1].append(lines[-1][0])
            case "V":
                lines[-1].append((x, numbers[0]))
            case _:
                lines[-1].append((numbers[0] + (x if letter == "h" else 0), y))
    return lines


def wrapped(words: str, room: float, face: Any = None) -> list[str]:
    """Return words as lines that are no wider than so many times the size of the letters.

    Examples
    --------
    >>> wrapped("a sentence of some words", 8.0)
    ['a sentence of', 'some words']
    >>> wrapped("a_long_name_of_a_class", 8.0)
    ['a_long_name_o', 'f_a_class']
    """
    from matplotlib.font_manager import FontProperties, findfont, get_font

    face = face or {}
    names = [*filter(None, [face.get("family")]), *families()]
    font = get_font([findfont(FontProperties(**{**face, "family": name})) for name in names])
    font.set_size(100, 72)

    def wide(text: str) -> float:
        font.set_text(text)
        return float(font.get_width_height()[0]) / 6400

    lines = [""]
    for word in printable(words).split():
        longer = f"{lines[-1]} {word}".strip()
        if wide(longer) <= room:
            lines[-1] = longer
            continue
        lines = [*filter(None, lines), *_pieces(word, lambda piece: wide(piece) <= room)]
    return lines


def _pieces(word: str, fits: Callable[[str], bool]) -> list[str]:
    """A word in pieces that fit, of a script without spaces or of a long name."""
    pieces = [""]
    for letter in word:
        if pieces[-1] and not fits(pieces[-1] + letter):
            pieces.append("")
        pieces[-1] += letter
    return pieces
