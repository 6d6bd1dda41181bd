"""The ranking of slices by SliceLine (Sagadeeva and Boehm, SIGMOD 2021), as data for a test.

``pip install sliceline==0.3.0`` in an environment with scikit-learn, then
``python -m tests.features.weak_slices.rank_by_sliceline`` takes about a minute and writes `sliceline.json`.
Parameters: slices of one or two columns (``max_l=2``) with at least 30 rows (``min_sup``), the ten best
(``k=10``), and ``alpha=0.97``, the weight of the mean error against the size. SliceLine reads columns
of values, so that all columns are texts; it gets the rows of the first half, which our search ranks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.predictions import Predictions
from evalreport.features.weak_slices.search import split_halves
from tests.features.weak_slices.simulate import decided, letters

RANKED = Path(__file__).with_name("sliceline.json")
ROWS, SEEDS, BEST = 4_000, 10, 10
PARAMETERS = {"alpha": 0.97, "k": BEST, "max_l": 2, "min_sup": 30}
Bools = npt.NDArray[np.bool_]


def data_sets() -> Iterator[tuple[dict[str, Any], Predictions, Bools]]:
    """Yield a name, the predictions, and which rows are in the first half, of each data set."""
    for how in ("value", "crossing"):
        for size in (0.05, 0.1):
            for seed in range(SEEDS):
                generator = np.random.default_rng((7, seed, int(1000 * size)))
                columns = {name: letters(generator, ROWS) for name in ("site", "device", "plan", "source")}
                inside = generator.random(ROWS) < size
                if how == "value":
                    columns["site"] = np.where(inside, "rare", columns["site"])
                else:
                    both = [generator.random(ROWS) < np.sqrt(size) for _ in range(2)]
                    columns["site"], columns["device"] = (
                        np.where(part, "p", columns[name])
                        for part, name in zip(both, ("site", "device"), strict=True)
                    )
                    inside = both[0] & both[1]
                p = decided(generator, columns, np.where(inside, 0.3, 0.1))
                yield {"planted": how, "size": size, "seed": seed}, p, split_halves(ROWS, None, generator)


def best_slices(p: Predictions, first: Bools) -> list[dict[str, str]]:
    """Return the best slices of SliceLine, each as columns with their values."""
    from sliceline import Slicefinder

    coded = {
        name: np.unique(np.asarray(p.columns[name])[first].astype(str), return_inverse=True)
        for name in p.columns
    }
    finder = Slicefinder(**PARAMETERS, verbose=False)
    table = np.column_stack([codes + 1 for _, codes in coded.values()])
    finder.fit(table, (p.y_true != p.y_pred)[first].astype(float))
    return [
        {
            name: str(values[int(code) - 1])
            for (name, (values, _)), code in zip(coded.items(), row, strict=True)
            if code is not None
        }
        for row in finder.top_slices_[:BEST]
    ]


def main() -> None:
    """Rank the slices of each data set and write them."""
    found = [{**name, "best": best_slices(p, first)} for name, p, first in data_sets()]
    RANKED.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
