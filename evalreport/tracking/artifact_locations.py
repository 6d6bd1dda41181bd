"""Allowed locations of the artifacts of a run: the address is untrusted, because a run's creator sets it."""

from __future__ import annotations

import os
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from evalreport.core.errors import UnsafeFileError
from evalreport.core.text import redact_uri

ROOT_SETTING = "MLFLOW_DEFAULT_ARTIFACT_ROOT"
"""MLflow's own setting of the artifact folder; a folder named by a server is accepted only inside it."""
CLOUDS = ("s3", "r2", "gs", "wasbs", "abfss", "dbfs", "hdfs", "viewfs", "sftp")
"""Schemes of artifact stores that MLflow reaches with the user's own credentials."""


def artifact_root(uri: str, tracking: str, where: str) -> Path | None:
    """Return the folder of a run's artifacts if it is on this machine, else None.

    Only these locations are opened: the tracking server itself (scheme, host and port), cloud stores, and
    folders of a file store. A folder named by a server must be inside ``MLFLOW_DEFAULT_ARTIFACT_ROOT``.

    Parameters
    ----------
    uri : str
        Artifact location of the run.
    tracking : str
        Tracking URI.
    where : str
        The run, for errors.

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
    evalreport.core.errors.UnsafeFileError: the server names a folder of this machine as the run's artifacts
    """
    scheme, separator, _ = uri.partition(":")
    if not separator or scheme == "file" or len(scheme) == 1:
        return _local_root(uri, tracking, where)
    parts = urlsplit(uri)
    strange = "#" in uri or ".." in parts.path.split("/")
    own = scheme == "mlflow-artifacts" and not parts.netloc
    own = own or (scheme in {"http", "https", "mlflow-artifacts"} and _same_origin(uri, tracking))
    if (scheme in CLOUDS or own) and not strange:
        return None
    raise UnsafeFileError(
        f"the run's artifacts are at {redact_uri(uri)}, which evalreport does not access",
        where=where,
        fix="evalreport accesses only the tracking server, cloud storage and local folders; use the "
        "file itself",
    )


def local_path(uri: str) -> Path:
    """Return the path of a file address on this machine, or of a bare path.

    Examples
    --------
    >>> local_path("file:///tmp/a%20b").as_posix(), local_path("a%20b").as_posix()
    ('/tmp/a b', 'a%20b')
    """
    from urllib.request import url2pathname  # imports HTTP, TLS and e-mail: 15 ms of every start

    return Path(url2pathname(urlsplit(uri).path) if uri.startswith("file:") else uri)


def _local_root(uri: str, tracking: str, where: str) -> Path:
    parts = urlsplit(uri)
    if uri.startswith("file:") and parts.netloc and not is_loopback(parts.netloc):
        raise UnsafeFileError(
            f"the run's artifacts are at {redact_uri(uri)}",
            where=where,
            fix="use the file of predictions itself",
        )
    folder = local_path(uri)
    if is_server(tracking) and not _is_configured(folder):
        raise UnsafeFileError(
            "the server names a folder of this machine as the run's artifacts",
            where=where,
            fix=f"start the server with --artifacts-destination, or set {ROOT_SETTING} to that folder",
        )
    return folder


def _is_configured(folder: Path) -> bool:
    """Return whether a folder is inside the one that the user, not the server, set for artifacts."""
    root = os.environ.get(ROOT_SETTING, "")
    inside = bool(root) and Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(local_path(root)))
    return inside and ".." not in folder.parts


def _same_origin(uri: str, tracking: str) -> bool:
    """Return whether an address is of the tracking server: a token is for one scheme, host and port."""
    ours = origin_of(tracking)
    resolved = (
        uri.replace("mlflow-artifacts:", f"{ours[0]}:", 1) if uri.startswith("mlflow-artifacts:") else uri
    )
    return bool(ours[1]) and origin_of(resolved) == ours


def origin_of(uri: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port of an address; without a port, the default one of the scheme.

    Examples
    --------
    >>> origin_of("https://Example.org/mlflow") == origin_of("https://user:pw@example.org:443")
    True
    >>> origin_of("http://example.org:81/x")
    ('http', 'example.org', 81)
    """
    parts = urlsplit(uri)
    try:
        port = parts.port
    except ValueError:  # not a valid port: equal to no address
        port = -1
    return parts.scheme, parts.hostname or "", port or {"http": 80, "https": 443}.get(parts.scheme)


def is_server(tracking: str) -> bool:
    """Return whether a tracking store is a server or a remote database, with untrusted artifact locations.

    A server on this machine counts, too: it may be the near end of a tunnel.

    Examples
    --------
    >>> is_server("sqlite:///mlflow.db"), is_server("postgresql://localhost/runs"), is_server("databricks")
    (False, False, True)
    >>> is_server("http://127.0.0.1:5000"), is_server("postgresql://db.example.org/runs")
    (True, True)
    """
    parts = urlsplit(tracking)
    if parts.scheme in {"http", "https"} or tracking.partition(":")[0] in {
        "databricks",
        "databricks-uc",
        "uc",
    }:
        return True
    return bool(parts.hostname) and not is_loopback(parts.hostname or "")


def is_loopback(host: str) -> bool:
    """Return whether a host name means this machine.

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
