"""Trials from an Optuna storage: an SQLite database or a journal file, opened for reading only."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from evalreport.errors import (
    DataError,
    EvalreportError,
    FileMissingError,
    NotFoundError,
    UnsafeFileError,
    UsageError,
)
from evalreport.stages import stage
from evalreport.study import Trials
from evalreport.study.constraints import KEY as CONSTRAINTS
from evalreport.study.optuna_library import RUN_ID, quiet_optuna, trials_of
from evalreport.text import redact

_SQLITE_URL = re.compile(r"sqlite(?:\+\w+)?:///(?P<path>[^?]*)")
_VIEWS = """
CREATE TEMP VIEW trial_user_attributes AS
  SELECT * FROM main.trial_user_attributes WHERE key = '$run';
CREATE TEMP VIEW trial_system_attributes AS
  SELECT * FROM main.trial_system_attributes
  WHERE key = '$run' OR key = '$constraints' OR key LIKE '$constraints:%';
CREATE TEMP VIEW study_user_attributes AS
  SELECT * FROM main.study_user_attributes WHERE FALSE;
CREATE TEMP VIEW study_system_attributes AS
  SELECT * FROM main.study_system_attributes WHERE key LIKE 'study:%';
""".replace("$run", RUN_ID).replace("$constraints", CONSTRAINTS)
"""Of the attributes, those that are read: the MLflow run and the constraints of a trial, the names of the
objectives."""
MOST_VALUES = 500_000
"""Of trials, parameters and reported values: Optuna takes 1.8 kB and 50 µs for each (measured), so 1 GB."""
MOST_JOURNAL = 100_000_000
"""Bytes: a line of about 200 for each of as many values."""
_COUNTS = (
    "SELECT count(*) FROM trials JOIN studies USING (study_id) WHERE study_name = ?",
    "SELECT count(*) FROM trial_params JOIN trials USING (trial_id) JOIN studies USING (study_id) "
    "WHERE study_name = ?",
    "SELECT count(*) FROM trial_intermediate_values JOIN trials USING (trial_id) "
    "JOIN studies USING (study_id) WHERE study_name = ?",
    "SELECT ifnull(sum(length(value_json)), 0) / 64 FROM trial_system_attributes "
    "JOIN trials USING (trial_id) JOIN studies USING (study_id) "
    "WHERE study_name = ? AND key LIKE '$constraints%'".replace("$constraints", CONSTRAINTS),
)
_SQLITE_MAGIC = b"SQLite format 3\x00"


def trials_from_optuna(storage: str | Path, study_name: str | None = None) -> Trials:
    """Read a study from an Optuna storage.

    The storage is never created, upgraded or written: an SQLite database is opened read-only.

    Parameters
    ----------
    storage : str or Path
        ``sqlite:///study.db``, or the path of an SQLite or journal file.
    study_name : str
        May be left out when the storage holds one study.

    Returns
    -------
    Trials
        Times are those of the storage, which Optuna writes in the local time of the sweep's machine.

    Raises
    ------
    FileMissingError
        No such file.
    NotFoundError
        No such study; the remedy lists the studies there.
    UsageError
        Several studies and none named, or a storage of another kind.
    DataError
        Not an Optuna storage, one of another version, or a study without trials.
    UnsafeFileError
        A study of more than `MOST_VALUES` values, or a journal of more than `MOST_JOURNAL` bytes.
    MissingExtraError
        Optuna is not installed.
    """
    path = _file(str(storage))
    with quiet_optuna() as optuna, _storage(optuna, path) as opened:
        name = _choose(_ask(path, optuna.get_all_study_names, opened), study_name, path)
        _ask(path, _refuse_large, path, name)
        stage("reading the study")
        study = _ask(path, optuna.load_study, study_name=name, storage=opened)
        if not _ask(path, study.get_trials, deepcopy=False):
            raise DataError(f"the study {name!r} has no trials", where=path.name, fix="run the sweep first")
        trials: Trials = _ask(path, trials_of, study, f"Optuna study in {path.name}")
    return trials


def _file(storage: str) -> Path:
    matched = _SQLITE_URL.fullmatch(storage.partition("?")[0])
    if matched is None and re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", storage):
        raise UsageError(
            f"cannot read trials from a storage of kind {storage.partition(':')[0]!r}",
            fix="name an SQLite database (sqlite:///study.db) or a journal file",
        )
    path = Path(matched["path"] if matched else storage)
    if not os.path.isfile(path):
        raise FileMissingError(
            f"no Optuna storage at {path}", fix="give the path of an existing SQLite or journal file"
        )
    return path


@contextmanager
def _storage(optuna: Any, path: Path) -> Iterator[Any]:
    with path.open("rb") as file:
        first = file.readline(1_000_000)
    if not first.startswith(_SQLITE_MAGIC):
        yield _journal(optuna, path, first)
        return
    storage = _ask(path, _database, optuna, path)
    try:
        yield storage
    finally:
        storage.remove_session()
        storage.engine.dispose()


def _database(optuna: Any, path: Path) -> Any:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if not {"studies", "trials", "version_info"} <= tables:
        raise DataError(
            "the database holds no Optuna studies",
            where=path.name,
            fix="name the database that was given to Optuna as its storage",
        )
    how = {"creator": lambda: _connected(uri)}
    return optuna.storages.RDBStorage("sqlite://", engine_kwargs=how)


def _refuse_large(path: Path, name: str) -> None:
    """Count what Optuna would build, which it builds whole, before it does."""
    with path.open("rb") as file:
        is_journal = not file.read(len(_SQLITE_MAGIC)).startswith(_SQLITE_MAGIC)
    if is_journal:
        found, most, what = path.stat().st_size, MOST_JOURNAL, "bytes of journal"
    else:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            counts = [connection.execute(query, (name,)).fetchone()[0] for query in _COUNTS]
        found, most, what = sum(counts), MOST_VALUES, "trials, parameters, constraints and reported values"
    if found > most:
        raise UnsafeFileError(
            f"the study {name!r} has {found:,} {what}, more than {most:,}",
            where=path.name,
            fix="copy some of its trials into a study of their own: other.add_trials(study.trials[-10000:])",
        )


def _connected(uri: str) -> sqlite3.Connection:
    """Connect, with the attributes that nobody reads hidden by views: they may be as large as one likes."""
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
    connection.executescript(_VIEWS)
    return connection


def _journal(optuna: Any, path: Path, first: bytes) -> Any:
    try:
        is_journal = "op_code" in json.loads(first)
    except (ValueError, TypeError):
        is_journal = False
    if not is_journal:
        raise DataError(
            "the file is neither an SQLite database nor an Optuna journal",
            where=path.name,
            fix="name the file that was given to Optuna as its storage",
        )
    backend = optuna.storages.journal.JournalFileBackend(str(path))
    return _ask(path, optuna.storages.JournalStorage, backend)


def _ask(path: Path, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call the library; whatever it raises over a broken file becomes an error with a remedy."""
    try:
        return call(*args, **named)
    except EvalreportError:
        raise
    except Exception as error:
        raise _unreadable(error, path) from None


def _unreadable(error: Exception, path: Path) -> DataError:
    said = redact(str(error)).partition("\n")[0]
    if "storage upgrade" in said:
        return DataError(
            "the study was written by another release of Optuna",
            where=path.name,
            fix="copy the file and run `optuna storage upgrade --storage URL` on the copy",
        )
    return DataError(
        f"Optuna cannot read the storage: {type(error).__name__}: {said}",
        where=path.name,
        fix="check that the file is whole and that no sweep is locking it",
    )


def _choose(names: list[str], wanted: str | None, path: Path) -> str:
    if not names:
        raise DataError("the storage holds no study", where=path.name, fix="run the sweep first")
    if wanted is None and len(names) > 1:
        raise UsageError(
            f"the storage holds {len(names)} studies",
            where=path.name,
            fix=f"name one with --study-name: {', '.join(sorted(names))}",
        )
    if wanted is not None and wanted not in names:
        raise NotFoundError(
            f"no study {wanted!r}", where=path.name, fix=f"studies there: {', '.join(sorted(names))}"
        )
    return wanted or names[0]
