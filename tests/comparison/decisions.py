"""How often what a comparison concludes is so: best groups, ranks, detectable differences, verdicts.

`make coverage` runs it and keeps the result in `decisions.json` beside this file.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from evalreport.comparison.compare import compare
from evalreport.comparison.comparison import Comparison
from evalreport.comparison.matched_thresholds import matched_runs
from evalreport.comparison.sample_size import rows_needed
from evalreport.data.labels import Binary
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions
from evalreport.intervals.interval_settings import Sampling
from tests.comparison import models
from tests.comparison.simulate import Setting, truth

RESULT = Path(__file__).parent / "decisions.json"
EQUAL = (
    (Setting("binary", 300, (0.3,), (1.8,), 0.6), 5, ("roc_auc", "mcc", "accuracy")),
    (Setting("binary", 300, (0.1,), (1.8,), 0.3), 10, ("roc_auc", "mcc", "accuracy")),
    (Setting("multiclass", 300, (0.2,) * 5, (1.8,), 0.5), 5, ("accuracy", "f1_macro")),
)
"""Equally good runs: one setting, how many of them, and the metrics that rank them."""
UNEQUAL = Setting("binary", 300, (0.3,), (2.2, 2.1, 2.0, 1.6, 1.0), 0.6)
"""Five runs of falling skill: the first is truly the best, by every metric."""
POWER = (
    (Setting("binary", 600, (0.3,), (2.2, 1.9), 0.5), ("recall", "accuracy", "f1", "roc_auc", "log_loss")),
    (Setting("multiclass", 600, (0.2,) * 5, (2.0, 1.8), 0.5), ("accuracy", "f1_macro", "log_loss")),
)


@dataclass(frozen=True)
class Recall:
    """Two equally good runs with a recall, three negatives to a positive; scores in steps, if any."""

    positives: int
    recall: float
    correlation: float
    step: float = 0.0

    def draw(self, rng: np.random.Generator) -> list[Predictions]:
        """Draw the answers of both; the threshold is one of the steps."""
        truth, threshold = (
            np.arange(4 * self.positives) < self.positives,
            1.8 - NormalDist().inv_cdf(self.recall),
        )
        shared, found = rng.standard_normal(len(truth)), []
        for _ in range(2):
            own = rng.standard_normal(len(truth))
            scores = 1.8 * truth + self.correlation**0.5 * shared + (1 - self.correlation) ** 0.5 * own
            scores -= threshold
            scores = self.step * np.round(scores / self.step) if self.step else scores
            found.append(
                predictions(Binary(0, 1), truth.astype(int), scores=Decisions(scores), threshold=0.0)
            )
        return found


RECALLS = tuple(
    Recall(positives, recall, correlation, step)
    for positives in (50, 100, 200)
    for recall in (0.9, 0.95, 0.99)
    for correlation, step in ((0.3, 0.0), (0.7, 0.0), (0.3, 0.5))
)
FEW = Sampling(resamples=2)
"""At equal recall nothing is drawn."""
PILOTS = 20
"""Samples whose mean detectable difference says how many rows the true one needs."""


def _compared(
    setting: Setting, rng: np.random.Generator, metrics: tuple[str, ...], n: int = 0, *, details: bool = False
) -> Comparison:
    runs = [models.bare(p) for p in setting.draw(rng, n)]
    return compare(runs, metrics=metrics, primary=metrics[0], details=details)


def best_groups(setting: Setting, runs: int, metric: str, times: int) -> dict[str, Any]:
    """Return how often the best group held all of several equally good runs."""
    rng = np.random.default_rng([1, setting.n, runs])
    equal = replace(setting, skills=setting.skills[:1] * runs)
    held = sum(all(e.best_group for e in _compared(equal, rng, (metric,)).ranking) for _ in range(times))
    return {
        "setting": equal.what,
        "n": setting.n,
        "runs": runs,
        "metric": metric,
        "times": times,
        "held_all": held / times,
    }


def significant_rate(setting: Setting, metric: str, times: int) -> dict[str, Any]:
    """Return how often two equally good runs got a verdict, over all that is looked at."""
    rng = np.random.default_rng([5, setting.n])
    equal = replace(setting, skills=setting.skills[:1] * 2)
    pairs = (_compared(equal, rng, (metric,), details=True).verdicts[0] for _ in range(times))
    apart = sum(pair.verdict != "not_significant" for pair in pairs)
    return {
        "setting": equal.what,
        "n": setting.n,
        "metric": metric,
        "times": times,
        "told_apart": apart / times,
    }


def truly_best(setting: Setting, metric: str, times: int) -> dict[str, Any]:
    """Return how often the best group held the truly best run, and every run's ranks its true one."""
    rng = np.random.default_rng([2, setting.n])
    held = ranks = 0
    for _ in range(times):
        found = {entry.run: entry for entry in _compared(setting, rng, (metric,)).ranking}
        held += found["run 1"].best_group
        spans = [found[f"run {place}"].ranks or (0, 0) for place in range(1, len(setting.skills) + 1)]
        ranks += all(low <= place <= high for place, (low, high) in enumerate(spans, start=1))
    return {
        "setting": setting.what,
        "n": setting.n,
        "metric": metric,
        "times": times,
        "held_best": held / times,
        "held_ranks": ranks / times,
    }


