"""How cost grows with rows: measured from 100,000 to 100,000,000, beyond that modelled, and said so."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks import bench_scale, bench_spark
from tests.benchmarks.measure import Result, limit

LARGEST = int(os.environ.get("EVALREPORT_BENCH_ROWS", "100_000_000"))
SIZES = tuple(size for size in (10**5, 10**6, 10**7, 10**8) if size <= LARGEST)
BEYOND = (10**9, 10**10)
"""Rows that are modelled."""
PROMISED = 10**7
"""Rows from which bars are held: below them a process that starts is what costs."""
IN_SPARK = 10**6
"""Rows from which Spark is measured."""
SECONDS, MEMORY, DISK, BYTES = (
    "CPU seconds",
    "Greatest memory, GB",
    "Written to disk, GB",
    "Bytes to the driver of Spark",
)
SPARK, OWN, SPILT = "evaluation in Spark", "Spark's count and sum", "the same with less memory"
OURS = [*list(bench_scale.WORKS)[1:6], SPARK]

Grid = dict[str, dict[str, dict[int, float]]]
"""What was measured: the unit, the work, the rows."""


def measured() -> Grid:
    """Measure every size, each work in a process of its own, and say so."""
    grid: Grid = {SECONDS: {}, MEMORY: {}, DISK: {}, BYTES: {}}

    def note(unit: str, work: str, rows: int, value: float) -> None:
        grid[unit].setdefault(work, {})[rows] = value
        print(f"{rows:>13,} rows  {work:<32}{value:>14,.3f}  {unit}", flush=True)

    for rows in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "scores.parquet"
            bench_scale.written(path, rows)
            for work, cost in bench_scale.measured(path, rows):
                note(SECONDS, work, rows, cost.seconds)
                note(MEMORY, work, rows, cost.memory)
                if work == SPILT:
                    note(DISK, work, rows, cost.disk)
            if rows >= IN_SPARK and bench_spark.is_here():
                own, took, reported = bench_spark.measured(path)
                note(SECONDS, OWN, rows, own)
                note(SECONDS, SPARK, rows, took)
                note(BYTES, SPARK, rows, reported)
    return grid


def bars(grid: Grid) -> Iterator[Result]:
    """Yield what was promised, and whether it is kept."""
    for rows in (size for size in grid[SECONDS][OURS[0]] if size >= PROMISED):
        found = {
            work: bench_scale.Cost(points[rows], grid[MEMORY][work][rows])
            for work, points in grid[SECONDS].items()
            if work in bench_scale.WORKS and rows in points
        }
        yield from bench_scale.bars(rows, found)
        if rows in grid[SECONDS].get(SPARK, {}):
            spark = grid[SECONDS][OWN][rows], grid[SECONDS][SPARK][rows], grid[BYTES][SPARK][rows]
            yield from bench_spark.bars(rows, *spark)
    *_, (fewer, low), (rows, high) = sorted(grid[MEMORY][SPILT].items())
    if rows > PROMISED:
        what = f"with less memory: memory of {rows:,} rows over that of {fewer:,}"
        yield limit(what, high / low, "×", 1.3)


def modelled(points: Mapping[int, float], rows: int) -> float:
    """Return what a straight line through the two largest sizes below so many rows gives; it never falls."""
    (small, low), (large, high) = sorted(item for item in points.items() if item[0] < rows)[-2:]
    return high + max(0.0, high - low) / (large - small) * (rows - large)


def misses(points: Mapping[str, Mapping[int, float]]) -> tuple[float, float] | None:
    """Return by which shares the line through smaller sizes misses the largest, the least and the most."""
    largest = max(map(max, points.values()))
    off = [
        modelled(one, largest) / one[largest] - 1
        for one in points.values()
        if largest in one and len(one) > 2
    ]
    return (min(off), max(off)) if off else None


def tables(grid: Grid) -> str:
    """Return what was measured as tables, with the model in italics."""
    sizes = sorted({rows for works in grid.values() for points in works.values() for rows in points})
    every = [*sizes, *BEYOND]
    made = []
    for unit, works in grid.items():
        if not works:
            continue
        made.append(f"## {unit}\n\n| rows | {' | '.join(f'{rows:,}' for rows in every)} |\n")
        made.append("|---|" + "---:|" * len(every) + "\n")
        for work, points in works.items():
            made.append(f"| {work} | {' | '.join(_cell(points, rows, unit) for rows in every)} |\n")
        made.append("\n")
    return "".join(made)


def _cell(points: Mapping[int, float], rows: int, unit: str) -> str:
    """What was measured; in italics what the line gives beyond it; nothing below the first size."""

    def reported(value: float) -> str:
        return f"{value:,.0f}" if unit == BYTES or value >= 100 else f"{value:.2f}"

    if rows in points:
        return reported(points[rows])
    return f"*{reported(modelled(points, rows))}*" if len(points) > 1 and rows > max(points) else ""


HUES = ("#7a7a7a", "#0b5394", "#1f77b4", "#0b8043", "#00838f", "#6a3d9a", "#b45f06", "#c2185b")
COLOURS = {**dict(zip(bench_scale.WORKS, HUES, strict=True)), SPARK: "#b71c1c", OWN: "#8d6e63"}
"""Colours that are read on white."""


APART = 0.055
"""Share of the height of a chart between two names."""


def draw(grid: Grid, path: Path) -> None:
    """Draw seconds and memory over rows, both by powers of ten, each line with its name at its end."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.family": "sans-serif"}):
        figure = Figure(figsize=(8, 8.6), facecolor="white")
        for axes, unit in zip(figure.subplots(2, 1), (SECONDS, MEMORY), strict=True):
            _lines(axes, grid[unit], unit)
        figure.subplots_adjust(left=0.08, right=0.72, top=0.96, bottom=0.06, hspace=0.25)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _lines(axes: Any, works: Mapping[str, Mapping[int, float]], unit: str) -> None:
    """Draw what was measured whole, the model dashed."""
    measured_to, end = max(map(max, works.values())), BEYOND[-1]
    for work, points in works.items():
        last = max(points)
        beyond = [rows for rows in (10**power for power in range(5, 11)) if rows > last]
        line = {"color": COLOURS[work], "linewidth": 2 if work in OURS else 1.2}
        axes.plot(list(points), list(points.values()), marker="o", markersize=3, **line)
        if len(points) > 1:
            model = [points[last], *(modelled(points, rows) for rows in beyond)]
            axes.plot([last, *beyond], model, linestyle=(0, (4, 3)), **line)
    axes.set(xscale="log", yscale="log", xlabel="rows", xlim=(8e4, end))
    axes.set_title(unit, loc="left", fontsize=11, fontweight="bold")
    axes.axvspan(measured_to, end, color="#f1f3f4", zorder=0)
    axes.text(
        measured_to * 1.15, 0.02, "model, not measured", transform=axes.get_xaxis_transform(), fontsize=9
    )
    axes.minorticks_off()
    axes.grid(color="#dddddd", linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    _names(axes, {work: modelled(points, end) for work, points in works.items() if len(points) > 1})


def _names(axes: Any, ends: Mapping[str, float]) -> None:
    """Write the name of each line beside its end, at least the height of a line apart."""
    end, names = axes.get_xlim()[1], sorted(ends, key=ends.__getitem__)
    spots = axes.transData.transform([(end, ends[name]) for name in names])
    heights = list(axes.transAxes.inverted().transform(spots)[:, 1])
    for place in range(1, len(names)):
        heights[place] = max(heights[place], heights[place - 1] + APART)
    for place in reversed(range(len(names))):
        heights[place] = min(heights[place], heights[place + 1] - APART if place + 1 < len(names) else 1.0)
    for name, height in zip(names, heights, strict=True):
        line = {"arrowstyle": "-", "color": COLOURS[name], "linewidth": 0.6, "relpos": (0, 0.5)}
        axes.annotate(
            name, (end, ends[name]), (1.04, height), textcoords="axes fraction", va="center", fontsize=9,
            color=COLOURS[name], arrowprops={**line, "shrinkA": 1, "shrinkB": 0},
        )  # fmt: skip
