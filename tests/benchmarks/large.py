"""What takes long: ``make bench-large``; ``--write`` renews LARGE.md and growth.svg.

`EVALREPORT_BENCH_ROWS` (100,000,000) and `EVALREPORT_BENCH_RUNS` (1,000) make it shorter.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.benchmarks import experiment, growth
from tests.benchmarks.__main__ import HERE, SETTINGS
from tests.benchmarks.measure import Result, show, table

HEAD = """# What was measured at scale

Made by `python -m tests.benchmarks.large --write`; not edited by hand. CPU seconds and memory of one process
for each number, which had done the same with a thousand rows (Spark: of a session that had just begun),
on {cores} cores ({system}, Python {python}); GB are 1e9 bytes. Scores are float32,
of two labels, in Parquet; DuckDB and Polars make the table of scores alone.

"""
MODEL = """
Numbers in *italics* and dashed lines were not measured: they are the model, a straight line through the two
largest sizes that were. {missed}
Memory without a small `--set memory` grows by the words of the scores; with it words are written, twice
where a sixty-fourth of the rows takes more than a quarter of `--set memory` (here 100 MB).

![CPU seconds and memory over rows: measured up to {largest:,}, beyond that the model](growth.svg)

"""


def page(found: Iterable[Result], grid: growth.Grid) -> str:
    """Return everything as Markdown."""
    head = HEAD.format(cores=os.cpu_count(), system=platform.system(), python=platform.python_version())
    largest = max(grid[growth.SECONDS][growth.OURS[0]])
    reported = " and ".join(
        f"{off[0]:+.0%} to {off[1]:+.0%} of {what}"
        for unit, what in ((growth.SECONDS, "CPU seconds"), (growth.MEMORY, "greatest memory"))
        if (off := growth.misses(grid[unit]))
    )
    missed = f"The line through smaller sizes misses {largest:,} rows by {reported}." if reported else ""
    model = MODEL.format(missed=missed, largest=largest)
    return head + table(found) + model + growth.tables(grid).rstrip() + "\n"


def write(found: Iterable[Result], grid: growth.Grid, folder: Path = HERE) -> None:
    """Write the page and its figure."""
    (folder / "LARGE.md").write_text(page(found, grid), encoding="utf-8")
    growth.draw(grid, folder / "growth.svg")


def main() -> None:
    """Measure; write with ``--write``."""
    os.environ.update(SETTINGS)
    grid = growth.measured()
    found = [*growth.bars(grid), *experiment.results()]
    show(found)
    if "--write" in sys.argv:
        write(found, grid)


if __name__ == "__main__":
    main()
