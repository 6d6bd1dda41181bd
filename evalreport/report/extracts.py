"""Figures and tables of a page as files of their own, SVG and CSV, by the names on the page.

They are read from the page itself, so that every figure and table is among them whatever panel it is of, and
the page's own script offers the same files under the same names. Our pages are no foreign HTML: attributes
are quoted and escaped, tables do not nest, so that no general parser, ten times as slow, is needed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import escape, unescape

from evalreport.report.render import asset
from evalreport.report.tables import csv_rows

PIECE = re.compile(r'<section id="([^"]+)"|<table([^>]*)>(.*?)</table>|<svg[^>]* role="img"', re.DOTALL)
"""What a page is searched for: where a section begins, tables, and where a figure begins."""
PARTS = ("figures", "tables")
"""Folders of what is taken from a page."""
ID = re.compile(r' id="([^"]+)"')
ROW = re.compile(r"<tr[^>]*>(.*?)</tr>", re.DOTALL)
CELL = re.compile(r"<(t[dh])([^>]*)>(.*?)</\1>", re.DOTALL)
TOKEN = re.compile(r"<(/?)(\w+)[^>]*>|[^<]+")
EMPTY = ("wbr", "path")
"""Elements without an end."""
DRAWN = re.compile(r"^[.](chart|ring|matrix|scores|parallel|plot(?! svg)|worse|none|[rw]\d)\b")
"""Rules of the style that figures need."""
WIDTH = "700"
"""Pixels of a figure that fills the width of the page."""
LINE, AXIS, GAP = 26, 260, 20
"""Of a drawn table: the height of a row, the width of an axis, the distance of columns."""
DRAWING = re.compile(r"<svg.*?</svg>", re.DOTALL)
SMALL = re.compile(r"<small>(.*?)</small>", re.DOTALL)
SPAN = re.compile(r"<span>(.*?)</span>", re.DOTALL)
ENDING = re.compile(r'class="(?:[^"]* )?(?:est|ci|ref|n)[ "]')
"""Of cells that stand at the right end of their column."""
NUMERIC = re.compile(r'class="(?:[^"]* )?(?:n|q|est|ref)[ "]')
"""Of cells that hold numbers."""
NUMBER = re.compile(r"[+−-]?\d[\d,]*(\.\d+)?%?")


def extracts(page: str) -> dict[str, bytes]:
    """Return the figures of a page as ``figures/NAME.svg``, its tables as ``tables/NAME.csv``.

    A table with intervals drawn in it is both.

    Parameters
    ----------
    page : str
        HTML, as `render` makes it.

    Examples
    --------
    >>> extracts('<section id="s"><table><tr><th>a</th><td class="n">1,200</td></tr></table></section>')
    {'tables/s.csv': b'a,1200\\r\\n'}
    """
    figures: dict[str, bytes] = {}
    tables: dict[str, bytes] = {}
    section, unnamed = "", 0
    for piece in PIECE.finditer(page):
        named = ID.search(piece[2] or piece[0])
        if piece[1]:
            section, unnamed = piece[1], 0
        elif piece[3] is None:
            if named is not None:
                figures[f"figures/{named[1]}.svg"] = _alone(_whole(page, piece.start())).encode()
        else:
            unnamed += named is None
            name = named[1] if named else section + (f"-{unnamed}" if unnamed > 1 else "")
            tables[f"tables/{name}.csv"] = csv_rows(_rows(piece[3], forest='"forest' in piece[2]))
            if "<svg" in piece[3]:
                figures[f"figures/{name}.svg"] = _alone(_drawn(piece[3])).encode()
    return figures | tables


def _rows(body: str, *, forest: bool) -> Iterator[list[str | float]]:
    """Rows of a table; an interval that a forest draws stands in its other columns as words."""
    for row in ROW.findall(body):
        cells = CELL.findall(row)
        yield [_value(*cell) for cell in cells if not (forest and 'class="plot"' in cell[1])]


def _value(tag: str, attributes: str, inner: str) -> str | float:
    """A cell's number, in full where the page knows it; else its text."""
    text = _text(inner)
    if tag == "th" or not NUMERIC.search(attributes) or not NUMBER.fullmatch(text):
        return text
    exact = re.search(r'data-v="([^"]+)"', attributes)
    if exact is None and text.endswith("%"):
        return text
    number = float(exact[1] if exact else text.replace(",", "").replace("−", "-"))
    return int(number) if number.is_integer() else number


