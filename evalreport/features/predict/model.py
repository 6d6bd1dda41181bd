"""A logged model: where a run has it, how it is loaded, the rows that it takes, and its predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np

from evalreport.columns.names import ID, TRUTH, WEIGHT
from evalreport.core.errors import (
    ArtifactNotFoundError,
    ColumnNotFoundError,
    DataError,
    EvalreportError,
    UsageError,
    some_of,
)
from evalreport.tracking.artifacts import list_artifacts
from evalreport.tracking.client import Store, quiet
from evalreport.tracking.runs import RunInfo

MODEL_FILE: Final = "MLmodel"
ESTIMATORS: Final = ("sklearn", "xgboost", "lightgbm", "catboost")
"""Flavours whose own model may have `predict_proba`; the model of `mlflow.pyfunc` has only `predict`."""


@dataclass(frozen=True)
class LoadedModel:
    """A model with what it takes.

    Parameters
    ----------
    model : object
        An estimator of a flavour such as scikit-learn, or the model of `mlflow.pyfunc`.
    inputs : sequence of (name, type), or None
        Columns of the signature in their order; without names None.
    width : int or None
        Number of columns, where it is known.
    """

    model: Any
    inputs: Sequence[tuple[str, str]] | None
    width: int | None


def model_uri(store: Store, run: RunInfo, wanted: str | None) -> str:
    """Return the address of the model of a run.

    Parameters
    ----------
    store : Store
    run : RunInfo
    wanted : str or None
        Id of a logged model, or its folder in the run, where there are several.

    Raises
    ------
    ArtifactNotFoundError
        The run has no model, or not this one.
    UsageError
        It has several.
    """
    folders = [
        str(PurePosixPath(file.path).parent)
        for file in list_artifacts(store, run)
        if PurePosixPath(file.path).name == MODEL_FILE
    ]
    known = {**{name: f"models:/{name}" for name in run.models}}
    known |= {name: f"runs:/{run.run_id}/{name}" for name in folders}
    if not known:
        raise ArtifactNotFoundError(
            "the run has no logged model",
            where=run.display_name,
            fix="log the model (mlflow.sklearn.log_model), or log the predictions",
        )
    if wanted is not None and wanted not in known:
        raise ArtifactNotFoundError(
            f"the run has no model {wanted}",
            where=run.display_name,
            fix=f"models are: {some_of([*known], 10)}",
        )
    if wanted is None and len(known) > 1:
        raise UsageError(
            f"the run has {len(known)} models: {some_of([*known], 10)}",
            where=run.display_name,
            fix=f"name one with --artifact, as in --artifact {next(iter(known))}",
        )
    return known[wanted or next(iter(known))]


@contextmanager
def loaded_model(store: Store, run: RunInfo, wanted: str | None) -> Iterator[LoadedModel]:
    """Download and load the model of a run, which runs its code; the copy is removed afterwards.

    Raises
    ------
    EvalreportError
        No model, several models, or one that cannot be loaded here.
    """
    from mlflow.artifacts import download_artifacts

    uri = model_uri(store, run, wanted)
    with TemporaryDirectory() as folder:
        try:
            with quiet(), tracking_uri_set(store.uri):
                place = download_artifacts(artifact_uri=uri, dst_path=folder, tracking_uri=store.uri)
                loaded = _load(place)
        except EvalreportError:
            raise
        except ImportError as error:
            raise UsageError(
                f"the model cannot be loaded: {error}",
                where=f"{run.display_name}, {uri}",
                fix="install the packages that the model was logged with (requirements.txt of the model)",
            ) from error
        except Exception as error:  # the code of the model may raise anything
            raise DataError(
                f"the model cannot be loaded: {type(error).__name__}: {_first_line(error)}",
                where=f"{run.display_name}, {uri}",
                fix="load it with mlflow.pyfunc.load_model to see the whole error",
            ) from error
        yield loaded


@contextmanager
def tracking_uri_set(uri: str) -> Iterator[None]:
    """Set MLflow's tracking URI: `mlflow.pyfunc` asks the server where a model comes from."""
    import mlflow

    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(uri)
    try:
        yield
    finally:
        mlflow.set_tracking_uri(before)


