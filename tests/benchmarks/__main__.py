"""Every benchmark of this folder, one after the other: ``make bench``; ``--write`` renews RESULTS.md."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.measure import Result, table

HERE = Path(__file__).parent
SETTINGS = {"OPENBLAS_NUM_THREADS": "1", "MLFLOW_DISABLE_TELEMETRY": "true", "PYTHONDONTWRITEBYTECODE": ""}
"""One thread for everyone: seconds of CPU are compared, and waiting threads would burn them. Compiled modules
are kept, as an installation keeps them."""
HEAD = """# What was measured

Made by `python -m tests.benchmarks --write`; not edited by hand. CPU seconds of one run on {cores} cores
({system}, Python {python}, NumPy {numpy}); ratios are taken within that run.

"""
TAIL = """
## Tried, and left out

- **Another sort.** On AMD's Zen 4 NumPy's AVX-512 sort takes 54 ms for a million float64, its AVX2 sort
  11 ms (`NPY_DISABLE_CPU_FEATURES`, read when NumPy is imported: for whoever starts the process). Bucketed
  by 16 bits and merged, the same takes 46 ms, and would be slower wherever NumPy's own sort is fast.
- **Batches of a stream sorted as they come**, and their ranges again: 0.29 s of 10,000,000 float32, where to
  put words into ranges by a table of their upper bits takes 0.08 and the ranges are sorted in any case.
  Presorted pieces do not help: 0.30 s in place of 0.29 (0.22 with NumPy's stable sort).
- **Three times Polars' group-by** at 10,000,000 rows: facts took 0.87 s of CPU and take 0.65, of which
  imports are 0.09, decoding 0.06, checks and codes of every row 0.09, digests of file and truth 0.06, the
  worst rows 0.03, one sort 0.05, runs and their columns 0.14, rows that repeat 0.05. The group-by decodes
  and counts; the bar would leave 0.43. Batches of 2^16 to 2^18 rows, `pre_buffer`, files mapped into memory:
  no difference beyond 0.02 s; memory that is given back later (`MALLOC_TRIM_THRESHOLD_`): 0.06 of the
  system's 0.12.
- **Smaller previews of figures**: WebP's fastest method and a coarser shrinking save 6 of 35 ms, PNG at the
  lowest compression 10 of 25 ms, for files that are a fifth to a third larger.
- **Running sums as integers.** Whole numbers in blocks, checked, added, turned back: 3.5 ms a million; as
  floats 3.4.
- **Ranges of equal width** for placing 100,000 scores among a class's examples: 0.6 ms for even scores in
  place of 3.4, but 5.0 in place of 2.5 where a softmax puts most near 0. Ranges of the upper bits of
  floats, which are used, take 0.5 for both.
- **A pooled ranking of few classes** by these ranges: 0.14 s at 77 classes in place of 0.12; kept, because
  1,000 classes and 50,000 rows take 0.30 s in place of 0.69, and one mechanism is less than two.
- **A pooled ranking of labels** by these ranges: 0.65 s at 50 labels and 100,000 rows in place of 0.5 for the
  sort of all 5,000,000 words and what followed: one decision in 25 is a positive, so that 84% of the ranges
  hold one and their scores are searched for after all. With ranges from the least score above 0, 0.38.
- **A merge of the sorted words of 50 labels** (NumPy's stable sort finds the runs) in place of a sort of all
  5,000,000: 0.131 s where the sort takes 0.055 (Intel, AVX-512); on AMD's Zen 4 a third of the sort.
- **Quantiles of 2,000 draws from a sort** in place of `numpy.quantile`: 0.045 ms against 0.047.
- **More ranges** for 1,000 classes: twice as many 0.94 s, four times 1.08, in place of 0.80: they leave
  the cache. With numbers of half the size, which they now have, twice as many take as much room: 0.17 s in
  place of 0.24 for 7,700,000 cells among 100,000 scores.
- **Ranges that tell the first score in them**, from which a cell goes up until it finds its place, in place
  of a search among all: 0.12 s where that takes 0.14; but where many scores share a range it would pass them
  one by one.
- **A stored table of a size known beforehand**, in place of pieces put together at the first look: 20 MB
  less of 0.24 GB at 10,000,000 rows, and no time (1.13 s in place of 1.12 when warm).
- **Ranges of a stream sorted by two halves of their words**, the lower one by NumPy's radix sort of 16 bits:
  16 ms a million in place of 24 on Zen 4, a sixteenth of the whole; slower wherever NumPy's own sort is fast.
- **Three times `mlflow.models.evaluate` with labels alone** at 1,000,000 rows: MLflow's own time for our
  metrics and files is 0.09 s (0.14 before curves were thinned), looks at the run between writes 0.1, three
  figures by matplotlib 0.2 (ticks and their texts, not lines), the page 0.07, the evaluation 0.4, of which
  the sort is 0.06: twice what the bar leaves.
- **Eight times** at 10,000,000 rows: the sort takes 0.74 s, and each array of full length up to 0.1 for pages
  of the system (2 of 4.7 s, before those that could be spared were). The bar leaves 1.4.
- **A compiled kernel** for 10,000,000 rows (Numba, one thread, where the sort took 0.09 s and the evaluation
  2.1): distinct scores and running sums 0.05 s in place of 0.16, rankings and sums over probabilities in one
  pass 0.08 in place of 0.17. That is 0.2 s of the whole, where twice as fast asks for more than a second.
- **All metrics without intervals in a tenth** of all with them: nothing is done for them that only intervals
  or curves need. At 1,000,000 rows of two classes the sort of the scores alone is a seventh of all with
  intervals, logistic and smooth fits are a third of what is left, running sums and rankings a fourth; of 77
  classes three quarters are the places of 7,700,000 cells, once among their class and once among all.
- **All metrics of 50 labels** ten times as fast: 40 ms a label, of which intervals of calibration errors are
  13, fits and the intervals of their gaps 9, readings of curves 6, counts 2.4, tables and rankings 3; no line
  takes a tenth. Sums of draws in place and one flat index for them: 3.4 ms an interval in place of 3.2. The
  smooth fit takes no fewer steps when these may be longer (9.3 in place of 8.8). A compiled kernel was not
  written: it would do passes over rows and draws, 24 of the 40 ms, and neither random numbers nor quantiles,
  so that at best the whole would take 1.6 times less.
- **Quantiles of gaps by a partition** where all groups weigh alike, and ends of draws not read twice: no
  difference at 50 labels, one of whose groups holds the scores that are 0.
"""


def main() -> int:
    """Run each ``bench_*.py`` in a process of its own; return how many of them broke."""
    found: list[Result] = []
    broken = []
    for path in sorted(HERE.glob("bench_*.py")):
        print(f"\n== {path.stem}", flush=True)
        start = time.perf_counter()
        results = _run(path.stem)
        if results is None:
            broken.append(path.stem)
        found += results or []
        print(f"-- {path.stem}: {time.perf_counter() - start:.0f} s", flush=True)
    barred = [result for result in found if result.passed is not None]
    print(f"\n{sum(result.passed is True for result in barred)} of {len(barred)} bars kept")
    for result in barred:
        if not result.passed:
            print(f"  missed: {result.what}: {result.figure} {result.against} (bar {result.bar})")
    if "--write" in sys.argv and not broken:
        (HERE / "RESULTS.md").write_text(_table(found), encoding="utf-8")
    for name in broken:
        print(f"  broken: {name}")
    return len(broken)


def _run(name: str) -> list[Result] | None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "results.json"
        command = [sys.executable, "-m", f"tests.benchmarks.{name}", "--to", str(place)]
        done = subprocess.run(command, check=False, env={**os.environ, **SETTINGS})
        if done.returncode or not place.exists():
            return None
        return [Result(**row) for row in json.loads(place.read_text(encoding="utf-8"))]


def _table(found: list[Result]) -> str:
    import numpy as np

    head = HEAD.format(
        cores=os.cpu_count(), system=platform.system(), python=platform.python_version(), numpy=np.__version__
    )
    return head + table(found) + TAIL


if __name__ == "__main__":
    sys.exit(main())
