"""What a sink asks of a tracking store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Tracking(Protocol):
    """A tracking store, as `evalreport.sources.mlflow_client.Store` is."""

    def ask(self, call: Callable[[Any], T], where: str = "") -> T:
        """Return what the call gets from the client, or raise one of our errors."""
        ...

    def page_of_run(self, experiment_id: str, run_id: str) -> str:
        """Return the address of the run's artifacts in the UI; may be empty."""
        ...

    def artifact_root(self, uri: str, where: str) -> Path | None:
        """Return the folder of the run's artifacts if it is on this machine; refuse strange addresses."""
        ...
