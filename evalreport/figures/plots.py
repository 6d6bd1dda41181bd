"""Draws curves and matrices as `Figure` objects: no pyplot state, no mathtext.

The settings of the caller (`rcParams`) are not changed."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from io import BytesIO
from threading import RLock
from typing import TYPE_CHECKING, Any, ParamSpec, cast

import numpy as np
import numpy.typing as npt

from evalreport.comparison.comparison import Comparison
from evalreport.core.errors import UsageError
from evalreport.core.result import Estimate, Undefined
from evalreport.core.text import printable
from evalreport.curves.curve import Band, Curve, Histogram, Reliability
from evalreport.data.labels import Binary
from evalreport.evaluation.evaluation import Evaluation, ThresholdSelection

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
"""Fonts of Linux, macOS and Windows, tried in this order, so that a machine always draws the same."""


def families() -> list[str]:
    """Return the fonts to draw with, each for what those before it lack."""
    from matplotlib.font_manager import fontManager

    installed = {entry.name for entry in fontManager.ttflist}
    return [OWN, *(name for name in OTHERS if name in installed)]


BLUE, ORANGE, INK, GREY, LINE = "#0a5ba8", "#b0370c", "#14202c", "#485867", "#d8dfe6"
BLUES = ("#ffffff", "#dbe9f7", "#a9cdee", "#4a8fcf", "#0a5ba8")
LINES = ("solid", "dashed", "dashdot", "dotted", (0, (8, 2, 1, 2, 1, 2)))
"""Line styles of several runs: they never differ only in colour."""
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
    "axes.titley": 1.0,  # else its position is recomputed with every text of both axes
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
"""Ticks of a unit square, fixed so that none is outside."""

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


COLORS = (BLUE, ORANGE, GREY, "#4a8fcf", "#71200a")


@apply_figure_style
def roc_curve(*evaluations: Evaluation) -> Figure:
    """Draw true against false positive rates, each run with its AUC; one run with its band.

    Examples
    --------
    >>> import evalreport as er
    >>> ev = er.evaluate([0, 1, 0, 1], scores=er.Probabilities([0.1, 0.4, 0.35, 0.8]))
    >>> roc_curve(ev).axes[0].get_xlabel()
    'false positive rate (1 − specificity)'
    """
    figure, axes = _overlaid(evaluations, "roc", "AUC", lambda _: "roc_auc")
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="dotted")
    axes.text(0.62, 0.56, "no skill", color=GREY, fontsize=9)
    unit_square(figure, axes, "false positive rate (1 − specificity)", "true positive rate (recall)")
    axes.set_title("ROC curve")
    axes.legend(loc="lower right", fontsize=9)
    return figure


@apply_figure_style
def pr_curve(*evaluations: Evaluation) -> Figure:
    """Draw precision against recall, each run with its average precision."""
    figure, axes = _overlaid(evaluations, "pr", "AP", _average_precision)
    level = evaluations[0].no_skill.get(_average_precision(evaluations[0])) if evaluations else None
    if level is not None:
        axes.axhline(level, color=GREY, linewidth=0.8, linestyle="dotted")
        axes.text(1.0, level, f"prevalence {level:.2g}", color=GREY, fontsize=9, ha="right", va="bottom")
    unit_square(figure, axes, "recall", "precision")
    axes.set_title("Precision-recall curve")
    axes.legend(loc="lower left", fontsize=9)
    return figure


def _average_precision(ev: Evaluation) -> str:
    return "average_precision" if ev.task == "binary" else "average_precision_micro"


def _overlaid(
    evaluations: Sequence[Evaluation], kind: str, area: str, metric: Callable[[Evaluation], str]
) -> tuple[Figure, Axes]:
    """A line per run, named with its area; of one run the band, too."""
    figure, axes = new_figure()
    for place, ev in enumerate(evaluations):
        line(axes, part(ev, kind), f"{_name(ev)}{area} {_range(ev, metric(ev))}", place)
    if len(evaluations) == 1:
        band(axes, getattr(evaluations[0].curves, f"{kind}_band", None))
    return figure, axes


@apply_figure_style
def reliability(*evaluations: Evaluation) -> Figure:
    """Draw observed shares against mean scores with Wilson limits."""
    figure, axes = new_figure()
    axes.plot([0, 1], [0, 1], color=GREY, linewidth=0.8, linestyle="dotted")
    for place, ev in enumerate(evaluations):
        bins = part(ev, "reliability")
        if not isinstance(bins, Reliability):
            continue
        down = [o - low for o, low in zip(bins.observed, bins.low, strict=True)]
        up = [high - o for o, high in zip(bins.observed, bins.high, strict=True)]
        axes.errorbar(
            bins.score, bins.observed, [down, up], fmt="o", markersize=4, linewidth=1, color=COLORS[place % 5]
        )
    unit_square(figure, axes, "mean predicted probability", "observed share")
    axes.set_title("Reliability")
    return figure


@apply_figure_style
def coverage(ev: Evaluation) -> Figure:
    """Draw accuracy against coverage, most confident rows first (multiclass)."""
    figure, axes = new_figure()
    line(axes, part(ev, "coverage"), "", 0)
    unit_square(figure, axes, "share answered", "accuracy among the answered")
    axes.set_title("Accuracy against coverage")
    return figure


@apply_figure_style
def thresholds(ev: Evaluation) -> Figure:
    """Draw precision, recall and F1 at every threshold (binary)."""
    from evalreport.metrics.binary_decisions import f1, precision, recall

    if ev.sweep is None:
        raise UsageError("there is no threshold to move", fix="log scores of a binary problem")
    figure, axes = new_figure()
    for place, (name, function) in enumerate((("precision", precision), ("recall", recall), ("F1", f1))):
        style: Any = LINES[place]
        axes.plot(
            ev.sweep.thresholds, function(ev.sweep.counts), color=COLORS[place], linestyle=style, label=name
        )
    if ev.threshold is not None and isinstance(ev.threshold.value, float) and np.isfinite(ev.threshold.value):
        axes.axvline(ev.threshold.value, color=GREY, linewidth=0.8, linestyle="dotted")
    axes.set(xlabel="threshold", ylim=(-0.01, 1.02), title="Every threshold")
    axes.legend(fontsize=9)
    return figure


def part(ev: Evaluation, name: str) -> Any:
    """Return a series of an evaluation.

    Raises
    ------
    UsageError
        The evaluation has none, with the reason.
    """
    series = ev.curves if isinstance(ev.curves, Undefined) else getattr(ev.curves, name, None)
    if series is None or isinstance(series, Undefined):
        reason = f"{ev.task} problems have none" if series is None else series.reason
        raise UsageError(f"there is no {name} curve: {reason}", fix="log one score per label")
    return series


def line(axes: Axes, curve: Curve, label: str, place: int) -> None:
    """Draw one run's line with its own style and colour."""
    style: Any = LINES[place % len(LINES)]
    axes.plot(
        curve.x,
        curve.y,
        color=COLORS[place % len(COLORS)],
        linestyle=style,
        linewidth=1.8,
        drawstyle="steps-pre" if curve.steps else "default",
        label=label or None,
    )


