"""How good is it, really? Every classification metric, with intervals, findings and one HTML page.

>>> import evalreport as er
>>> ev = er.evaluate([0, 0, 1, 1], scores=er.Probabilities([0.1, 0.4, 0.35, 0.8]))
>>> ev["roc_auc"].value
0.75

Names are imported when they are used: `import evalreport` alone costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from evalreport.api import (
        Binary,
        Comparison,
        Decisions,
        Estimate,
        EvalreportError,
        Evaluation,
        Finding,
        Judging,
        Logits,
        Multiclass,
        Multilabel,
        Probabilities,
        Trials,
        Undefined,
        compare,
        cross_evaluate,
        evaluate,
        evaluate_estimator,
        evaluate_file,
        evaluate_files,
        evaluate_run,
        evaluate_spark,
        log,
        parse,
        report,
        sweep,
        to_html,
    )

__all__ = [
    "Binary",
    "Comparison",
    "Decisions",
    "Estimate",
    "EvalreportError",
    "Evaluation",
    "Finding",
    "Judging",
    "Logits",
    "Multiclass",
    "Multilabel",
    "Probabilities",
    "Trials",
    "Undefined",
    "__version__",
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


class _Face(ModuleType):
    """Importing `evalreport.report` or `evalreport.sweep` does not hide the functions of these names."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in __all__):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Face
