"""Curves on integer grids, as MLflow's charts overlay them: steps are percents, the scale is in the key.

Metrics of a cross-validation have a step for each fold.

Tables of an evaluation as plain columns, for MLflow's table view, for CSV and for Parquet.

Figures and tables of a page as files of their own, SVG and CSV, by the names on the page.

They are read from the page itself, so that every figure and table is among them whatever panel it is of, and
the page's own script offers the same files under the same names. Our pages are no foreign HTML: attributes
are quoted and escaped, tables do not nest, so that no general parser, ten times as slow, is needed.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from html import escape, unescape
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.core.json_codec import encode
from evalreport.core.result import Undefined
from evalreport.curves.curve import Curve, bends
from evalreport.data.labels import REASONS, UNPARSED, Binary, Multiclass, Multilabel
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.parts import ClassResult
from evalreport.intervals.folds import FoldedMetric
from evalreport.metrics.catalogue import AT_THRESHOLDS, COMPARED, find
from evalreport.page.payload import MAX_STEPS, Series
from evalreport.page.render import asset
from evalreport.statistics.confusion import Counts
from evalreport.thresholds.objectives import Objective
from evalreport.thresholds.sweep import Sweep

Array: TypeAlias = npt.NDArray[np.float64]

PERCENT = np.arange(101)
TENTH = 10
"""Percents at which every curve has a step, so that a chart tells the values of all runs there."""
SHOWS = 1 / 400
"""A step less that moves the line by no more than this share of its height does not show: cards of MLflow are
about 200 points high. A store takes a fifth of a millisecond for a step."""
CURVES: tuple[tuple[str, str], ...] = (
    ("roc", "curves/roc_tpr_by_fpr_pct"),
    ("pr", "curves/pr_precision_by_recall_pct"),
    ("gain", "curves/gain_recall_by_flagged_pct"),
    ("benefit", "curves/net_benefit_by_threshold_pct"),
    ("coverage", "curves/accuracy_by_coverage_pct"),
)
"""Part of the evaluation's curves, and the key of its series; x goes from 0 to 1 in all of them."""


def grids(ev: Evaluation) -> dict[str, Series]:
    """Return every curve of an evaluation at percents, without undefined and redundant points.

    Parameters
    ----------
    ev : Evaluation

    Returns
    -------
    dict from key (without prefix) to ((percent, value), …)
    """
    found: dict[str, Series] = {}
    if not isinstance(ev.curves, Undefined):
        for name, key in CURVES:
            curve = getattr(ev.curves, name, None)
            if isinstance(curve, Curve):
                found[key] = on_grid(lambda x, curve=curve: interpolate_curve(curve, x))  # type: ignore[misc]
    if isinstance(ev.space, Binary) and ev.sweep is not None and ev.score_kind == "probability":
        counts = ev.sweep.counts_at_threshold(PERCENT / 100)
        for name in AT_THRESHOLDS:
            with np.errstate(divide="ignore", invalid="ignore"):
                values = np.asarray(Objective(name).value(counts), dtype=np.float64)
            found[f"thresholds/{name}_by_threshold_pct"] = series_of(values)
    if ev.folds is not None:
        found |= {
            f"folds/{name}": _by_fold(ev.folds[name])
            for name in COMPARED[ev.task]
            if name in ev.folds.metrics
        }
    return {key: series for key, series in found.items() if series}


def _by_fold(line: FoldedMetric) -> Series:
    """A step for each fold in which the metric is defined."""
    steps = [(step, value) for step, value in enumerate(line.folds) if value is not None]
    return tuple(steps[:MAX_STEPS])


def on_grid(function: Callable[[Array], Array]) -> Series:
    """Return the values of a function of a share at 0% to 100%, see `series_of`.

    Examples
    --------
    >>> on_grid(lambda x: np.where(x < 0.8, np.nan, np.maximum(x, 0.9)))
    ((80, 0.9), (90, 0.9), (100, 1.0))
    """
    return series_of(function(PERCENT / 100))