def band(axes: Axes, limits: Band | None) -> None:
    """Shade pointwise limits."""
    if isinstance(limits, Band):
        axes.fill_between(
            limits.x,
            limits.low,
            limits.high,
            step="pre" if limits.steps else None,
            color=BLUE,
            alpha=0.15,
            lw=0,
        )


def _name(ev: Evaluation) -> str:
    name = ev.provenance.run_name or ev.provenance.title
    return f"{name[:30]}: " if name else ""


def _range(ev: Evaluation, metric: str) -> str:
    result = ev.metrics.get(metric)
    if not isinstance(result, Estimate):
        return "undefined"
    interval = "" if result.low is None else f" ({result.low:.2f} to {result.high:.2f})"
    return f"{result.value:.2f}{interval}"


ANNOTATED = 20
"""Labels up to which every cell carries its count."""
NAMED = 80
"""Labels up to which every row is named; above, about forty of them are."""


@apply_figure_style
def confusion_matrix(ev: Evaluation) -> Figure:
    """Draw the confusion matrix: rows are true labels, columns predictions, coloured by proportion of the
    row.

    Raises
    ------
    UsageError
        The evaluation has no confusion matrix (multilabel, or nothing decides).
    """
    from matplotlib.colors import LinearSegmentedColormap

    if ev.confusion is None:
        raise UsageError(
            "there is no confusion matrix", fix="multilabel problems and scores without predictions have none"
        )
    ev = ev.in_rows()
    assert ev.confusion is not None  # noqa: S101  asked before
    counts = ev.confusion.dense()
    if not ev.confusion.unparsed_weight:
        counts = counts[:, :-1]
    rows = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, rows, out=np.zeros_like(counts), where=rows > 0)
    size = len(counts)
    side = (
        float(np.clip(1.6 + 0.42 * size, 4.4, 9.0)) if size <= ANNOTATED else (9.0 if size <= NAMED else 7.5)
    )
    figure, axes = new_figure(side + 0.8, side)
    colors = LinearSegmentedColormap.from_list("evalreport", BLUES)
    names = [short_name(name) for name in ev.space.names]
    if size <= NAMED:
        _cells(figure, axes, share, counts, colors)
    else:
        axes.imshow(share, cmap=colors, vmin=0, vmax=1, interpolation="antialiased", aspect="auto")
    _name_axes(axes, names, [*names, "(unparsed)"][: counts.shape[1]], 0.5 if size <= NAMED else 0.0)
    axes.set(
        xlabel="predicted", ylabel="truth", title="Confusion matrix (colour: proportion of the true label)"
    )
    return figure


