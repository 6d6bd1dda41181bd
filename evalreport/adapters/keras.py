"""Keras: a callback that evaluates the model on held-out rows when its training ends, and logs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalreport.adapters.running import into_run, run_now
from evalreport.adapters.tensors import Kind, evaluation_of
from evalreport.api import Evaluation
from evalreport.errors import MissingExtraError
from evalreport.labels import Label


def keras_callback(
    x: Any,
    y: Any,
    labels: Sequence[Label] | None = None,
    *,
    kind: Kind = "probabilities",
    log: bool = True,
    **settings: Any,
) -> Any:
    """Return a Keras `Callback`; after ``model.fit`` its ``evaluation`` holds what was found.

    Parameters
    ----------
    x : whatever ``model.predict`` takes
        Rows that the model is not fitted on.
    y : array of codes of shape (n,), or (n, labels) of indicators
    labels : sequence of labels, optional
        Their names in the order of the outputs; else 0, 1, ….
    kind : {"probabilities", "logits"}
        What the model puts out: of a softmax or a sigmoid probabilities.
    log : bool
        Whether it is logged into the active MLflow run.
    **settings
        ``confidence``, ``resamples``, … of `er.evaluate`.

    Raises
    ------
    MissingExtraError
        Keras is not installed.
    """
    try:
        from keras.callbacks import Callback
    except ImportError:
        raise MissingExtraError("keras is not installed", fix="pip install 'evalreport[keras]'") from None

    class HeldOutEvaluation(Callback):  # type: ignore[misc]
        """Evaluates once, when the training has ended."""

        evaluation: Evaluation | None = None

        def on_train_end(self, logs: Any = None) -> None:
            del logs
            outputs = self.model.predict(x, verbose=0)
            self.evaluation = evaluation_of(outputs, y, labels, kind=kind, **settings)
            if log:
                into_run(self.evaluation, run_now())

    return HeldOutEvaluation()
