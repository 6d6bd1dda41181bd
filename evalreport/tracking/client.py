"""MLflow's client: connected late, without messages or endless retries, every failure one of our errors.

MLflow's own `list_artifacts` and `download_artifacts` also look for the files of logged models. Servers
before 3.0 know no such models and answer 404, and every failure of a download becomes "no such artifact".
Here a request is one request, and its failure is what it was.
"""

from __future__ import annotations

import logging
import os
import re
import sqlite3
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from json import JSONDecodeError
from operator import methodcaller
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from evalreport.core.errors import (
    DataError,
    EndpointMissingError,
    EvalreportError,
    FileMissingError,
    MissingExtraError,
    NotFoundError,
    RunNotFoundError,
    ServerError,
    UsageError,
)
from evalreport.core.progress import report_progress
from evalreport.core.text import keep_login, printable, redact, redact_uri
from evalreport.readers.limits import MAX_FILE
from evalreport.tracking.artifact_locations import artifact_root, is_server

FOREIGN = (
    "mlflow",
    "requests",
    "urllib3",
    "sqlalchemy",
    "sqlite3",
    "alembic",
    "boto3",
    "botocore",
    "google",
    "azure",
    "databricks",
)
"""Packages whose exceptions are converted; others are evalreport's own bugs and pass through."""
_LONGEST = 200
"""Most characters of a server's message in an error: two lines of a terminal."""


@dataclass(frozen=True)
class Rule:
    """A kind of failure (error code or words), and the error for it."""

    words: str
    message: str
    fix: str
    code: str = ""
    kind: Callable[..., EvalreportError] = ServerError


_REACH = "check that it runs, and --tracking-uri or MLFLOW_TRACKING_URI"
_NO_JSON = "not in a valid json format"
_ADDRESS = "check the address and its path prefix"
_LOGIN = "set MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN"
LOCKED = "the database is locked by another program"
LOCKED_FIX = "wait until it has ended, and try again"

RULES: tuple[Rule, ...] = (
    Rule(r"error code 401|\b401 client error", "the server asks for a login", _LOGIN, code="UNAUTHENTICATED"),
    Rule(r"cannot configure default credentials", "no valid login", _LOGIN, code="CUSTOMER_UNAUTHORIZED"),
    Rule(
        r"error code 403|\b403 client error",
        "the server refuses: permission denied",
        "ask for access to this experiment, or log in with an account that has it",
        code="PERMISSION_DENIED",
    ),
    Rule(r"certificate|ssl", "the server's certificate is not trusted", _REACH),
    Rule(
        r"error code 429|\b429 client error|too many 429 error|too many requests",
        "the server has had too many requests",
        "wait, then run fewer at once (--set jobs=1)",
    ),
    Rule(
        r"too many \d+ error responses|error code 5\d\d|\b5\d\d server error",
        "the server answers with errors",
        "look at the server's log, and try again",
    ),
    Rule(r"timed? ?out|timeout", "the server does not answer in time", _REACH),
    Rule(
        r"connection (aborted|broken|reset)|incompleteread|remotedisconnected",
        "the server broke the connection off",
        "try again; if it stays so, look at the server's log and at proxies on the way",
    ),
    Rule(
        r"max retries exceeded|connection refused|failed to resolve",
        "the tracking server cannot be reached",
        _REACH,
    ),
    Rule(r"\b404 client error", "the server has no such file", _ADDRESS, kind=NotFoundError),
    Rule(
        r"error code 30\d",
        "the server sends us on to another address",
        "pass the final address as --tracking-uri; redirects are not followed",
    ),
    Rule(
        r"error code 40[45]",
        "there is no MLflow at this address",
        _ADDRESS,
        code="ENDPOINT_NOT_FOUND",
        kind=EndpointMissingError,
    ),
    Rule(
        _NO_JSON,
        "the server answers with a page instead of MLflow's data, perhaps a login page",
        f"{_LOGIN}; or {_ADDRESS}",
    ),
    Rule(
        r"out-of-date database schema|can't locate revision",
        "the database was made by another version of MLflow",
        "back it up and run `mlflow db upgrade` on it, or install the MLflow that made it",
    ),
    Rule(
        r"readonly database",
        "the database cannot be written to: it is read-only",
        "check the permissions of its file and folder, or log as its owner",
    ),
    Rule(
        r"read-only file system|permission denied|operation not permitted",
        "the artifact folder cannot be written to or read",
        "check the permissions of the folder of the run's artifacts, or log as its owner",
    ),
    Rule(
        r"no space left on device|database or disk is full|file too large|disk quota exceeded",
        "the disk is full",
        "make room, then run the same command again: it completes what was begun",
    ),
    Rule(r"database is locked", LOCKED, LOCKED_FIX),
    Rule(r"", "", "check the id and the tracking URI", code="RESOURCE_DOES_NOT_EXIST", kind=RunNotFoundError),
    Rule(
        r"",
        "",
        "see MLflow's documentation of what it accepts here",
        code="INVALID_PARAMETER_VALUE",
        kind=UsageError,
    ),
    Rule(
        r"got unsupported uri|could not parse sqlalchemy url",
        "MLflow has no tracking store at an address like this",
        "pass https://HOST, sqlite:///FILE, postgresql://…, mysql://…, mssql://… or databricks; others need "
        "a plugin of MLflow",
        code="INVALID_PARAMETER_VALUE",
        kind=UsageError,
    ),
)


