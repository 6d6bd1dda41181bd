"""The MLflow run that a training writes to.

Outputs of networks, as frameworks hand them over, evaluated as what they are.

Hugging Face `Trainer`: `compute_metrics`, and a callback that logs the last evaluation into a run.

Keras: a callback that evaluates the model on held-out rows when its training ends, and logs it.

Lightning: a callback that collects what test or validation steps return, evaluates and logs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.api import log
from evalreport.api.evaluate import Evaluation as EvaluateEvaluation
from evalreport.api.evaluate import evaluate
from evalreport.core.errors import DataError, MissingExtraError, UsageError
from evalreport.core.result import Estimate
from evalreport.data.labels import Binary, Label, LabelSpace, Multiclass, Multilabel
from evalreport.data.scores import Logits, Probabilities
from evalreport.evaluation.evaluation import Evaluation
from evalreport.tracking.runs import active_run_id


def run_now(logger: Any = None) -> str:
    """Return the id of the run of a framework's own MLflow logger, else of the one that is active.

    Raises
    ------
    UsageError
        There is none.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> run_now(SimpleNamespace(run_id="0a1b"))
    '0a1b'
    """
    found = getattr(logger, "run_id", None)
    return found if isinstance(found, str) else active_run_id()


def into_run(ev: Evaluation | None, run_id: str | None) -> None:
    """Log an evaluation into a run, which may go on.

    Raises
    ------
    DataError
        Nothing was evaluated.
    EvalreportError
        See `er.log`.
    """
    if ev is None:
        raise DataError(
            "nothing was evaluated", where="the callback", fix="pass the same object as compute_metrics="
        )
    log(ev, run_id, allow_running=True)


Array: TypeAlias = npt.NDArray[Any]
Kind: TypeAlias = Literal["logits", "probabilities"]
IGNORED = -100
"""Label of rows that no loss counts: the padding of PyTorch's `CrossEntropyLoss` and of the Trainer."""


def evaluation_of(
    outputs: Any,
    targets: Any,
    labels: Sequence[Label] | None = None,
    *,
    kind: Kind = "logits",
    **settings: Any,
) -> EvaluateEvaluation:
    """Evaluate outputs of a network against the targets of its loss.

    Parameters
    ----------
    outputs : array of shape (n, labels), (n,) or (n, 1), with any batch axes before, or a list of batches
    targets : array of codes of shape (n,), or (n, labels) of indicators, in the same batches
        Rows with the code -100 are padding and skipped.
    labels : sequence of labels, optional
        Their names in the order of the columns; else 0, 1, ….
    kind : {"logits", "probabilities"}
    **settings
        ``ids``, ``confidence``, ``resamples``, … of `er.evaluate`.

    Raises
    ------
    DataError
        Outputs and targets whose shapes do not fit.
    UsageError
        An unknown kind, or labels of another number.

    Examples
    --------
    >>> evaluation_of([[2.0, -1.0], [0.5, 0.7]], [0, 1], ["ham", "spam"])["accuracy"].value
    1.0
    """
    if kind not in ("logits", "probabilities"):
        raise UsageError(f"there is no kind {kind!r}", where="kind", fix="pass 'logits' or 'probabilities'")
    scores, truth = _concatenate_batches(outputs), _concatenate_batches(targets)
    same_shape = scores.shape == truth.shape and scores.ndim > 1
    width = scores.shape[-1] if same_shape or scores.ndim > truth.ndim else 1
    several = same_shape and width > 1
    scores = scores.reshape(-1, width)
    truth = truth.reshape(-1, width) if several else truth.reshape(-1)
    if len(scores) != len(truth):
        raise DataError(
            f"there are {len(scores):,} outputs and {len(truth):,} targets",
            where="outputs",
            fix="hand over one target per row of outputs",
        )
    wrap = Logits if kind == "logits" else Probabilities
    if several:
        space: LabelSpace = Multilabel(_names(labels, width))
        return evaluate(truth > 0, scores=wrap(scores), labels=space, **settings)
    kept = truth != IGNORED
    scores, truth = scores[kept], truth[kept].astype(np.int64)
    names = _names(labels, max(width, 2))
    space = Binary(*names) if len(names) == 2 else Multiclass(names)
    return evaluate(
        _decode_labels(truth, names), scores=wrap(_columns(scores, kind)), labels=space, **settings
    )


def _concatenate_batches(batches: Any) -> Array:
    """Batches one after the other; a tensor as an array."""
    if isinstance(batches, (list, tuple)) and batches and hasattr(batches[0], "shape"):
        return np.concatenate([_array(batch) for batch in batches])
    return _array(batches)


