"""Tables and sentences of a terminal, and how they keep within its width."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple
from unicodedata import combining, east_asian_width

from evalreport.text import printable

ROOM = 24
"""Columns in which a text is still folded beside what stands before it: three or four words of English."""
_FILL = "\0"
"""Second half of a wide character while lines are broken; `printable` leaves none in a text."""
_GLUE = "\1"
"""A space at which no line is broken, that between a sign and its number."""


class Piece(NamedTuple):
    """A cell of a table, or what stands between two gaps of a line."""

    text: str
    wide: int
    gap: int = 2
    left: bool = True


class TableLine(str):
    """A line of a table that still knows its cells; printed elsewhere than on a terminal it is its text."""

    indent: int = 0
    whole: int = 0
    """Columns that the table takes, unfolded and without its indent."""
    pieces: tuple[Piece, ...] = ()
    narrow: tuple[Piece, ...] = ()
    """The same cells where the head is folded to the width of what stands below it."""


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Return rows as lines in columns: words to the left, figures to the right.

    Parameters
    ----------
    rows : sequence of rows of equal length
        The first is the head.
    left : collection of int
        Columns of words.

    Examples
    --------
    >>> aligned([("for", "threshold"), ("f1", "0.5")])
    ['for  threshold', 'f1         0.5']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    shown = [[printable(cell) for cell in row] for row in rows]
    wide = [max(map(display_width, column)) for column in zip(*shown, strict=True)]
    whole = sum(wide) + 2 * (len(wide) - 1)
    narrow = [
        max(_longest_word(head), *map(display_width, body), 0) for head, *body in zip(*shown, strict=True)
    ]
    lines: list[str] = []
    for row, cells in zip(rows, shown, strict=True):
        padded = (
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        line = TableLine("  ".join(padded).rstrip())
        line.whole, line.pieces, line.narrow = whole, _row(cells, wide, left), _row(cells, narrow, left)
        lines.append(line)
    return lines


def _row(cells: Sequence[str], widths: Sequence[int], left: Collection[int]) -> tuple[Piece, ...]:
    """The cells, each as wide as its column; the last of words as it is: nothing stands behind it."""
    own = len(cells) - 1 if len(cells) - 1 in left else len(cells)
    return tuple(
        Piece(cell, display_width(cell) if place == own else widths[place], 2, place in left)
        for place, cell in enumerate(cells)
    )


def indented(lines: Iterable[str]) -> list[str]:
    """Return lines two columns further in."""
    return [_indented(line) for line in lines]


def _indented(line: str) -> str:
    if not isinstance(line, TableLine):
        return "  " + line
    moved = TableLine("  " + line)
    vars(moved).update(vars(line), indent=line.indent + 2)
    return moved


def display_width(text: str) -> int:
    """Return how many columns a text takes on a terminal: East Asian wide characters take two.

    Examples
    --------
    >>> display_width("模型 a"), display_width("naïve")
    (6, 5)
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(char: str) -> int:
    return 0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1


def fitted(line: str, width: int | None, hang: int = 2) -> list[str]:
    """Return a line as a terminal holds it: whole columns, then whole words, go to lines of their own.

    Parameters
    ----------
    line : str
        Control characters are written as escapes.
    width : int or None
        Columns of the terminal; None where there is none: the line stays as it is.
    hang : int, default 2
        Columns that the lines after the first stand further in.

    Examples
    --------
    >>> print(*fitted("  needs  a score of every row of the table", 32), sep="\\n")
      needs  a score of every row of
             the table
    """
    text = printable(line)
    if width is None:
        return [text]
    if isinstance(line, TableLine):
        indent = line.indent
        pieces = line.pieces if indent + line.whole <= width else line.narrow
    elif display_width(text) <= width:
        return [text]
    else:
        indent, pieces = len(text) - len(text.lstrip(" ")), _pieces(text)
    lines = [one for group in _groups(pieces, indent, width, hang) for one in group]
    return lines or [""]


def _pieces(text: str) -> tuple[Piece, ...]:
    """What stands between gaps of two or more spaces."""
    found: list[Piece] = []
    gap = 0
    for part in text.strip(" ").split("  "):
        if part:
            told = part.lstrip(" ")
            found.append(Piece(told, display_width(told), gap + len(part) - len(told)))
            gap = 0
        gap += 2
    return tuple(found)


def _groups(pieces: Iterable[Piece], indent: int, width: int, hang: int) -> Iterator[list[str]]:
    """Lines of the pieces that stand beside each other; what does not fit begins anew, further in."""
    group: list[tuple[int, bool, list[str]]] = []
    at, further = indent, hang
    for piece in pieces:
        start = at + piece.gap if group else at
        apart = start > width - ROOM or not piece.left or start + _longest_word(piece.text) > width
        if group and start + piece.wide > width and apart:
            yield list(_beside(group))
            group, start, further = [], indent + hang, 0
        room = max(min(piece.wide, width - start), 1)
        folded = _folded(piece.text, room, 0 if group else further)
        group.append((start if piece.left else start + room, piece.left, folded))
        at = start + room
    yield list(_beside(group))


def _longest_word(text: str) -> int:
    return max(map(display_width, text.split(" ")))


def _folded(text: str, room: int, hang: int) -> list[str]:
    if display_width(text) <= room:
        return [text]
    doubled = "".join(char + _FILL if _width(char) == 2 else char for char in text.replace("± ", "±" + _GLUE))
    lines = textwrap.wrap(
        doubled, room, subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False
    )
    return [line.replace(_FILL, "").replace(_GLUE, " ") for line in lines]


def _beside(group: Iterable[tuple[int, bool, list[str]]]) -> Iterator[str]:
    """Lines of cells beside each other, each from where it starts or up to where it ends."""
    for parts in zip_longest(*(cell for _, _, cell in group), fillvalue=""):
        line = ""
        for (place, left, _), part in zip(group, parts, strict=True):
            line += " " * (place - display_width(line) - (0 if left else display_width(part))) + part
        if line.strip():
            yield line.rstrip()
