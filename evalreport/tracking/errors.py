"""What MLflow and the libraries under it raise, as one of our errors with one line and a remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from json import JSONDecodeError

from evalreport.core.errors import (
    EndpointMissingError,
    EvalreportError,
    MissingExtraError,
    NotFoundError,
    RunNotFoundError,
    ServerError,
    UsageError,
)
from evalreport.core.text import printable, redact

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
"""Packages whose exceptions are theirs; all others are our own mistakes and pass."""
_LONGEST = 200
"""Characters of a server's own message that an error repeats: two lines of a terminal."""


@dataclass(frozen=True)
class Rule:
    """Which failures are meant (error code or words), and the error that says so."""

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
        "ask for access to this experiment, or log in as somebody who has it",
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
    """Return the error for what a library raised, or None when it is none of theirs.

    Parameters
    ----------
    error : Exception
    store : str
        Address of the store, as it may be shown.

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
    """Return the rule of the error code; else, as codes like INTERNAL_ERROR say nothing, of the words.

    Of several rules of a code it is the one whose words fit, else the first.
    """
    by_code = [rule for rule in RULES if rule.code and rule.code == code]
    by_words = [rule for rule in RULES if rule.words and re.search(rule.words, text, re.IGNORECASE)]
    return next((rule for rule in by_code if rule in by_words), next(iter((*by_code, *by_words)), None))


def _own_words(text: str) -> str:
    first = text.strip().split("\n", maxsplit=1)[0]
    first = re.sub(r"^[A-Z_]{6,}: ", "", redact(first))
    first = first.rstrip(".") or "it gave no reason"
    return printable(first if len(first) <= _LONGEST else first[:_LONGEST] + "…")