def _text(inner: str) -> str:
    """Text of a cell, with a space between its elements; a long one that is cut on the page, whole."""
    parts, deep = [""], 0
    for token in TOKEN.finditer(inner):
        if not token[2]:
            parts[-1] += unescape(token[0])
        elif token[2] not in EMPTY:
            if not deep or (deep == 1 and token[1]):
                parts.append("")
            deep += -1 if token[1] else 1
    words = (" ".join(part.split()) for part in parts)
    return " ".join(filter(None, words)).replace("……", "")


def _drawn(body: str) -> str:
    """A table with intervals in it as one drawing, as the page's script draws it."""
    rows = [[_shown(*cell[1:]) for cell in CELL.findall(row)] for row in ROW.findall(body)]
    wide: dict[int, int] = {}
    for row in rows:
        for at, (drawing, _, text, _) in enumerate(row):
            wide[at] = max(wide.get(at, 0), GAP + 7 * len(text) + (AXIS + 10 if drawing else 0))
    parts = []
    for place, row in enumerate(rows):
        x, y = 10, LINE * place + 18
        for at, (drawing, ends, text, right) in enumerate(row):
            start = x + wide[at] - GAP if right else x + AXIS + 10 if drawing else x
            parts.append(_written(start, y, text, "end" if right else "start"))
            for k, end in enumerate(ends):
                side = ("start", "middle", "end")[(k > 0) + (k == len(ends) - 1)]
                parts.append(_written(x + AXIS * k / (len(ends) - 1), y, end, side))
            box = f'x="{x}" y="{y - 16}" width="{AXIS}" height="24" overflow="visible"'
            parts.append(drawing.replace("<svg", f"<svg {box}", 1))
            x += wide[at]
    size = f'width="{10 + sum(wide.values())}" height="{LINE * len(rows)}" font-size="13"'
    title = " · ".join(cell[2] for cell in rows[0] if cell[2])
    return f'<svg class="plot" {size} role="img"><title>{escape(title)}</title>{"".join(parts)}</svg>'


def _shown(attributes: str, inner: str) -> tuple[str, list[str], str, bool]:
    """Of a cell: its drawing, the ends of an axis, its words but no gloss, whether they end right."""
    drawing = DRAWING.search(inner)
    if drawing:
        return drawing[0], [], " ".join(map(_text, SMALL.findall(inner))), False
    ends = [_text(end) for end in SPAN.findall(inner.partition('class="ends"')[2])]
    text = "" if ends else _text(inner.partition('<span class="gloss"')[0])
    return "", ends, text, bool(ENDING.search(attributes))


def _written(x: float, y: int, text: str, side: str) -> str:
    return f'<text x="{x:g}" y="{y}" text-anchor="{side}">{escape(text)}</text>' if text else ""


def _whole(page: str, start: int) -> str:
    """A figure from its beginning to its end; others may stand within it."""
    deep = 0
    for edge in re.finditer(r"<svg\b|</svg>", page[start:]):
        deep += 1 if edge[0] == "<svg" else -1
        if not deep:
            return page[start : start + edge.end()]
    return page[start:]


def _alone(svg: str) -> str:
    """A drawing of the page as a file: with its style, and a size where the page gave it one."""
    head, rest = svg.split(">", 1)
    head = head.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1).replace("100%", WIDTH)
    return f"{head}><style>{figure_style()}</style>{rest}\n"


@lru_cache
def figure_style() -> str:
    """Return the rules of the style that figures need, with the colours of the light scheme in them."""
    css = asset("style.css")
    tokens = dict(re.findall(r"--([\w-]+):([^;}]+)", css[: css.index("@media")]))
    return "svg{background:#fff;font-family:sans-serif}" + "".join(_rules(css, tokens))


def _rules(css: str, tokens: Mapping[str, str]) -> Iterator[str]:
    for selectors, declared in re.findall(r"([^{}]+)\{([^{}]*)\}", css):
        if all(DRAWN.match(part) for part in selectors.split(",")):
            found = re.sub(r"var\(--([\w-]+)\)", lambda name: tokens.get(name[1], "inherit"), declared)
            inside = ".matrix " if "--c:" in found else ""  # a colour of the key, which fills the cells
            yield f"{inside}{selectors}{{{found.replace('--c:', 'fill:')}}}"