def interpolate_curve(curve: Curve, x: Array) -> Array:
    """Return the height of a curve at places; NaN outside it.

    Where the curve rises straight up, the upper end counts; steps hold on ``(x[i-1], x[i]]``.

    Examples
    --------
    >>> interpolate_curve(Curve((0.0, 0.0, 1.0), (0.0, 0.5, 1.0)), np.array([0.0, 0.5]))
    array([0.5 , 0.75])
    >>> interpolate_curve(Curve((0.0, 0.5, 1.0), (1.0, 1.0, 0.6), steps=True), np.array([0.5, 0.6]))
    array([1. , 0.6])
    """
    xs, ys = np.asarray(curve.x), np.asarray(curve.y)
    if curve.steps:
        places = np.searchsorted(xs, x - 1e-12, side="left")
        inside = ys[np.minimum(places, len(ys) - 1)]
    else:
        inside = np.interp(x + 1e-15, xs, ys)
    return np.where((x >= xs[0] - 1e-12) & (x <= xs[-1] + 1e-12), inside, np.nan)


def series_of(values: npt.ArrayLike) -> Series:
    """Return values at 0%, 1%, …, 100% as a series.

    Undefined values are skipped, and so are those between tens that linear interpolation reproduces.

    Parameters
    ----------
    values : array-like of shape (101,)
    """
    found = np.asarray(values, dtype=np.float64)
    steps = np.flatnonzero(np.isfinite(found))
    if not len(steps):
        return ()
    known = found[steps]
    height = max(float(np.ptp(known)), 1e-300)
    kept = bends(
        steps.astype(np.float64), known / height, np.flatnonzero(steps % TENTH == 0), len(steps), SHOWS
    )
    return tuple(zip(steps[kept].tolist(), known[kept].tolist(), strict=True))


Columns: TypeAlias = dict[str, list[Any]]

PER_CLASS = ("f1", "recall", "precision", "roc_auc", "average_precision")
WITH_INTERVAL = PER_CLASS[:3]
_FORMULA = re.compile(r"^[\s\0]*[=+\-@＝＋－＠\t\r]")


def metrics_table(ev: Evaluation) -> Columns:
    """Return one row per metric: its value, interval, how that was made, and why there is none.

    MLflow's table view groups by the first column and compares the second across runs.

    Parameters
    ----------
    ev : Evaluation
    """
    columns: Columns = {"metric": list(ev.metrics)}
    rows = [encode(result) for result in ev.metrics.values()]
    for name in ("value", "low", "high"):
        columns[name] = [row[name] for row in rows]
    columns["no_skill"] = [ev.no_skill.get(name) for name in ev.metrics]
    for name in ("n", "method", "reason"):
        columns[name] = [row[name] for row in rows]
    columns["title"] = [find(name, ev.task).title for name in ev.metrics]
    return columns


def classes_table(ev: Evaluation) -> Columns:
    """Return one row per label: metrics with intervals, counts, state, what it is mistaken for.

    No rows for a binary problem: its two labels are the metrics themselves.

    Parameters
    ----------
    ev : Evaluation
    """
    columns: Columns = {"label": [str(entry.label) for entry in ev.classes]}
    for name in PER_CLASS:
        columns[name] = [_result_part(entry, name, "value") for entry in ev.classes]
    for name in ("support", "predicted", "state"):
        columns[name] = [getattr(entry, name) for entry in ev.classes]
    for name in WITH_INTERVAL:
        for end in ("low", "high"):
            columns[f"{name}_{end}"] = [_result_part(entry, name, end) for entry in ev.classes]
    columns["mistaken_for"] = [_mistaken(entry) for entry in ev.classes]
    return columns


def _result_part(entry: ClassResult, name: str, part: str) -> float | None:
    result = entry.metrics.get(name)
    return None if result is None or isinstance(result, Undefined) else getattr(result, part)


def _mistaken(entry: ClassResult) -> str:
    named = ("(unparsed)" if other.label is None else str(other.label) for other in entry.confusions)
    return ", ".join(f"{name} {other.weight:g}" for name, other in zip(named, entry.confusions, strict=True))