def _load(place: str) -> LoadedModel:
    import mlflow
    from mlflow import pyfunc
    from mlflow.models import Model

    about = Model.load(place)
    model: Any = None
    for name in ESTIMATORS:
        if name in about.flavors and model is None:
            own = getattr(mlflow, name).load_model(place)
            model = own if hasattr(own, "predict_proba") or hasattr(own, "decision_function") else None
    model = pyfunc.load_model(place) if model is None else model
    schema = about.get_input_schema()
    names = getattr(model, "feature_names_in_", None)
    if schema is not None and schema.has_input_names():
        return LoadedModel(model, [(one.name, one.type.name) for one in schema.inputs], len(schema.inputs))
    if names is not None:
        return LoadedModel(model, [(str(name), "any") for name in names], len(names))
    width = getattr(model, "n_features_in_", None)
    if width is None and schema is not None and schema.is_tensor_spec():
        shape = schema.inputs[0].shape
        width = shape[1] if len(shape) == 2 and shape[1] > 0 else None
    return LoadedModel(model, None, None if width is None else int(width))


def predictions_of(loaded: LoadedModel, rows: Any, source: str) -> Mapping[str, Any]:
    """Return the columns that a model predicts: ``y_pred``, ``proba_<label>``, ``score``.

    Parameters
    ----------
    loaded : LoadedModel
    rows : pandas.DataFrame
        The columns of the model, in its order.
    source : str
        Name of the file, for errors.

    Raises
    ------
    DataError
        The model fails on the rows, or its output has no usual form.
    """
    model = loaded.model
    given = rows if loaded.inputs is not None else rows.to_numpy()
    try:
        with quiet():
            answers = model.predict(given)
            classes, scores = _scores(model, given)
    except Exception as error:  # the code of the model may raise anything
        raise DataError(
            f"the model fails on these rows: {type(error).__name__}: {_first_line(error)}",
            where=source,
            fix="compare the columns and their types with the data that it was trained on",
        ) from error
    if isinstance(scores, list) or (classes and np.ndim(classes[0])):
        raise DataError(
            "the model has several outputs",
            where=source,
            fix="log the predictions of each output as a file",
        )
    if scores is not None:
        return {"y_pred": np.asarray(answers).reshape(len(rows), -1)[:, 0], **_score_columns(classes, scores)}
    return _of_output(answers, len(rows), source)


def _scores(model: Any, given: Any) -> tuple[list[Any], Any]:
    """Return the classes of an estimator and its probabilities, else its decision values, else None."""
    classes = getattr(model, "classes_", None)
    for name in ("predict_proba", "decision_function"):
        if classes is not None and hasattr(model, name):
            return list(classes), getattr(model, name)(given)
    return [], None


