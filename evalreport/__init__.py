"""How good is it, really? Every classification metric, with intervals, findings and one HTML page.

>>> import evalreport as er
>>> ev = er.evaluate([0, 0, 1, 1], scores=er.Probabilities([0.1, 0.4, 0.35, 0.8]))
>>> ev["roc_auc"].value
0.75

Names are imported when they are used: `import evalreport` alone costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalreport.api import log, parse, report, to_html
    from evalreport.api.compare import Comparison, compare, sweep
    from evalreport.api.estimators import cross_evaluate, evaluate_estimator
    from evalreport.api.evaluate import (
        Evaluation,
        evaluate,
        evaluate_file,
        evaluate_files,
        evaluate_run,
        evaluate_spark,
    )
    from evalreport.core.errors import EvalreportError
    from evalreport.core.result import Estimate, Finding, Undefined
    from evalreport.data.labels import Binary, Graded, Multiclass, Multilabel
    from evalreport.data.scores import Decisions, Logits, Probabilities
    from evalreport.thresholds.trial import Judging
    from evalreport.thresholds.trial_search import Trials

__version__ = "0.1.0"


__all__ = [
    "Binary",
    "Comparison",
    "Decisions",
    "Estimate",
    "EvalreportError",
    "Evaluation",
    "Finding",
    "Graded",
    "Judging",
    "Logits",
    "Multiclass",
    "Multilabel",
    "Probabilities",
    "Trials",
    "Undefined",
    "__version__",
    "assert_that",
    "compare",
    "cross_evaluate",
    "evaluate",
    "evaluate_estimator",
    "evaluate_file",
    "evaluate_files",
    "evaluate_run",
    "evaluate_spark",
    "log",
    "parse",
    "report",
    "sweep",
    "to_html",
]


def __getattr__(name: str) -> Any:
    if name.startswith("_") or name not in __all__:
        raise AttributeError(f"module 'evalreport' has no attribute {name!r}")
    return getattr(import_module("evalreport.api"), name)


def __dir__() -> list[str]:
    return __all__
