"""Where the artifacts of a run may lie: what address stands in a run is up to whoever made the run."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from evalreport.errors import UnsafeFileError
from evalreport.text import shown

CLOUDS = ("s3", "r2", "gs", "wasbs", "abfss", "dbfs", "hdfs", "viewfs", "sftp")
"""Schemes of artifact stores that MLflow reaches with the user's own credentials."""


def artifact_root(uri: str, tracking: str, where: str) -> Path | None:
    """Return the folder of a run's artifacts when it is on this machine, None when it is elsewhere.

    Only the tracking server itself, cloud stores, and local folders of local stores are gone to.

    Parameters
    ----------
    uri : str
        Where the run says that its artifacts are.
    tracking : str
        Tracking URI.
    where : str
        The run, for the error.

    Raises
    ------
    UnsafeFileError

    Examples
    --------
    >>> artifact_root("mlflow-artifacts:/1/ab/artifacts", "https://mlflow.example.org", "run ab") is None
    True
    >>> artifact_root("/runs/1/ab/artifacts", "sqlite:///mlflow.db", "run ab").as_posix()
    '/runs/1/ab/artifacts'
    >>> artifact_root("file:///etc", "https://mlflow.example.org", "run ab")
    Traceback (most recent call last):
    evalreport.errors.UnsafeFileError: the server names a folder of this machine as the run's artifacts
    """
    scheme, separator, _ = uri.partition(":")
    if not separator or scheme == "file" or len(scheme) == 1:
        return _local_root(uri, tracking, where)
    parts = urlsplit(uri)
    strange = "#" in uri or ".." in parts.path.split("/")
    own = scheme in {"http", "https", "mlflow-artifacts"} and parts.hostname == host_of(tracking)
    own = own or (scheme == "mlflow-artifacts" and not parts.hostname)
    if (scheme in CLOUDS or own) and not strange:
        return None
    raise UnsafeFileError(
        f"the run's artifacts are at {shown(uri)}, where evalreport does not go",
        where=where,
        fix="only the tracking server, cloud storage and local folders are gone to; use the file itself",
    )


def _local_root(uri: str, tracking: str, where: str) -> Path:
    if not is_local(tracking):
        raise UnsafeFileError(
            "the server names a folder of this machine as the run's artifacts",
            where=where,
            fix="start the server with --artifacts-destination, or use the file itself",
        )
    if not uri.startswith("file:"):
        return Path(uri)
    parts = urlsplit(uri)
    if parts.netloc and not is_loopback(parts.netloc):
        raise UnsafeFileError(
            f"the run's artifacts are at {shown(uri)}", where=where, fix="use the file of predictions itself"
        )
    return Path(url2pathname(parts.path))


def host_of(tracking: str) -> str:
    """Return the host name of a tracking URI; empty for a store that is a file."""
    return urlsplit(tracking).hostname or ""


def is_local(tracking: str) -> bool:
    """Tell whether a tracking store is a file or a server of this machine.

    Examples
    --------
    >>> is_local("sqlite:///mlflow.db"), is_local("http://[::1]:5000"), is_local("https://example.org")
    (True, True, False)
    """
    host = host_of(tracking)
    return not host or is_loopback(host)


def is_loopback(host: str) -> bool:
    """Tell whether a host name means this machine.

    Examples
    --------
    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("example.org")
    (True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