def _cells(
    figure: Figure,
    axes: Axes,
    share: npt.NDArray[np.float64],
    counts: npt.NDArray[np.float64],
    colors: object,
) -> None:
    import seaborn as sns
    from matplotlib.backend_bases import FigureCanvasBase
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    small = len(counts) <= ANNOTATED
    FigureCanvasBase(figure)  # seaborn draws it all to see whether its own names, which go, overlap
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
    FigureCanvasAgg(figure)


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


MOST = 40
"""Classes that are drawn, the hardest: as many as can be read."""


@apply_figure_style
def score_distributions(ev: Evaluation) -> Figure:
    """Draw the scores of each class; for several classes or labels the confidence of right and wrong
    predictions.

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
    above, below = (ev.space.display_labels[1], ev.space.display_labels[0]) if binary else ("right", "wrong")
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
    axes.set_title("Scores by true class" if binary else "Confidence of right and wrong predictions")
    return figure


@apply_figure_style
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


MOST_OBJECTIVES = 12
"""Objectives that have axes of their own."""


@apply_figure_style
def objective_curves(chosen: ThresholdSelection) -> Figure:
    """Draw each objective over the threshold, with the best one and its interval (binary).

    Raises
    ------
    UsageError
        There is no threshold.
    """
    sweep = chosen.evaluation.sweep
    counted = {name: best for name, best in chosen.optima.items() if name in chosen.objectives}
    found = {name: best for name, best in counted.items() if np.isfinite(best.threshold)}
    if sweep is None or not found:
        raise UsageError("there is no threshold to draw", fix="sweep scores of a binary problem")
    shown = list(found.items())[:MOST_OBJECTIVES]
    figure, grid = small_charts(len(shown))
    for (name, best), axes in zip(shown, grid, strict=True):
        objective = chosen.objectives[name]
        score = np.asarray(objective.score(sweep.counts))
        kept = np.isfinite(score) & np.isfinite(sweep.thresholds)
        axes.plot(sweep.thresholds[kept], -score[kept] if objective.lower else score[kept], color=BLUE)
        axes.axvline(best.threshold, color=GREY, linestyle="dashed", linewidth=0.9)
        if best.low is not None and best.high is not None and np.isfinite(best.high):
            axes.axvspan(best.low, best.high, color=BLUE, alpha=0.12, linewidth=0)
        name_axes(axes, "threshold", best.metric, f"{name}: {best.threshold:.3g}")
    return figure


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
