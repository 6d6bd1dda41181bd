"""Tables of a terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def aligned(rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> list[str]:
    """Return rows as lines in columns: words to the left, figures to the right.

    Parameters
    ----------
    rows : sequence of rows of equal length
    left : collection of int
        Columns of words.

    Examples
    --------
    >>> aligned([("for", "threshold"), ("f1", "0.5")])
    ['for  threshold', 'f1         0.5']
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