def _array(values: Any) -> Array:
    """An array of whatever holds one, on any device and with any gradient."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().float() if values.is_floating_point() else values.detach().cpu()
    return np.asarray(values)


def _names(labels: Sequence[Label] | None, width: int) -> list[Label]:
    names: list[Label] = list(range(width)) if labels is None else list(labels)
    if len(names) != width:
        raise UsageError(
            f"there are {len(names)} labels and {width} columns of outputs",
            where="labels",
            fix="name each column once, in their order",
        )
    return names


def _decode_labels(codes: Array, names: list[Label]) -> list[Label]:
    if codes.size and not 0 <= int(codes.min()) <= int(codes.max()) < len(names):
        raise DataError(
            f"the targets go from {codes.min()} to {codes.max()}, and there are {len(names)} labels",
            where="targets",
            fix="hand over codes 0, 1, … in the order of the labels",
        )
    return [names[code] for code in codes.tolist()]


def _columns(scores: Array, kind: Kind) -> Array:
    """Scores of two classes as one of the second: the difference of logits is the logit of the softmax."""
    match scores.shape[1]:
        case 1:
            return scores[:, 0]
        case 2:
            return scores[:, 1] - scores[:, 0] if kind == "logits" else scores[:, 1]
        case _:
            return scores


class TrainerMetrics:
    """The `compute_metrics` of a `Trainer`; the evaluation of its last call is kept.

    Parameters
    ----------
    labels : sequence of labels, optional
        Their names in the order of the logits; else 0, 1, ….
    names : sequence of str, optional
        Metrics reported to the Trainer; all defined ones by default.
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
        self.evaluation: EvaluateEvaluation | None = None

    def __call__(self, predicted: Any) -> dict[str, float]:
        """Evaluate an `EvalPrediction`; other outputs of the model than the logits are ignored."""
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
        Else the run that is active while the Trainer evaluates, also that of its MLflow callback.

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

        evaluation: EvaluateEvaluation | None = None

        def on_train_end(self, logs: Any = None) -> None:
            del logs
            outputs = self.model.predict(x, verbose=0)
            self.evaluation = evaluation_of(outputs, y, labels, kind=kind, **settings)
            if log:
                into_run(self.evaluation, run_now())

    return HeldOutEvaluation()


def lightning_callback(
    labels: Sequence[Label] | None = None, *, kind: Kind = "logits", log: bool = True, **settings: Any
) -> Any:
    """Return a Lightning `Callback`; after ``trainer.test`` its ``evaluation`` holds what was found.

    The module's ``test_step`` returns ``{"outputs": logits, "targets": codes}``; so may ``validation_step``,
    whose last epoch is evaluated where nothing is tested.

    Parameters
    ----------
    labels : sequence of labels, optional
        Their names in the order of the outputs; else 0, 1, ….
    kind : {"logits", "probabilities"}
    log : bool
        Whether it is logged into the run of the `MLFlowLogger`, else into the active one.
    **settings
        ``confidence``, ``resamples``, … of `er.evaluate`.

    Raises
    ------
    MissingExtraError
        Lightning is not installed.
    """
    try:
        from lightning.pytorch import Callback
    except ImportError:
        raise MissingExtraError(
            "lightning is not installed", fix="pip install 'evalreport[lightning]'"
        ) from None

    class CollectedEvaluation(Callback):  # type: ignore[misc]
        """Keeps the batches of one epoch, and evaluates them when it ends."""

        def __init__(self) -> None:
            self.batches: list[tuple[Any, Any]] = []
            self.evaluation: EvaluateEvaluation | None = None

        def on_test_epoch_start(self, *_: Any) -> None:
            self.batches = []

        on_validation_epoch_start = on_test_epoch_start

        def on_test_batch_end(self, _trainer: Any, _module: Any, outputs: Any, *_: Any, **__: Any) -> None:
            self.batches.append(_parts(outputs))

        on_validation_batch_end = on_test_batch_end

        def on_test_epoch_end(self, trainer: Any, _module: Any) -> None:
            self._evaluate(trainer)

        def on_fit_end(self, trainer: Any, _module: Any) -> None:
            if self.batches:
                self._evaluate(trainer)

        def _evaluate(self, trainer: Any) -> None:
            outputs, targets = map(list, zip(*self.batches, strict=True))
            self.evaluation = evaluation_of(outputs, targets, labels, kind=kind, **settings)
            if log:
                into_run(self.evaluation, run_now(trainer.logger))

    return CollectedEvaluation()


def _parts(outputs: Any) -> tuple[Any, Any]:
    """Outputs and targets of a step, off the device and out of the graph.

    Raises
    ------
    DataError
        The step does not return them.
    """
    if not isinstance(outputs, Mapping) or not {"outputs", "targets"} <= outputs.keys():
        raise DataError(
            "the step does not return its outputs and targets",
            where="test_step",
            fix='return {"outputs": logits, "targets": codes}, and "loss" if there is one',
        )
    return outputs["outputs"].detach().cpu(), outputs["targets"].detach().cpu()