def translate_error(error: Exception, store: str) -> EvalreportError | None:
    """Return the error for a library's exception, or None if the exception is not a library's.

    Parameters
    ----------
    error : Exception
    store : str
        Address of the store, without secrets.

    Examples
    --------
    >>> class RequestException(Exception):
    ...     __module__ = "requests.exceptions"
    >>> print(translate_error(RequestException("Max retries exceeded"), "http://host").as_lines())
    error: the tracking server cannot be reached
      at   http://host
      fix  check that it runs, and --tracking-uri or MLFLOW_TRACKING_URI
    """
    if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("evalreport"):
        return MissingExtraError(
            f"this tracking URI needs the Python package {error.name}",
            where=store,
            fix=f"pip install {(error.name or '').partition('.')[0]}",
        )
    if isinstance(error, FileNotFoundError):
        return NotFoundError("there is no such file", where=store, fix="check the artifacts of the run")
    no_json = isinstance(error, JSONDecodeError)  # MLflow's newer endpoints leave it to Python's reader
    if (
        type(error).__module__.partition(".")[0] not in FOREIGN
        and not isinstance(error, OSError)
        and not no_json
    ):
        return None
    rule = _rule(str(getattr(error, "error_code", "")), _NO_JSON if no_json else str(error))
    if rule is None:
        return ServerError(f"MLflow failed: {_own_words(str(error))}", where=store, fix=_REACH)
    return rule.kind(rule.message or _own_words(str(error)), where=store, fix=rule.fix)


def _rule(code: str, text: str) -> Rule | None:
    """Return the rule for an error code, or for its words if the code is general, like INTERNAL_ERROR.

    Of several rules with the same code, the first with matching words applies, else the first.
    """
    by_code = [rule for rule in RULES if rule.code and rule.code == code]
    by_words = [rule for rule in RULES if rule.words and re.search(rule.words, text, re.IGNORECASE)]
    return next((rule for rule in by_code if rule in by_words), next(iter((*by_code, *by_words)), None))


def _own_words(text: str) -> str:
    first = text.strip().split("\n", maxsplit=1)[0]
    first = re.sub(r"^[A-Z_]{6,}: ", "", redact(first))
    first = first.rstrip(".") or "it gave no reason"
    return printable(first if len(first) <= _LONGEST else first[:_LONGEST] + "…")


SETTINGS = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",  # the default of 7 waits for minutes on a refused connection
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
    "MLFLOW_ALLOW_HTTP_REDIRECTS": "false",  # a redirect may lead to an unknown host
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",  # requests go to the tracking server only
}
"""Environment variables during MLflow calls, unless the user has set them."""
LOGGERS = ("mlflow", "alembic", "urllib3")


