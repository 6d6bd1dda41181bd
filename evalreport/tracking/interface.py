"""What a sink is: one method, a payload in, a result out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

from evalreport.page.payload import Payload

State: TypeAlias = Literal["written", "unchanged", "dry run"]


@dataclass(frozen=True)
class Logged:
    """What a logging did.

    Parameters
    ----------
    state : str
        ``written``, ``unchanged`` (the place holds this very payload: nothing was written) or ``dry run``.
    metrics, files : tuple of str
        Keys (series included) that the place holds, and paths inside it.
    replaced : tuple of str
        Those of `files` that were there before.
    left : tuple of str
        Keys and paths of an earlier logging that this one does not have, and that stay.
    notes : tuple of str
        What the user should know.
    page : str
        Address of the run's artifacts in the MLflow UI; empty for a place without a server.
    model : str or None
        Id of the logged model that the metrics show on as well; None where the run has none or several.
    values : mapping from key to float
        Of those metrics that are no series.
    """

    KEYS: ClassVar = ("state", "metrics", "files", "replaced", "left", "page", "model")

    state: State
    metrics: tuple[str, ...]
    files: tuple[str, ...]
    replaced: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    page: str = ""
    model: str | None = None
    values: Mapping[str, float] = field(default_factory=dict, repr=False)


class Sink(Protocol):
    """A place that takes payloads; `tests/tracking/test_contract.py` says what every one of them keeps."""

    def log(self, payload: Payload, *, dry_run: bool = False) -> Logged:
        """Write what the place holds of a payload; in a dry run, check everything and write nothing."""
        ...


T = TypeVar("T")


class Tracking(Protocol):
    """A tracking store, as `evalreport.tracking.client.Store` is."""

    def ask(self, call: Callable[[Any], T], where: str = "") -> T:
        """Return what the call gets from the client, or raise one of our errors."""
        ...

    def page_of_run(self, experiment_id: str, run_id: str) -> str:
        """Return the address of the run's artifacts in the UI; may be empty."""
        ...

    def artifact_root(self, uri: str, where: str) -> Path | None:
        """Return the folder of the run's artifacts if it is on this machine; refuse strange addresses."""
        ...