def power(setting: Setting, metric: str, times: int) -> dict[str, Any]:
    """Return how often a difference was demonstrated on as many rows as the pilots said it needs."""
    rng = np.random.default_rng([3, setting.n])
    pilots = [_compared(setting, rng, (metric,)).differences_for(metric)[0] for _ in range(PILOTS)]
    detectable = float(np.mean([models.reach(d) for d in pilots]))
    rows = rows_needed(setting.n, detectable, abs(truth(setting, (metric,))[metric])) or 0
    found = [
        _compared(setting, rng, (metric,), rows).differences_for(metric)[0].is_significant
        for _ in range(times)
    ]
    return {
        "setting": setting.what,
        "metric": metric,
        "pilot": setting.n,
        "rows": rows,
        "times": times,
        "demonstrated": float(np.mean(found)),
    }


def at_equal_recall(case: Recall, times: int) -> dict[str, Any]:
    """Return how often two equally good runs were told apart by their false alarms at equal recall.

    `told` is in how many samples anything was said: of a baseline that finds all positives nothing is.
    """
    rng = np.random.default_rng([6, case.positives, round(1000 * case.recall), round(10 * case.step)])
    verdicts = []
    for _ in range(times):
        found = matched_runs(models.sides(case.draw(rng), FEW), ("a", "b"))
        assert found is not None
        verdicts += [p.false_positives.verdict for p in found.points if p.kind == "equal_recall"]
    apart = sum(verdict in ("better", "worse") for verdict in verdicts)
    return {**asdict(case), "times": times, "told": len(verdicts), "apart": apart}


def agreement(times: int) -> dict[str, int]:
    """Return in how many of many differences interval, p-value and verdict did not say the same."""
    rng = np.random.default_rng(4)
    counted = apart = 0
    for _ in range(times):
        found = compare([models.bare(p) for p in UNEQUAL.draw(rng)], None, details=False)
        for d in found.differences:
            if d.adjusted is not None and d.p_adjusted is not None:
                counted += 1
                excludes = d.adjusted.low > 0 or d.adjusted.high < 0
                apart += not d.is_significant == excludes == (d.p_adjusted < 1 - found.level)
    return {"differences": counted, "disagree": apart}


def measure(times: int) -> dict[str, Any]:
    """Measure everything."""
    equal = partial(best_groups, times=times)
    return {
        "best_groups": [equal(setting, runs, name) for setting, runs, names in EQUAL for name in names],
        "told_apart": [significant_rate(setting, names[-1], times) for setting, _, names in EQUAL],
        "truly_best": [truly_best(UNEQUAL, name, times) for name in ("roc_auc", "mcc", "log_loss")],
        "power": [power(setting, name, times) for setting, names in POWER for name in names],
        "at_equal_recall": [at_equal_recall(case, times) for case in RECALLS],
        "agreement": agreement(max(times // 10, 5)),
    }


def main() -> None:
    """Measure, and keep it."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    RESULT.write_text(json.dumps(measure(times), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
