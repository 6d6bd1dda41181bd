"""The rows that a model predicts: columns by the model's signature, in its order and of its types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evalreport.columns.names import ID, TRUTH, WEIGHT
from evalreport.core.errors import ColumnNotFoundError, DataError, UsageError, some_of
from evalreport.features.predict.model import LoadedModel

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
        f"the column of true labels is not clear: {some_of(free, 10) or 'none is free'}",
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
            raise _wrong_type(name, source, _first(values, lambda one: one is not None), "a number")
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


def _first(values: Any, fits: Any) -> tuple[int, Any]:
    return next(((row, one) for row, one in enumerate(values.tolist()) if fits(one)), (0, None))


def _wrong_type(name: str, source: str, first: tuple[int, Any], wanted: str) -> DataError:
    row, value = first
    return DataError(
        f'column "{name}" is not {wanted}, which the signature of the model requires',
        where=f"{source}, column {name}, first: row {row + 1}, {value!r}",
        fix="write the column with the type that it had in training",
    )
