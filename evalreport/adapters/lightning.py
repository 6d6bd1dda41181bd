"""Lightning: a callback that collects what test or validation steps return, evaluates and logs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalreport.adapters.running import into_run, run_now
from evalreport.adapters.tensors import Kind, evaluation_of
from evalreport.api import Evaluation
from evalreport.errors import DataError, MissingExtraError
from evalreport.labels import Label


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
            self.evaluation: Evaluation | None = None

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
            fix='return {"outputs": logits, "targets": codes}, with "loss" beside where there is one',
        )
    return outputs["outputs"].detach().cpu(), outputs["targets"].detach().cpu()
