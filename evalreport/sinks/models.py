"""The logged model that a run's predictions come from: its metrics show on the model as well.

Only where the evaluation names one model, and that model is still there, is a metric linked to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import methodcaller
from typing import Any

from evalreport.errors import NotFoundError
from evalreport.sinks.tracking import Tracking


@dataclass(frozen=True)
class Link:
    """What the metrics of a run belong to, as MLflow names it; empty is nothing.

    Parameters
    ----------
    model_id, model : str
        Id and name of the logged model.
    dataset_name, dataset_digest : str
        Of the run's dataset, where it has exactly one.
    """

    model_id: str = ""
    model: str = ""
    dataset_name: str = ""
    dataset_digest: str = ""

    @property
    def named(self) -> dict[str, str]:
        """The arguments of an MLflow `Metric`.

        Examples
        --------
        >>> Link("m-1", "tagger", "dev", "5f1c").named
        {'model_id': 'm-1', 'dataset_name': 'dev', 'dataset_digest': '5f1c'}
        >>> Link(dataset_name="dev", dataset_digest="5f1c").named  # a dataset alone is no model's
        {}
        """
        if not self.model_id:
            return {}
        dataset = {"dataset_name": self.dataset_name, "dataset_digest": self.dataset_digest}
        return {"model_id": self.model_id, **(dataset if self.dataset_name else {})}


def link_of(tracking: Tracking, run: Any, model_id: str, where: str) -> Link:
    """Return the model that predicted, if it is still there, and the one dataset of the run.

    Parameters
    ----------
    tracking : Tracking
    run : mlflow.entities.Run
    model_id : str
        Empty where nobody can tell.
    where : str

    Raises
    ------
    ServerError
        The store cannot be asked.
    """
    if not model_id:
        return Link()
    try:
        model = tracking.ask(methodcaller("get_logged_model", model_id), where)
    except NotFoundError:  # deleted since
        return Link()
    datasets = [entry.dataset for entry in run.inputs.dataset_inputs] if run.inputs else []
    if len(datasets) != 1:
        return Link(model.model_id, model.name)
    return Link(model.model_id, model.name, datasets[0].name, datasets[0].digest)