def _score_columns(classes: list[Any], scores: Any) -> dict[str, Any]:
    """Return score columns by their names: one per class, or one decision value of two classes."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim == 1:
        return {"score": table}
    return {f"proba_{label}": table[:, place] for place, label in enumerate(classes)}


def _of_output(answers: Any, rows: int, source: str) -> dict[str, Any]:
    """Return the columns of the output of `mlflow.pyfunc`: labels, one score, or a table of probabilities."""
    names = [str(name) for name in getattr(answers, "columns", ())]
    table = np.asarray(answers)
    if table.ndim == 2 and table.shape[1] == 1:
        table = table[:, 0]
    if table.ndim == 1 and len(table) == rows:
        if table.dtype.kind != "f":
            return {"y_pred": table}
        is_whole = bool((table == np.floor(table)).all())  # labels: multi:softmax of XGBoost returns 2.0
        return {"y_pred": table.astype(np.int64)} if is_whole else {"score": table}
    if table.ndim == 2 and not names:  # a booster numbers its classes from 0
        names = [str(label) for label in range(table.shape[1])]
    is_proba = table.ndim == 2 and table.dtype.kind == "f" and table.shape == (rows, len(names))
    if is_proba and np.allclose(table.sum(axis=1), 1, atol=1e-3):
        return {f"proba_{name}": table[:, place] for place, name in enumerate(names)}
    raise DataError(
        f"the model returns {type(answers).__name__} of shape {table.shape}, not one prediction per row",
        where=source,
        fix="log the predictions as a file, with columns y_true and y_pred",
    )


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0][:200]


NUMBERS = {"double": "float64", "float": "float32", "long": "int64", "integer": "int32"}
"""Types of a signature that are numbers, and the dtypes of their columns."""


def label_column(names: Sequence[str], loaded: LoadedModel, wanted: str | None, source: str) -> str:
    """Return the column of true labels: the named one, a usual one, or the only one that is not a feature.

    Raises
    ------
    ColumnNotFoundError, UsageError

    Examples
    --------
    >>> label_column(["a", "kind"], LoadedModel(None, [("a", "double")], 1), None, "f.csv")
    'kind'
    """
    if wanted is not None:
        if wanted not in names:
            raise ColumnNotFoundError(
                f'column "{wanted}" is not in {source}', fix=f"columns are: {some_of([*names], 20)}"
            )
        return wanted
    inputs = {name for name, _ in loaded.inputs or ()}
    free = [name for name in names if name not in inputs]
    usual = [name for name in free if name in TRUTH]
    found = usual if usual else [name for name in free if name not in (*ID, *WEIGHT)] if inputs else []
    if len(found) == 1:
        return found[0]
    raise UsageError(
        f"the column of true labels is ambiguous: {some_of(free, 10) or 'none is free'}",
        where=source,
        fix="name it with --truth COLUMN",
    )


def model_rows(columns: Any, loaded: LoadedModel, kept: Sequence[str], source: str) -> Any:
    """Return the rows as the model takes them, as a pandas frame.

    Parameters
    ----------
    columns : mapping from name to array
        The file.
    loaded : LoadedModel
    kept : sequence of str
        Columns of the file that are not features: labels, ids, groups.
    source : str

    Raises
    ------
    ColumnNotFoundError
        Columns of the signature that the file does not have.
    DataError
        A column of another type, or another number of columns.
    """
    import pandas as pd

    if loaded.inputs is None:
        names = [name for name in columns if name not in kept]
        if loaded.width is not None and len(names) != loaded.width:
            raise DataError(
                f"the model takes {loaded.width} columns; the file has {len(names)} without labels and ids",
                where=f"{source}: {some_of(names, 10)}",
                fix="leave only the features of the model, in their order, and the labels (--truth)",
            )
        text = next((name for name in names if columns[name].dtype.kind not in "iufb"), None)
        if text is not None:
            raise DataError(
                f'column "{text}" is not numeric, and the model takes numbers without names',
                where=f"{source}, column {text}",
                fix="encode it as in training, or remove it from the file",
            )
        return pd.DataFrame({name: columns[name] for name in names})
    missing = [name for name, _ in loaded.inputs if name not in columns]
    if missing:
        raise ColumnNotFoundError(
            f"{source} lacks {len(missing)} of the {len(loaded.inputs)} columns of the model: "
            f"{some_of(missing, 10)}",
            where=source,
            fix="add them; the signature of the model has these names",
        )
    return pd.DataFrame({name: as_type(columns[name], kind, name, source) for name, kind in loaded.inputs})


def as_type(values: Any, kind: str, name: str, source: str) -> Any:
    """Return a column in the type of the signature.

    Raises
    ------
    DataError
        Text for a number, a fraction or a gap for a whole number, numbers for text.

    Examples
    --------
    >>> as_type(np.array([1, 2]), "double", "age", "rows.csv").dtype
    dtype('float64')
    """
    is_number = values.dtype.kind in "iufb"
    if kind in NUMBERS:
        if not is_number:
            raise _wrong_type(name, source, _first_match(values, lambda one: one is not None), "a number")
        whole = NUMBERS[kind].startswith("int")
        odd = np.flatnonzero(~np.isfinite(values) | (values != np.floor(values))) if whole else np.array([])
        if len(odd):
            raise _wrong_type(name, source, (int(odd[0]), values[odd[0]]), "a whole number")
        return values.astype(NUMBERS[kind])
    if kind == "boolean":
        odd = np.flatnonzero(~np.isin(values, (0, 1))) if is_number else np.array([0])
        if len(odd):
            raise _wrong_type(name, source, (int(odd[0]), values[odd[0]]), "true or false")
        return values.astype(bool)
    if kind == "string" and is_number:
        raise _wrong_type(name, source, (0, values[0]), "text")
    return values


def _first_match(values: Any, fits: Any) -> tuple[int, Any]:
    return next(((row, one) for row, one in enumerate(values.tolist()) if fits(one)), (0, None))


def _wrong_type(name: str, source: str, first: tuple[int, Any], wanted: str) -> DataError:
    row, value = first
    return DataError(
        f'column "{name}" is not {wanted}, which the signature of the model requires',
        where=f"{source}, column {name}, first: row {row + 1}, {value!r}",
        fix="write the column with the type that it had in training",
    )