def confusions_table(space: Multiclass, counts: Counts) -> Columns:
    """Return one row per confusion, most frequent first: true label, prediction, weight; null if unparsed.

    Parameters
    ----------
    space : Multiclass
    counts : Counts
    """
    cells, answers = counts.off_diagonal, (*space.names, None)
    return {
        "truth": [space.names[code] for code in counts.rows[cells].tolist()],
        "answer": [answers[code] for code in counts.columns[cells].tolist()],
        "weight": counts.weight[cells].tolist(),
    }


def thresholds_table(sweep: Sweep) -> Columns:
    """Return one row per threshold: F1, precision, recall and the four counts; infinity is null.

    Parameters
    ----------
    sweep : Sweep
    """
    counts = sweep.counts
    columns: Columns = {"threshold": _numbers(sweep.thresholds)}
    for name in ("f1", "precision", "recall"):
        columns[name] = _numbers(Objective(name).value(counts))
    for name in ("tp", "fp", "fn", "tn"):
        columns[name] = _numbers(getattr(counts, name))
    return columns


def _numbers(values: Any) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]


def predictions_table(ev: Evaluation) -> Columns:
    """Return one row per example: id, truth, prediction, whether it was right, and why it was not read.

    Labels read from text also have the digest of the text, never the text itself. Multilabel truth and
    predictions are lists of labels. Without predictions at hand there are no rows.

    Parameters
    ----------
    ev : Evaluation
    """
    p = ev.predictions
    if p is None:
        return {}
    ids = [str(row) for row in range(len(p))] if p.ids is None else p.ids.tolist()
    columns: Columns = {"example_id": ids, "y_true": _labels(ev, p.y_true)}
    if p.y_pred is None:
        return {
            **columns,
            "y_pred": [None] * len(p),
            "status": ["undecided"] * len(p),
            "reason": [""] * len(p),
        }
    same = p.y_true == p.y_pred
    right = same.all(axis=1) if same.ndim == 2 else same
    unparsed = [False] * len(p) if same.ndim == 2 else (p.y_pred == UNPARSED).tolist()
    columns["y_pred"] = _labels(ev, p.y_pred)
    columns["status"] = [
        "unparsed" if lost else "right" if good else "wrong"
        for lost, good in zip(unparsed, right.tolist(), strict=True)
    ]
    reasons = [0] * len(p) if p.parsed is None else p.parsed.reasons.tolist()
    columns["reason"] = [REASONS[reason] for reason in reasons]
    if p.parsed is not None:
        raw = (text.encode("utf-8", "surrogatepass") for text in p.parsed.texts)
        columns["text_digest"] = [sha256(text).hexdigest()[:16] for text in raw]
    return columns


def _labels(ev: Evaluation, codes: Any) -> list[Any]:
    names = [str(label) for label in ev.space.labels]
    if isinstance(ev.space, Multilabel):
        return [[names[code] for code in row.nonzero()[0]] for row in codes]
    return [None if code == UNPARSED else names[code] for code in codes.tolist()]