class _Quiet:
    """Settings that the first entering thread makes, and the last leaving thread restores."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._hush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore()

    def _hush(self) -> None:
        self._ours = {name: value for name, value in SETTINGS.items() if name not in os.environ}
        os.environ.update(self._ours)
        self._warnings = warnings.catch_warnings()
        self._warnings.__enter__()
        warnings.simplefilter("ignore")
        self._levels = {name: logging.getLogger(name).level for name in LOGGERS}
        _set_levels(dict.fromkeys(LOGGERS, logging.CRITICAL))

    def _restore(self) -> None:
        held = {name: logging.getLogger(name).level for name in LOGGERS}
        undone = {name: self._levels[name] for name in LOGGERS if held[name] == logging.CRITICAL}
        _set_levels(held | undone)  # keeps levels that an import has just set
        self._warnings.__exit__(None, None, None)
        for name in self._ours:
            os.environ.pop(name, None)


def _set_levels(levels: Mapping[str, int]) -> None:
    """Set levels of loggers; the caches of all loggers are cleared once, not for each."""
    for name, level in levels.items():
        logging.getLogger(name).level = level
    logging.getLogger(name).setLevel(level)


_QUIET = _Quiet()


@contextmanager
def quiet() -> Iterator[None]:
    """Disable MLflow's warnings, log lines, progress bars, retries and telemetry in a context.

    The user's own environment variables win; afterwards everything is restored. Several threads may enter at
    the same time.

    Examples
    --------
    >>> import os
    >>> with quiet():
    ...     os.environ["MLFLOW_DISABLE_TELEMETRY"]
    'true'
    """
    with _QUIET:
        yield


_CHUNK = 1024 * 1024
"""Bytes of a download in memory at a time."""


class RunClient:
    """A tracking client that requests files only from the location that the run names.

    All other methods are those of `mlflow.MlflowClient`.

    Parameters
    ----------
    client : mlflow.MlflowClient
    uri : str
        Tracking URI.
    """

    def __init__(self, client: Any, uri: str) -> None:
        self._client = client
        self._uri = uri

    def __getattr__(self, name: str) -> Any:
        """Return the attribute of `MlflowClient`."""
        return getattr(self._client, name)

    @cached_property
    def _stores(self) -> dict[str, Any]:
        return {}

    @cached_property
    def _places(self) -> dict[str, str]:
        """Artifact locations of runs, as the runs reported them."""
        return {}

    def get_run(self, run_id: str) -> Any:
        """Return a run.

        Raises
        ------
        ServerError
            The response is another run: something answers in the server's place.
        """
        run = self._client.get_run(run_id)
        if run.info.run_id != run_id:
            raise _other_than("run", run_id[:8])
        self._places[run_id] = run.info.artifact_uri
        return run

    def search_runs(self, *asked: Any, **named: Any) -> Any:
        """Return runs, and store their artifact locations, which otherwise need one request per run."""
        found = self._client.search_runs(*asked, **named)
        self._places.update((run.info.run_id, run.info.artifact_uri) for run in found)
        return found

    def get_experiment(self, experiment_id: str) -> Any:
        """Return an experiment.

        Raises
        ------
        ServerError
            See `get_run`.
        """
        experiment = self._client.get_experiment(experiment_id)
        if experiment.experiment_id != experiment_id:
            raise _other_than("experiment", experiment_id)
        return experiment

    def list_artifacts(self, run_id: str, path: str | None = None) -> list[Any]:
        """Return the direct contents of a folder of a run.

        An empty run is confirmed by a second request, because a proxy can answer with nothing, too.
        """
        store = self._store_of(run_id)
        entries = list(store.list_artifacts(path))
        if not entries and not path:
            self.get_run(run_id)
            entries = list(store.list_artifacts(path))
        return entries

    def log_artifacts(self, run_id: str, local_dir: str, artifact_path: str | None = None) -> None:
        """Upload the files of a folder and its subfolders into a folder of a run."""
        self._store_of(run_id).log_artifacts(local_dir, artifact_path)

    def download_artifacts(self, run_id: str, path: str, dst_path: str) -> str:
        """Download one file of a run into a folder, and return its path.

        Raises
        ------
        DataError
            The download exceeds 2 GB.
        ServerError
            A redirect, or another response that is not a file.
        """
        place = Path(dst_path, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        store = self._store_of(run_id)
        if store.artifact_uri.startswith(("http:", "https:")):
            _stream(store.artifact_uri, path, place)
        else:
            store._download_file(path, str(place))  # every kind of artifact store has this method
        return str(place)

    def _store_of(self, run_id: str) -> Any:
        if run_id not in self._stores:
            place = self._places.get(run_id) or self.get_run(run_id).info.artifact_uri
            self._stores[run_id] = _artifact_store(place, self._uri, run_id)
        return self._stores[run_id]


def _other_than(kind: str, wanted: str) -> ServerError:
    return ServerError(
        f"the server did not return the {kind} {wanted}",
        fix="check for a proxy that answers instead of the server, and try again",
    )


def _artifact_store(place: str, uri: str, run_id: str) -> Any:
    """Return MLflow's `ArtifactRepository` of a run, after its address was checked.

    ``mlflow-artifacts:`` is resolved against this tracking server: MLflow 2 resolves it against a global one.
    """
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository
    from mlflow.store.artifact.mlflow_artifacts_repo import MlflowArtifactsRepository
    from mlflow.utils.uri import add_databricks_profile_info_to_artifact_uri

    artifact_root(place, uri, f"run {run_id[:8]}")
    if place.startswith("mlflow-artifacts:"):
        place = MlflowArtifactsRepository.resolve_uri(place, uri)
    return get_artifact_repository(add_databricks_profile_info_to_artifact_uri(place, uri))


def _stream(address: str, path: str, place: Path) -> None:
    """Download a file through the tracking server; any other response is an error."""
    from mlflow.utils.credentials import get_default_host_creds
    from mlflow.utils.rest_utils import augmented_raise_for_status, http_request

    with http_request(get_default_host_creds(address), f"/{path}", "GET", stream=True) as answer:
        augmented_raise_for_status(answer)
        if answer.status_code != 200:
            raise ServerError(
                f"the server returned status {answer.status_code} instead of a file",
                fix="pass the final server address as --tracking-uri; redirects are not followed",
            )
        came, size = 0, int(answer.headers.get("Content-Length", 0))
        with place.open("wb") as file:
            for chunk in answer.iter_content(_CHUNK):
                came += len(chunk)
                report_progress("downloading kB", came // 1000, size // 1000)
                if came > MAX_FILE:
                    raise DataError("the artifact is larger than 2 GB", fix="log a sample, or write Parquet")
                file.write(chunk)


T = TypeVar("T")
logger = logging.getLogger(__name__)

_SQLITE = re.compile(r"^sqlite(?:\+\w+)?://(?:/(?P<path>[^?]*))?(?:\?.*)?$")
_SPECIAL = ("databricks", "databricks-uc", "uc")
"""Tracking URIs that are words, not paths."""
_NAME_A_STORE = "pass --tracking-uri, or set MLFLOW_TRACKING_URI"
_MIGRATE = "mlflow migrate-filestore --source . --target sqlite:///mlflow.db"


@dataclass(frozen=True)
class Store:
    """A tracking store, and the requests to it.

    Parameters
    ----------
    client : RunClient
    uri : str
        Tracking URI as MLflow accepts it, with secrets; never shown (see `shown`).
    """

    client: Any = field(repr=False)
    uri: str = field(repr=False)

    def __reduce__(self) -> tuple[Callable[[str], Store], tuple[str]]:
        """The same store in another process, with a separate connection."""
        return _reconnect_store, (self.uri,)

    @property
    def display_name(self) -> str:
        """The store's address without its secrets."""
        return redact_uri(self.uri)

    @property
    def remote(self) -> bool:
        """Whether the store is a server, whose local file paths are not read."""
        return is_server(self.uri)

    def artifact_root(self, uri: str, where: str) -> Path | None:
        """Return the folder of a run's artifacts if it is on this machine; reject locations not allowed.

        See `evalreport.tracking.artifact_locations.artifact_root`.
        """
        return artifact_root(uri, self.uri, where)

    def ask(self, call: Callable[[Any], T], where: str = "") -> T:
        """Return the result of `call` with the client.

        Parameters
        ----------
        call : callable
            From the `MlflowClient` to the result; it contains nothing else.
        where : str
            Run, artifact or experiment concerned, for the error.

        Raises
        ------
        RunNotFoundError
            MLflow has no such object.
        UsageError
            MLflow rejects a parameter, such as a filter.
        ServerError
            The server is unreachable, refuses the request, or fails.
        """
        failure: EvalreportError
        try:
            with quiet():
                answer = call(self.client)
            logger.debug(
                "asked %s to %s%s", self.display_name, _name_of(call), f" ({where})" if where else ""
            )
            return answer
        except Exception as error:
            known = translate_error(error, self.display_name)
            if known is None:
                raise
            failure = known.with_location(where) if where else known
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
    # With keyword arguments a methodcaller reduces to a partial; its text always starts with the name.
    words = repr(call).split(",", 1)[0].partition("(")[2].rstrip(")")
    return words.strip("'").replace("_", " ")


