"""Hugging Face `Trainer`: `compute_metrics`, and a callback that logs the last evaluation into a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalreport.adapters.running import into_run, run_now
from evalreport.adapters.tensors import Kind, evaluation_of
from evalreport.api import Evaluation
from evalreport.errors import MissingExtraError
from evalreport.labels import Label
from evalreport.values import Estimate


class TrainerMetrics:
    """The `compute_metrics` of a `Trainer`; the evaluation of its last call is kept.

    Parameters
    ----------
    labels : sequence of labels, optional
        Their names in the order of the logits; else 0, 1, ….
    names : sequence of str, optional
        Metrics that the Trainer is told of; all that are defined without it.
    kind : {"logits", "probabilities"}
    **settings
        ``confidence``, ``resamples``, … of `er.evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> metrics = TrainerMetrics(["ham", "spam"], names=["accuracy"])
    >>> logits = np.array([[[2.0, -1.0], [0.5, 0.7]]])  # [batch, n, labels]
    >>> metrics(SimpleNamespace(predictions=logits, label_ids=np.array([[0, 1]])))
    {'accuracy': 1.0}
    """

    def __init__(
        self,
        labels: Sequence[Label] | None = None,
        *,
        names: Sequence[str] | None = None,
        kind: Kind = "logits",
        **settings: Any,
    ) -> None:
        self.labels = labels
        self.names = names
        self.kind = kind
        self.settings = settings
        self.evaluation: Evaluation | None = None

    def __call__(self, predicted: Any) -> dict[str, float]:
        """Evaluate an `EvalPrediction`; what else the model puts out beside the logits is left alone."""
        outputs = predicted.predictions
        outputs = outputs[0] if isinstance(outputs, tuple) else outputs
        found = evaluation_of(outputs, predicted.label_ids, self.labels, kind=self.kind, **self.settings)
        self.evaluation = found
        names = found.metrics if self.names is None else self.names
        return {name: found[name].value for name in names if isinstance(found[name], Estimate)}  # type: ignore[misc]


def trainer_callback(metrics: TrainerMetrics, run_id: str | None = None) -> Any:
    """Return a `TrainerCallback` that logs the last evaluation of a training into the MLflow run.

    Parameters
    ----------
    metrics : TrainerMetrics
        That the Trainer has as `compute_metrics`.
    run_id : str, optional
        Else the run that is active while the Trainer evaluates, also one of its own MLflow callback.

    Raises
    ------
    MissingExtraError
        transformers is not installed.
    """
    try:
        from transformers import TrainerCallback
    except ImportError:
        raise MissingExtraError(
            "transformers is not installed", fix="pip install 'evalreport[transformers]'"
        ) from None

    class LoggedEvaluation(TrainerCallback):  # type: ignore[misc]
        """Logs when the training ends, and after each evaluation outside of one."""

        def __init__(self) -> None:
            self.run_id = run_id
            self.training = False

        def on_train_begin(self, *_: Any, **__: Any) -> None:
            self.training = True

        def on_evaluate(self, *_: Any, **__: Any) -> None:
            self.run_id = self.run_id or run_now()
            if not self.training:
                into_run(metrics.evaluation, self.run_id)

        def on_train_end(self, *_: Any, **__: Any) -> None:
            self.training = False
            if metrics.evaluation is not None:
                into_run(metrics.evaluation, self.run_id)

    return LoggedEvaluation()
