"""Where a payload goes: into a folder, or into an MLflow run."""

from __future__ import annotations

from evalreport.tracking.folder import FolderSink
from evalreport.tracking.interface import Sink
from evalreport.tracking.log import MlflowSink

SINKS: tuple[type[Sink], ...] = (FolderSink, MlflowSink)
"""Every place that takes payloads; each has a line in the contract suite of `tests/sinks`."""
