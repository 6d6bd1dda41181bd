"""The way to an MLflow tracking store: found late, asked quietly, every failure one of our errors."""

from __future__ import annotations

import logging
import os
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from operator import methodcaller
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from evalreport.errors import EvalreportError, FileMissingError, ServerError, UsageError
from evalreport.sources.mlflow_errors import LOCKED, LOCKED_FIX, translated
from evalreport.sources.places import artifact_root, is_server
from evalreport.sources.quiet import quiet
from evalreport.sources.run_client import RunClient
from evalreport.text import keep_login, shown

T = TypeVar("T")
logger = logging.getLogger(__name__)

_SQLITE = re.compile(r"^sqlite(?:\+\w+)?://(?:/(?P<path>[^?]*))?(?:\?.*)?$")
_SPECIAL = ("databricks", "databricks-uc", "uc")
"""Tracking URIs that are a word, not a path."""
_NAME_A_STORE = "pass --tracking-uri, or set MLFLOW_TRACKING_URI"
_MIGRATE = "mlflow migrate-filestore --source . --target sqlite:///mlflow.db"


@dataclass(frozen=True)
class Store:
    """A tracking store and how to ask it.

    Parameters
    ----------
    client : RunClient
    uri : str
        As MLflow takes it, secrets included; never shown (see `shown`).
    """

    client: Any = field(repr=False)
    uri: str = field(repr=False)

    def __reduce__(self) -> tuple[Callable[[str], Store], tuple[str]]:
        """Stand for the same store in another process, which has a connection of its own."""
        return _reconnected, (self.uri,)

    @property
    def shown(self) -> str:
        """The store's address without its secrets."""
        return shown(self.uri)

    @property
    def remote(self) -> bool:
        """Whether the store is a server: what it calls a file of this machine is not read."""
        return is_server(self.uri)

    def artifact_root(self, uri: str, where: str) -> Path | None:
        """Return the folder of a run's artifacts if it is on this machine; refuse strange addresses.

        See `evalreport.sources.places.artifact_root`.
        """
        return artifact_root(uri, self.uri, where)

    def ask(self, call: Callable[[Any], T], where: str = "") -> T:
        """Return what `call` gets from the client.

        Parameters
        ----------
        call : callable
            From the `MlflowClient` to the answer; nothing else belongs into it.
        where : str
            Run, artifact or experiment concerned, for the error.

        Raises
        ------
        RunNotFoundError
            MLflow knows no such thing.
        UsageError
            MLflow rejects a parameter, such as a filter.
        ServerError
            Unreachable, refused, or failing.
        """
        failure: EvalreportError
        try:
            with quiet():
                answer = call(self.client)
            logger.debug("asked %s to %s%s", self.shown, _name_of(call), f" ({where})" if where else "")
            return answer
        except Exception as error:
            known = translated(error, self.shown)
            if known is None:
                raise
            failure = known.located(where) if where else known
        raise failure  # outside the handler, so that no traceback shows a URI with its password

    def page_of_run(self, experiment_id: str, run_id: str) -> str:
        """Return the address of a run's artifacts in the MLflow UI; empty for a store without a server."""
        parts = urlsplit(self.uri)
        if parts.scheme not in {"http", "https"}:
            return ""
        base = urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))
        return f"{base}/#/experiments/{experiment_id}/runs/{run_id}/artifacts"


def _name_of(call: Callable[[Any], Any]) -> str:
    if not isinstance(call, methodcaller):
        return "log batch"
    # With keyword arguments a methodcaller reduces to a partial; its text always begins with the name.
    words = repr(call).split(",", 1)[0].partition("(")[2].rstrip(")")
    return words.strip("'").replace("_", " ")


