"""The error classes. Every error states what is wrong, where, and how to fix it.

The command line prints the three lines and leaves with the error's exit code; nothing else in the
package catches them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar


class EvalreportError(Exception):
    """What every error of evalreport is.

    Parameters
    ----------
    message : str
        What happened, in one sentence without a full stop.
    where : str
        File, column, row, run or label concerned; may be empty.
    fix : str
        What the user can do; may be empty.

    Examples
    --------
    >>> error = DataError("column 'p' has 3 NaN", where="scores.csv, first: row 17", fix="drop the rows")
    >>> print(error.as_lines())
    error: column 'p' has 3 NaN
      at   scores.csv, first: row 17
      fix  drop the rows
    >>> error.exit_code, error.code
    (5, 'DATA_INVALID')
    """

    code: ClassVar[str] = "ERROR"
    exit_code: ClassVar[int] = 101

    def __init__(self, message: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.fix = fix

    def with_location(self, where: str) -> EvalreportError:
        """Return the same error with `where` put before what it already says of the place."""
        return type(self)(self.message, where=", ".join(filter(None, (where, self.where))), fix=self.fix)

    def as_lines(self) -> str:
        """Return the error as the one to three lines that the command line prints."""
        lines = [f"error: {self.message}"]
        if self.where:
            lines.append(f"  at   {self.where}")
        if self.fix:
            lines.append(f"  fix  {self.fix}")
        return "\n".join(lines)

    def to_wire(self) -> dict[str, str]:
        """Return the error as the object that `--json` prints."""
        return {"code": self.code, "message": self.message, "where": self.where, "fix": self.fix}


class UsageError(EvalreportError):
    """An option or a setting that cannot be meant."""

    code = "USAGE"
    exit_code = 2


class MissingExtraError(UsageError):
    """An optional dependency is not installed; the fix is the install command."""

    code = "MISSING_EXTRA"


class NotFoundError(EvalreportError):
    """A run, an artifact, a file or a column that is not there."""

    code = "NOT_FOUND"
    exit_code = 3


class RunNotFoundError(NotFoundError):
    """No such run or experiment in the tracking store."""

    code = "RUN_NOT_FOUND"


class ArtifactNotFoundError(NotFoundError):
    """The run exists but has no predictions that can be read."""

    code = "ARTIFACT_NOT_FOUND"


class NoPredictionsError(ArtifactNotFoundError):
    """A run has no predictions; of several such runs a command reports only their number."""


class FileMissingError(NotFoundError):
    """No such file."""

    code = "FILE_NOT_FOUND"


class ColumnNotFoundError(NotFoundError):
    """No such column; the message lists what is there."""

    code = "COLUMN_NOT_FOUND"


class ServerError(EvalreportError):
    """The tracking server cannot be reached, or refuses."""

    code = "SERVER"
    exit_code = 4


class EndpointMissingError(ServerError):
    """The server does not know what it was asked for: an older release, or no MLflow."""


class PromotionError(EvalreportError):
    """A model whose gate has passed, and that yet may not have the alias; the alias was not touched."""

    code = "NOT_PROMOTED"
    exit_code = 1


class DataError(EvalreportError):
    """Data that cannot be evaluated as they are."""

    code = "DATA_INVALID"
    exit_code = 5


class NoTableError(DataError):
    """A whole file without a table in it, such as settings or a few metrics as JSON."""


class GradedError(DataError):
    """A table with a grade per item, right or wrong, in place of two columns of labels.

    `table` is the table, where it is in memory: a feature can evaluate the grades.
    """

    table: Any = None

    def with_location(self, where: str) -> EvalreportError:
        """Return the same error, of the same table, with `where` before its place."""
        made = super().with_location(where)
        vars(made).update(table=self.table)
        return made


class UnsafeFileError(DataError):
    """A file that is refused for what reading it could do (pickle, expansion, path)."""

    code = "UNSAFE_FILE"


class LoggingInterrupted(KeyboardInterrupt):
    """The user has stopped a logging after something of it was written; its text says of which run."""

    def __str__(self) -> str:
        return f"{super().__str__()} is half logged; the same command completes it"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a phrase naming the nearest known names, for the end of a remedy.

    Examples
    --------
    >>> nearest("f1_marco", ["f1_macro", "recall"])
    'Did you mean f1_macro?'
    >>> nearest("zzz", ["f1_macro", "recall"])
    'Known: f1_macro, recall'
    """
    names = list(known)
    close = get_close_matches(str(name), names, n=3, cutoff=0.6)
    if close:
        *others, last = close
        return f"Did you mean {', '.join(others) + ' or ' if others else ''}{last}?"
    return f"Known: {some_of(names, 20)}"


def some_of(names: Sequence[str], most: int = 5) -> str:
    """Return the first of some names, and how many more there are.

    Examples
    --------
    >>> some_of(["f1", "recall", "mcc"]), some_of(["f1", "recall", "mcc"], 2), some_of([])
    ('f1, recall, mcc', 'f1, recall and 1 more', '')
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def truncate_middle(text: str, most: int = 200) -> str:
    """Return a text as an error quotes it: a name or value of thousands of characters keeps both its ends.

    Examples
    --------
    >>> truncate_middle("9" * 5000, 10)
    '99999…99999'
    """
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most // 2) :]}"
