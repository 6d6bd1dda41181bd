"""Where a payload goes: into a folder, or into an MLflow run."""

from __future__ import annotations

from evalreport.sinks.folder import FolderSink
from evalreport.sinks.mlflow import MlflowSink
from evalreport.sinks.sink import Sink

SINKS: tuple[type[Sink], ...] = (FolderSink, MlflowSink)
"""Every place that takes payloads; each has a line in the contract suite of `tests/sinks`."""
