"""Imports what takes long, once, in the process from which others fork; no store is opened."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import mlflow.store.tracking.sqlalchemy_store  # noqa: F401
from mlflow.store.db import utils

from evalreport.cli import main

_newest = utils._get_latest_schema_revision()  # reads seventy modules
utils._get_latest_schema_revision = lambda: _newest

with tempfile.TemporaryDirectory() as _folder, suppress(SystemExit):
    _file = Path(_folder) / "rows.csv"
    _file.write_text("y_true,y_pred\na,a\nb,b\nb,a\n", encoding="utf-8")
    main(["report", str(_file), "--output", _folder, "-qq"])