def as_csv(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as CSV that no spreadsheet takes for formulas; numbers stay numbers.

    Text that begins like a formula gets an apostrophe before it.

    Examples
    --------
    >>> as_csv({"label": ["=1+1", "a,b"], "f1": [-0.5, None]}).decode().split()
    ['label,f1', "'=1+1,-0.5", '"a,b",']
    """
    return csv_rows([list(columns), *map(list, zip(*columns.values(), strict=True))])


def csv_rows(rows: Iterable[Sequence[Any]]) -> bytes:
    """Return rows as CSV, as `as_csv` does."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)  # lines end in CR LF, so that a CR inside a text is quoted
    writer.writerows(map(_cell, row) for row in rows)
    return stream.getvalue().encode("utf-8", "replace")


def _cell(value: Any) -> Any:
    if isinstance(value, str) and _FORMULA.match(value):
        return "'" + value
    return value


def as_parquet(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """Return columns as a Parquet file.

    Examples
    --------
    >>> as_parquet({"y_true": ["a"]})[:4]
    b'PAR1'
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.table({name: list(column) for name, column in columns.items()}), stream)
    return stream.getvalue()


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
DRAWN = re.compile(r"^[.](chart|ring|matrix|scores|parallel|plot(?! svg)|plotted|worse|none|[rw]\d)\b")
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
                figures[f"figures/{named[1]}.svg"] = _standalone_svg(_whole(page, piece.start())).encode()
        else:
            unnamed += named is None
            name = named[1] if named else section + (f"-{unnamed}" if unnamed > 1 else "")
            tables[f"tables/{name}.csv"] = csv_rows(_rows(piece[3], forest='"forest' in piece[2]))
            if "<svg" in piece[3]:
                figures[f"figures/{name}.svg"] = _standalone_svg(_draw_table(piece[3])).encode()
    return figures | tables


def _rows(body: str, *, forest: bool) -> Iterator[list[str | float]]:
    """Rows of a table; an interval drawn in a forest is also in the other columns as text."""
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


def _draw_table(body: str) -> str:
    """A table with intervals in it as one drawing, as the page's script draws it."""
    rows = [[_parse_cell(*cell[1:]) for cell in CELL.findall(row)] for row in ROW.findall(body)]
    wide: dict[int, int] = {}
    for row in rows:
        for at, (drawing, _, text, _) in enumerate(row):
            wide[at] = max(wide.get(at, 0), GAP + 7 * len(text) + (AXIS + 10 if drawing else 0))
    parts = []
    for place, row in enumerate(rows):
        x, y = 10, LINE * place + 18
        for at, (drawing, ends, text, right) in enumerate(row):
            start = x + wide[at] - GAP if right else x + AXIS + 10 if drawing else x
            parts.append(_text_element(start, y, text, "end" if right else "start"))
            for k, end in enumerate(ends):
                side = ("start", "middle", "end")[(k > 0) + (k == len(ends) - 1)]
                parts.append(_text_element(x + AXIS * k / (len(ends) - 1), y, end, side))
            box = f'x="{x}" y="{y - 16}" width="{AXIS}" height="24" overflow="visible"'
            head, rest = drawing.split(">", 1) if drawing else ("", "")
            if drawing:
                own = re.sub(r' (?:width|height)="[^"]*"', "", head).removeprefix("<svg")
                parts.append(f"<svg {box}{own}>{rest}")
            x += wide[at]
    size = f'width="{10 + sum(wide.values())}" height="{LINE * len(rows)}" font-size="13"'
    title = " · ".join(cell[2] for cell in rows[0] if cell[2])
    return f'<svg class="plot" {size} role="img"><title>{escape(title)}</title>{"".join(parts)}</svg>'


def _parse_cell(attributes: str, inner: str) -> tuple[str, list[str], str, bool]:
    """Of a cell: its drawing, the ends of an axis, its words but no gloss, whether they end right."""
    drawing = DRAWING.search(inner)
    if drawing:
        return drawing[0], [], " ".join(map(_text, SMALL.findall(inner))), False
    ends = [_text(end) for end in SPAN.findall(inner.partition('class="ends"')[2])]
    text = "" if ends else _text(inner.partition('<span class="gloss"')[0])
    return "", ends, text, bool(ENDING.search(attributes))


def _text_element(x: float, y: int, text: str, side: str) -> str:
    return f'<text x="{x:g}" y="{y}" text-anchor="{side}">{escape(text)}</text>' if text else ""


def _whole(page: str, start: int) -> str:
    """A figure from its beginning to its end; others may stand within it."""
    deep = 0
    for edge in re.finditer(r"<svg\b|</svg>", page[start:]):
        deep += 1 if edge[0] == "<svg" else -1
        if not deep:
            return page[start : start + edge.end()]
    return page[start:]


def _standalone_svg(svg: str) -> str:
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
    for selectors, declared in re.findall(r"\s*([^{}]+)\{([^{}]*)\}", css):
        if all(DRAWN.match(part) for part in selectors.split(",")):
            found = re.sub(r"var\(--([\w-]+)\)", lambda name: tokens.get(name[1], "inherit"), declared)
            inside = ".matrix " if "--c:" in found else ""  # a colour of the key, which fills the cells
            yield f"{inside}{selectors}{{{found.replace('--c:', 'fill:')}}}"