def connect(tracking_uri: str | None = None) -> Store:
    """Return the tracking store of an address, or the one that MLflow itself would use.

    mlflow is imported here (it takes seconds). A server is not asked anything yet.

    Parameters
    ----------
    tracking_uri : str, optional
        As for MLflow. Without it: what `mlflow.set_tracking_uri` or ``MLFLOW_TRACKING_URI`` said, else
        ``mlflow.db`` in the working directory.

    Raises
    ------
    FileMissingError
        A SQLite file that does not exist (MLflow would create an empty one).
    UsageError
        A folder of files (`mlruns`), which MLflow no longer reads.
    ServerError
        A database that is not MLflow's, or that MLflow refuses.
    """
    if tracking_uri is not None:
        check_uri(tracking_uri)
    failure: EvalreportError
    uri = tracking_uri or ""
    try:
        with quiet():
            import mlflow

            uri = tracking_uri or str(mlflow.get_tracking_uri())
        check_uri(uri, default=not tracking_uri)
        _keep_logins(uri)
        with quiet():
            return Store(RunClient(mlflow.MlflowClient(tracking_uri=uri), uri), uri)
    except EvalreportError:
        raise
    except Exception as error:
        known = translated(error, shown(uri))
        if known is None:
            raise
        failure = known
    raise failure


@lru_cache
def _reconnected(uri: str) -> Store:
    return connect(uri)


def _keep_logins(uri: str) -> None:
    """Have every login that requests to a store may carry hidden, as nobody knows what a server repeats."""
    parts = urlsplit(uri)
    user, password = parts.username or "", parts.password or ""
    logins = [(user, password), (unquote(user), unquote(password))]
    if is_server(uri):
        with quiet():
            from mlflow.utils.credentials import get_default_host_creds
            from requests.utils import get_netrc_auth
        known = get_default_host_creds(uri)
        logins += [(known.username, known.password), ("", known.token), get_netrc_auth(uri) or ("", "")]
    for user, password in logins:
        if password or user:
            keep_login(user or "", password or "")


def check_uri(uri: str, *, default: bool = False) -> None:
    """Refuse addresses that MLflow would mend by creating something.

    Parameters
    ----------
    uri : str
    default : bool
        Whether nobody named it.

    Examples
    --------
    >>> check_uri("https://mlflow.example.org")
    >>> check_uri("sqlite:///no-such.db")
    Traceback (most recent call last):
    evalreport.errors.FileMissingError: there is no MLflow database no-such.db
    """
    sqlite = _SQLITE.match(uri)
    try:
        urlsplit(uri)
    except ValueError:
        message = f"{shown(uri)} is not an address"
        raise UsageError(message, where="tracking URI", fix=_NAME_A_STORE) from None
    if sqlite:
        _check_sqlite(sqlite["path"] or "", default)
    elif _is_file_store(uri) and os.environ.get("MLFLOW_ALLOW_FILE_STORE", "").lower() not in {"true", "1"}:
        came = (
            "MLflow takes ./mlruns of this folder for its store" if default else f"{shown(uri)} is a folder"
        )
        raise UsageError(
            f"{came}, and MLflow no longer reads stores made of files",
            where="tracking URI",
            fix=f"move the runs with `{_MIGRATE}`; or {_NAME_A_STORE}",
        )


def _is_file_store(uri: str) -> bool:
    scheme, separator, _ = uri.partition(":")
    if uri in _SPECIAL or (separator and scheme in _SPECIAL):
        return False
    return not separator or scheme == "file" or len(scheme) == 1  # C:\runs


def _check_sqlite(path: str, default: bool) -> None:
    if not path or path == ":memory:":
        raise UsageError("a database in memory holds no runs", where="tracking URI", fix=_NAME_A_STORE)
    file = Path(path)
    if not os.path.isfile(file):
        name = f"{file.name} in this folder" if default else str(file)
        raise FileMissingError(
            f"there is no MLflow database {name}",
            fix=f"{_NAME_A_STORE}; evalreport reads runs and creates no store",
        )
    if not os.access(file, os.R_OK):
        raise ServerError(
            f"the database {file.name} cannot be read: permission denied",
            where=str(file),
            fix="check the permissions of the file, or log as its owner",
        )
    if not _has_runs_table(file):
        raise ServerError(
            f"{file.name} is not an MLflow database",
            where=str(file),
            fix="check the path; MLflow would write its tables into it",
        )


def _has_runs_table(file: Path) -> bool:
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as database:
            query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'runs'"
            return database.execute(query).fetchone() is not None
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise ServerError(LOCKED, where=str(file), fix=LOCKED_FIX) from error
        return False
    except sqlite3.Error:
        return False
