"""Systems in Python: what `evalreport.compare(systems=...)` returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evalreport.api.evaluate import convert_to_view
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.systems import compare, variance
from evalreport.page.render import Result, render_summary

if TYPE_CHECKING:
    import pandas as pd


class SystemsComparison(Result, variance.SystemsComparison):
    """Systems of several runs each on the same rows; made by `evalreport.compare`."""

    def _repr_html_(self) -> str:
        return render_summary(self)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per system and metric: system, metric, value, low, high, runs."""
        import pandas as pd

        rows = [
            {
                **{"system": one.system, "metric": metric, "value": found.value},
                **{"low": found.low, "high": found.high, "runs": len(one.runs)},
            }
            for one in self.systems
            for metric, found in one.metrics.items()
        ]
        return pd.DataFrame(rows)


def compare_systems(
    systems: Mapping[str, Sequence[Evaluation]], *, metrics: Sequence[str] = (), primary: str | None = None
) -> SystemsComparison:
    """Return systems compared on their common rows; see `evalreport.compare`."""
    return convert_to_view(
        SystemsComparison, compare.compare_systems(systems, metrics=metrics, primary=primary)
    )
