"""Metrics of graded items: an item without a grade counts as not passed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from evalreport.metrics.multiclass import accuracy
from evalreport.metrics.record import Metric, NoMethod, Proportion, RowMean, divide
from evalreport.statistics.confusion import Marginals
from evalreport.statistics.summary import RowSums


def pass_rate_graded(m: Marginals) -> Any:
    """Return the proportion of graded attempts that pass, in [0, 1]; NaN without a grade.

    >>> import numpy as np
    >>> m = Marginals(np.array([3.0, 0]), np.array([5.0, 0]), np.array([3.0, 1]), 5.0, 1.0)
    >>> float(pass_rate_graded(m))
    0.75
    """
    return divide(m.right, m.parsed_weight)


def no_grade_rate(m: Marginals) -> Any:
    """Return the proportion of attempts without a grade, in [0, 1].

    >>> import numpy as np
    >>> float(no_grade_rate(Marginals(np.array([3.0, 0]), np.array([5.0, 0]), np.array([3.0, 1]), 5.0, 1.0)))
    0.2
    """
    return divide(m.unparsed_weight, m.total)


def mean_score(row_sums: RowSums) -> float:
    """Return the weighted mean of the scores of all attempts; NaN where grades are pass or fail.

    >>> import numpy as np
    >>> mean_score(RowSums.from_rows({"mean_score": np.array([0.5, 1.0])}, np.ones(2)))
    0.75
    """
    return row_sums.mean("mean_score")


_metric = partial(
    Metric,
    task="graded",
    needs="counts",
    reads="counts",
    low=0.0,
    high=1.0,
    better="higher",
    strategy=Proportion(),
)


def _of_repeats(name: str, title: str, meaning: str, formula: str, source: str) -> Metric:
    """Return a metric of the attempts at each item, which the evaluation of graded items computes."""
    return _metric(
        name=name,
        title=title,
        meaning=meaning,
        formula=formula,
        rate=True,
        strategy=NoMethod("mean"),
        function=lambda _: math.nan,
        undefined="it needs several attempts at each item; runs are compared by pass_rate",
        source=source,
        use="items are attempted several times",
        trap="k attempts are independent here; a person who tries again learns",
    )


KS = (*range(2, 11), 16, 20, 25, 32, 50, 64, 100)
"""Numbers of attempts k of which pass@k and pass^k are reported, as far as there are repeats."""
PASS, SCORE, AGREEMENT = "pass_rate", "mean_score", "agreement"
PASS_GRADED, NO_GRADE = "pass_rate_graded", "no_grade_rate"
OF_JUDGE: Mapping[str, str] = {
    "agreement": "accuracy",
    "kappa": "cohen_kappa",
    "sensitivity": "recall",
    "specificity": "specificity",
}
"""Part of the comparison of a judge with people, and the metric of the judge against people that it is."""
JUDGE_TITLES: Mapping[str, str] = {
    "agreement": "Agreement with people",
    "kappa": "Cohen's kappa",
    "sensitivity": "Sensitivity: passes what people pass",
    "specificity": "Specificity: fails what people fail",
    "corrected": "Pass rate, corrected by people",
    "judge_rate": "Pass rate, judge alone",
    "human_rate": "Pass rate, people alone",
}
CHEN, YAO = "Chen et al. 2021, arXiv 2107.03374", "Yao et al. 2024, arXiv 2406.12045"
METRICS: tuple[Metric, ...] = (
    _metric(
        name="pass_rate",
        title="Pass rate",
        meaning="proportion of items that pass; with repeats, the mean over items of the mean over repeats",
        formula="passed / n",
        function=accuracy,
        source="Miller 2024, arXiv 2411.00640",
        use="the first number of a benchmark with right and wrong items",
        trap="items without a grade count as not passed; tools that skip them report a higher rate",
    ),
    _metric(
        name="mean_score",
        title="Mean score",
        meaning="mean score of all attempts; without a grade the score is the lowest of the scale",
        formula="sum of scores / n",
        needs="truth",
        reads="tally",
        high=math.inf,
        strategy=RowMean(),
        function=mean_score,
        undefined="grades are pass or fail",
        source="Miller 2024, arXiv 2411.00640",
        use="grades give partial credit or are ratings",
        trap="the mean of ratings treats the step from 1 to 2 as large as the step from 4 to 5",
    ),
    _metric(
        name="pass_rate_graded",
        title="Pass rate among the graded",
        meaning="proportion of attempts with a grade that pass",
        formula="passed / graded",
        function=pass_rate_graded,
        undefined="no attempt has a grade",
        over="parsed_weight",
        source="Inspect AI accuracy(), which skips samples with errors",
        use="to separate failures of the harness from failures of the model",
        trap="higher than the pass rate where attempts crash or time out: never read it alone",
    ),
    _metric(
        name="no_grade_rate",
        title="Attempts without a grade",
        meaning="proportion of attempts without a grade: error, timeout or not graded",
        formula="no grade / n",
        better="lower",
        function=no_grade_rate,
        source="this project: every attempt counts",
        use="beside the pass rate",
        trap="a model that times out on hard items has a high pass rate among the graded",
    ),
    *(
        _of_repeats(
            f"pass_at_{k}",
            f"Pass@{k}",
            f"probability that one or more of {k} attempts at an item pass",
            f"mean of 1 - C(n - c, {k}) / C(n, {k})",
            CHEN,
        )
        for k in KS
    ),
    *(
        _of_repeats(
            f"pass_hat_{k}",
            f"Pass^{k}",
            f"probability that all of {k} attempts at an item pass",
            f"mean of C(c, {k}) / C(n, {k})",
            YAO,
        )
        for k in KS
    ),
    _of_repeats(
        "agreement",
        "Agreement of repeats",
        "probability that two attempts at one item have the same outcome",
        "mean of 1 - 2 c (n - c) / (n (n - 1))",
        "this project: every pair of attempts counts",
    ),
)