def connect(tracking_uri: str | None = None) -> Store:
    """Return the tracking store of an address, or the one that MLflow itself would use.

    mlflow is imported here (it takes seconds). No request is sent yet.

    Parameters
    ----------
    tracking_uri : str, optional
        As for MLflow. Without it: the value from `mlflow.set_tracking_uri` or ``MLFLOW_TRACKING_URI``, else
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
        known = translate_error(error, redact_uri(uri))
        if known is None:
            raise
        failure = known
    raise failure


@lru_cache
def _reconnect_store(uri: str) -> Store:
    return connect(uri)


def _keep_logins(uri: str) -> None:
    """Hide all credentials in requests to a store, because a server may repeat them."""
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
    """Reject addresses for which MLflow would create something.

    Parameters
    ----------
    uri : str
    default : bool
        Whether the user did not name it.

    Examples
    --------
    >>> check_uri("https://mlflow.example.org")
    >>> check_uri("sqlite:///no-such.db")
    Traceback (most recent call last):
    evalreport.core.errors.FileMissingError: there is no MLflow database no-such.db
    """
    sqlite = _SQLITE.match(uri)
    try:
        urlsplit(uri)
    except ValueError:
        message = f"{redact_uri(uri)} is not an address"
        raise UsageError(message, where="tracking URI", fix=_NAME_A_STORE) from None
    if sqlite:
        _check_sqlite(sqlite["path"] or "", default)
    elif _is_file_store(uri) and os.environ.get("MLFLOW_ALLOW_FILE_STORE", "").lower() not in {"true", "1"}:
        came = (
            "MLflow takes ./mlruns of this folder for its store"
            if default
            else f"{redact_uri(uri)} is a folder"
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
        raise UsageError("an in-memory database has no runs", where="tracking URI", fix=_NAME_A_STORE)
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
