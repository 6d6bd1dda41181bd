"""The evaluator plug-in of MLflow: `mlflow.models.evaluate(…, evaluators=["default", "evalreport"])`.

MLflow loads this module with itself, so that nothing heavy is imported before it evaluates.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from evalreport.api.estimators import Answers
    from evalreport.evaluation.evaluation import Evaluation
    from evalreport.workflow.request import Destination

NAME = "evalreport"
"""Of the entry point, and of the evaluator."""
NOT_OURS = ("regressor", "retriever")
"""Model types without labels to be right or wrong about."""
BESIDE = ("group", "id", "weight")
"""Settings that may hold an array of the rows, too, where the model's features do not hold it."""


class EvalreportEvaluator:
    """Evaluates what MLflow hands over and logs it into the run, beside the default evaluator.

    ``evaluator_config={"evalreport": {…}}`` takes the words of `er.evaluate_file`: names of columns
    (``group``, ``slices``, ``weight``, ``id``; of static predictions also ``score`` and ``scores``),
    ``positive``, ``labels``, ``threshold``, ``confidence``, ``seed``, …; and ``prefix``, of the metrics'
    names, ``log_all``, and ``response_method``, as scikit-learn names it. It runs when it is named in
    ``evaluators`` or configured, never by being installed.

    Examples
    --------
    >>> EvalreportEvaluator.can_evaluate(model_type="classifier", evaluator_config={"positive": "spam"})
    True
    >>> EvalreportEvaluator.can_evaluate(model_type="classifier", evaluator_config={})
    False
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str | None, evaluator_config: Any, **_: Any) -> bool:
        """Tell whether this evaluator was asked for, and the model gives labels."""
        if model_type in NOT_OURS:
            return False
        if _is_explicitly_chosen(sys._getframe(1).f_code.co_name):
            return True
        return bool(evaluator_config) and not _settings().isdisjoint(evaluator_config)

    def evaluate(
        self,
        *,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any] | None,
        model: Any = None,
        predictions: str | None = None,
        **_: Any,
    ) -> Any:
        """Evaluate, log into the run, and return what was logged as MLflow's `EvaluationResult`.

        Parameters
        ----------
        dataset : mlflow's EvaluationDataset
        run_id : str
        evaluator_config : mapping
        model : pyfunc model, optional
            Without it the dataset holds the predictions.
        predictions : str, optional
            Column of the model's output that holds the answers, where it has several.

        Raises
        ------
        EvalreportError
            Whatever keeps it from being evaluated or logged.
        """
        config = dict(evaluator_config or {})
        from evalreport.workflow.request import Destination

        prefix, log_all = config.pop("prefix", "eval/"), bool(config.pop("log_all", False))
        where = Destination(log=True, prefix=prefix, log_all=log_all)
        ev = _static(dataset, config) if model is None else _of_model(model, dataset, config, predictions)
        return _log_evaluation(ev, run_id, where)


def _settings() -> set[str]:
    from evalreport.api.input import named_hints

    return {*named_hints(), "prefix", "log_all", "response_method"}


def _is_explicitly_chosen(caller: str) -> bool:
    """Tell whether MLflow asks an evaluator that was chosen.

    It asks all that are installed while it looks for some, and each that was chosen once more, by
    `_evaluate`: this alone tells an evaluator that was named, without a configuration, from one that was not.
    """
    return caller == "_evaluate"


def _static(dataset: Any, config: dict[str, Any]) -> Evaluation:
    """Evaluate a table of predictions: truth and answers are named, the rest is found as in a file."""
    from evalreport.core.errors import UsageError

    frame = dataset.features_data
    if not hasattr(frame, "assign") or not dataset.has_targets:
        raise UsageError(
            "there are no targets" if hasattr(frame, "assign") else "static predictions are not a DataFrame",
            where="mlflow.models.evaluate",
            fix="pass a DataFrame, targets=COLUMN and predictions=COLUMN",
        )
    frame = _with_settings(frame, config)
    frame[dataset.targets_name] = dataset.labels_data
    asked = {"truth": dataset.targets_name, **config}
    if dataset.has_predictions:
        frame[dataset.predictions_name] = dataset.predictions_data
        if dataset.predictions_name not in (config.get("score"), config.get("text")):
            asked.setdefault("pred", dataset.predictions_name)
    return _evaluate_frame(frame, asked)


def _of_model(model: Any, dataset: Any, config: dict[str, Any], column: str | None) -> Evaluation:
    """Evaluate a model by its own scores where it is an estimator, else by the table that it returns."""
    import pandas as pd

    features = dataset.features_data
    is_frame = isinstance(features, pd.DataFrame)
    beside = _with_settings(features if is_frame else pd.DataFrame(index=range(len(features))), config)
    raw = _estimator(model)
    if raw is None:
        named = [name for name in _extra_column_names(config) if name in beside.columns]
        frame = beside[list(dict.fromkeys(named))].copy()
        return _evaluate_model_output(
            frame, model.predict(features.copy()), dataset.labels_data, config, column
        )
    from evalreport.api.estimators import answers_of

    known = getattr(raw, "feature_names_in_", None)
    rows = features[list(known)] if is_frame and known is not None else features
    method = config.pop("response_method", "auto")
    answers = answers_of(
        raw, rows, dataset.labels_data, positive=config.get("positive"), response_method=method
    )
    return _evaluate_estimator(answers, dataset.labels_data, beside, config)


def _estimator(model: Any) -> Any:
    """Return the classifier inside a pyfunc model, or None where there is none to be had."""
    try:
        raw = model.get_raw_model()
    except (AttributeError, NotImplementedError):
        return None
    return raw if hasattr(raw, "classes_") and hasattr(raw, "predict") else None


def _extra_column_names(config: Mapping[str, Any]) -> list[str]:
    """Names of the columns that stand beside the features."""
    values = [config.get(name) for name in (*BESIDE, "slices", "example_text")]
    return [name for value in values for name in ((value,) if isinstance(value, str) else value or ())]


def _with_settings(features: pd.DataFrame, config: dict[str, Any]) -> pd.DataFrame:
    """Put arrays of the settings beside the features, as columns that are named in their place."""
    frame = features.copy(deep=False)
    for name in BESIDE:
        if hasattr(config.get(name), "__array__"):
            frame[f"evalreport_{name}"] = config[name]
            config[name] = f"evalreport_{name}"
    return frame


def _evaluate_model_output(
    frame: pd.DataFrame, output: Any, truth: Any, config: dict[str, Any], column: str | None
) -> Evaluation:
    """Evaluate what a model returned: a table is read like a file, one column holds the answers."""
    import numpy as np
    import pandas as pd

    frame["y_true"] = list(truth)
    asked = {"truth": "y_true", **config}
    if isinstance(output, pd.DataFrame) and output.shape[1] > 1:
        whole = pd.concat([frame, output.set_axis(frame.index)], axis=1)
        return _evaluate_frame(whole, asked if column is None else {"pred": column, **asked})
    values = np.asarray(output)
    if values.ndim == 2 and values.shape[1] > 1:
        frame["probabilities"] = list(values)
        return _evaluate_frame(frame, asked)
    frame["y_pred"] = values.reshape(-1)
    return _evaluate_frame(frame, asked)


def _evaluate_frame(frame: pd.DataFrame, asked: Mapping[str, Any]) -> Evaluation:
    from evalreport.adapters.frames import table_of
    from evalreport.api.input import build_request as request_of
    from evalreport.workflow.collect import collect_table
    from evalreport.workflow.evaluate import evaluate_collected

    request = request_of(None, asked)
    return evaluate_collected(collect_table(table_of(frame, request.columns), request), request)


def _evaluate_estimator(
    answers: Answers, truth: Any, beside: pd.DataFrame, config: dict[str, Any]
) -> Evaluation:
    """Evaluate what an estimator says, with what the settings name beside the features."""
    from evalreport.adapters.frames import table_of
    from evalreport.api.input import build_request
    from evalreport.columns.join import Rows, extras
    from evalreport.core.result import Provenance
    from evalreport.data.predictions import predictions
    from evalreport.workflow.collect import Collected
    from evalreport.workflow.evaluate import evaluate_collected

    request = build_request(None, config)
    named = list(dict.fromkeys(name for name in _extra_column_names(config) if name in beside.columns))
    columns = table_of(beside[named], request.columns).columns if named else {}
    rows = Rows({}, columns, tuple(map(str, beside.columns)), len(truth), request.columns.id)
    more = extras(rows, request.columns, "the features")
    p = predictions(
        answers.space,
        truth,
        answers.y_pred,
        answers.scores,
        weights=more.weights,
        ids=None if rows.id is None else columns[rows.id],
        groups=more.groups,
        slices=more.slices,
        texts=None if more.example_texts is None else more.example_texts.tolist(),
    )
    return evaluate_collected(
        Collected(p, more.taken, Provenance(columns=more.taken, notes=more.notes)), request
    )


def _log_evaluation(ev: Evaluation, run_id: str, where: Destination) -> Any:
    """Log into the run, which belongs to MLflow and has not ended, and return its current contents."""
    from mlflow.models import EvaluationResult

    from evalreport.tracking.client import connect
    from evalreport.tracking.log_results import MlflowSink
    from evalreport.tracking.runs import find_run
    from evalreport.workflow.deliver import document_in_run

    store = connect()
    run = find_run(store, run_id)
    payload = document_in_run(ev, run).payload(where)
    MlflowSink(store, run_id, allow_running=True).log(payload)
    artifacts = _artifacts(payload.artifacts, run.artifact_uri)
    return EvaluationResult(metrics=dict(payload.metrics), artifacts=artifacts, run_id=run_id)


def _artifacts(files: Mapping[str, bytes], root: str) -> dict[str, Any]:
    """Return the page, the figures and `evaluation.json` as MLflow's own kinds of artifact."""
    import io
    import json

    from mlflow.models.evaluation.artifacts import (
        ImageEvaluationArtifact,
        JsonEvaluationArtifact,
        TextEvaluationArtifact,
    )
    from PIL import Image

    found: dict[str, Any] = {}
    for path, data in files.items():
        name, _, ending = path.rpartition("/")[2].rpartition(".")
        uri, key = f"{root.rstrip('/')}/{path}", name if name.startswith(NAME) else f"{NAME}_{name}"
        match ending:
            case "html":
                found[key] = TextEvaluationArtifact(uri, data.decode())
            case "png":
                found[key] = ImageEvaluationArtifact(uri, Image.open(io.BytesIO(data)))
            case "json":
                found[key] = JsonEvaluationArtifact(uri, json.loads(data))
    return found
