"""A data frame as a `RawTable`: pandas by its columns, everything else through the Arrow C stream.

Numbers without gaps are views of the frame's own memory; text becomes objects, as from a file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evalreport.columns.column_request import Columns
from evalreport.columns.evidence import SAMPLE
from evalreport.columns.names import column_selector
from evalreport.core.errors import DataError, EvalreportError, UsageError
from evalreport.data.arrays import gaps_of
from evalreport.readers.content import Array, Content, check_schema, to_array, whole_numbers
from evalreport.readers.formats import COMPARED_COLUMNS, RawTable
from evalreport.readers.limits import choose
from evalreport.readers.read import chosen_by_sample, named_after_labels

NAME = "the frame"
COMPARED_ROWS = 200_000
"""Rows of a frame up to which all columns are read; else a sample of rows chooses them."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The columns of a frame, each made into an array when it is wanted; `take` returns some of its rows."""

    names: tuple[str, ...]
    rows: int
    array: Callable[[str], Array]
    take: Callable[[Array], Frame]

    def arrays(self, names: tuple[str, ...]) -> Mapping[str, Array]:
        """Return columns as arrays."""
        return {name: self.array(name) for name in names}


def is_frame(what: Any) -> bool:
    """Tell whether something is a frame: several named columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> is_frame(pa.table({"y_true": [0, 1]})), is_frame([0, 1])
    (True, False)
    """
    if _is_pandas(what):
        return True
    is_column = hasattr(what, "dtype") or (hasattr(what, "type") and not hasattr(what, "columns"))
    return hasattr(what, "__arrow_c_stream__") and not is_column


def table_of(frame: Any, request: Columns) -> RawTable:
    """Return the columns of a frame that may play a part, as a file of them would be read.

    Parameters
    ----------
    frame : pandas, Polars or PyArrow table, DuckDB relation, or anything with ``__arrow_c_stream__``
    request : Columns

    Raises
    ------
    UsageError
        It is not a frame.
    DataError
        A duplicate column, or a used one without labels, numbers or text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table_of(pa.table({"y_true": [0, 1], "y_pred": [0, 0], "age": [41, 12]}), Columns()).columns
    {'y_true': array([0, 1]), 'y_pred': array([0, 0]), 'age': array([41, 12])}
    """
    found = _pandas(frame) if _is_pandas(frame) else _arrow(frame)
    content = Content(found.names, found.arrays(choose(found.names, column_selector(request))))
    more = choose(found.names, set(named_after_labels(request)(content)).intersection)
    content = replace(content, columns={**content.columns, **found.arrays(more)})
    if not found.names or any(len(array) == 0 for array in content.columns.values()):
        raise DataError("the frame has no rows", where=NAME, fix="check what was selected")
    others = [name for name in found.names if name not in content.columns]
    if found.rows > COMPARED_ROWS or len(others) > COMPARED_COLUMNS:
        some = found.take(
            np.sort(np.random.default_rng(0).choice(found.rows, min(found.rows, SAMPLE), False))
        )
        chosen = chosen_by_sample(request)(Content(found.names, _readable(some, found.names)))
        others = [name for name in others if name in chosen]
    columns = {**content.columns, **_readable(found, others)}
    n = max((len(array) for array in columns.values()), default=0)
    return RawTable(columns, n, NAME, "", "frame", found.names)


def _readable(found: Frame, names: Sequence[str]) -> dict[str, Array]:
    """Return columns as far as they can be read."""
    columns: dict[str, Array] = {}
    for name in names:
        with suppress(EvalreportError):  # an unused column may contain anything
            columns[name] = found.array(name)
    return columns


def _is_pandas(what: Any) -> bool:
    return hasattr(what, "iloc") and hasattr(what, "columns")


def _pandas(frame: Any) -> Frame:
    """The columns of a pandas frame, and its index where that has a name."""
    levels = [name for name in frame.index.names if name is not None and name not in frame.columns]
    names = (*map(str, levels), *map(str, frame.columns))
    places = {name: place for place, name in enumerate(names)}

    def array(name: str) -> Array:
        place = places[name]
        if place < len(levels):
            return _series(frame.index.get_level_values(levels[place]).to_series(), name)
        return _series(frame.iloc[:, place - len(levels)], name)

    return Frame(names, len(frame), array, lambda rows: _pandas(frame.iloc[rows]))


def _series(column: Any, name: str) -> Array:
    import pyarrow as pa

    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return _read_only_view(column.to_numpy())
    if column.dtype == object:
        values = _without_gaps(column.to_numpy())
        kinds = set(map(type, values.tolist())) - {type(None)}
        if kinds <= {str}:
            return _read_only_view(values)
        if kinds == {int}:  # of any size, which Arrow's types are not
            return _read_only_view(whole_numbers(values.tolist()))
    try:
        chunked = pa.chunked_array([pa.array(column, from_pandas=True)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        reason = " ".join(str(error).split())[:120]
        raise DataError(
            f"column {name!r} cannot be read: {reason}",
            where=f"{NAME}, column {name!r}",
            fix="use one type of value in it: text, numbers, or lists of these",
        ) from error
    return _column(chunked, name)


def _without_gaps(values: Array) -> Array:
    """Return objects with None where there is nothing, as files are read."""
    gaps = gaps_of(values)
    if not gaps.size:
        return values
    known = values.copy()
    known[gaps] = None
    return known


def _arrow(frame: Any) -> Frame:
    """The columns of whatever has the Arrow C stream; a stream is read once."""
    import pyarrow as pa

    if not hasattr(frame, "__arrow_c_stream__"):
        kind = type(frame).__name__
        lazy = hasattr(frame, "collect")
        raise UsageError(
            f"{kind} is not a frame with rows" if lazy else f"{kind} is not a frame",
            where=NAME,
            fix=f"pass {kind}.collect()" if lazy else "pass pandas, Polars, PyArrow or a DuckDB relation",
        )
    return _table(pa.RecordBatchReader.from_stream(frame).read_all())


def _table(table: Any) -> Frame:
    def array(name: str) -> Array:
        return _column(table.column(name), name)

    return Frame(tuple(table.column_names), len(table), array, lambda rows: _table(table.take(rows)))


def _column(column: Any, name: str) -> Array:
    import pyarrow as pa

    check_schema(pa.schema([pa.field(name, column.type)]), [name])
    if column.num_chunks == 0:
        return np.zeros(0, dtype=object)
    return _read_only_view(to_array(column, name))


def _read_only_view(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
