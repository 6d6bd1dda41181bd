"""The result of a reader, and the translation of library errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from evalreport.core.errors import DataError, EvalreportError
from evalreport.readers.arrow_types import Array
from evalreport.readers.limits import too_little_memory


@dataclass(frozen=True, eq=False)
class Content:
    """The names of everything in the file, and the arrays that were wanted.

    Parameters
    ----------
    names : tuple of str
        All columns, in the file's order, also those that were not read.
    columns : mapping from name to array
    parts : mapping from part to column
        What the format itself says of the columns: of an evaluation's log which one is the answer.
    notes : tuple of str
        What is reported of rows that were not read.
    """

    names: tuple[str, ...]
    columns: Mapping[str, Array]
    parts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@contextmanager
def in_file(source: str) -> Iterator[None]:
    """Put the file's name before what an error says of the place.

    Examples
    --------
    >>> with in_file("scores.csv"):
    ...     raise DataError("3 values are NaN", where="row 17")
    Traceback (most recent call last):
    evalreport.core.errors.DataError: 3 values are NaN
    """
    try:
        yield
    except EvalreportError as error:
        raise error if error.where.startswith(source) else error.with_location(source)  # noqa: B904 (its own kind)
    except MemoryError as error:
        raise too_little_memory().with_location(source) from error


@contextmanager
def wrap_format_errors(kind: str, *library_errors: type[Exception]) -> Iterator[None]:
    """Turn what a library raises on bad bytes into one `DataError`.

    Parameters
    ----------
    kind : str
        Name of the format.
    library_errors : exception classes of the library, beside ValueError, OSError and EOFError

    Examples
    --------
    >>> with wrap_format_errors("Parquet"):
    ...     raise OSError("Couldn't deserialize thrift")
    Traceback (most recent call last):
    evalreport.core.errors.DataError: the file is not whole Parquet: Couldn't deserialize thrift
    """
    expected: tuple[type[Exception], ...] = (ValueError, OSError, EOFError, *library_errors)
    try:
        yield
    except MemoryError as error:
        raise too_little_memory() from error
    except (FileNotFoundError, PermissionError):
        raise  # no word of what the file holds
    except expected as error:
        reason = " ".join(str(error).split()).removesuffix(".")[:160] or type(error).__name__
        raise DataError(
            f"the file is not whole {kind}: {reason}", fix="write or download the file again"
        ) from error
