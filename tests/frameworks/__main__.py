"""Run the adapters with the real libraries and write what came of it: `python -m tests.frameworks`."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

LIBRARIES = (
    *("xgboost", "lightgbm", "catboost", "polars", "duckdb"),
    *("torch", "transformers", "lightning", "keras", "mlflow"),
    *("pyspark", "pysail", "deltalake"),
)
RESULTS = Path(__file__).with_name("RESULTS.md")


class Outcomes:
    """A pytest plug-in that keeps the outcome of each test."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.rpartition("::")[2].removeprefix("test_")
        if report.when == "call" or report.outcome != "passed":
            self.found[name] = report.outcome


def as_text(found: dict[str, str]) -> str:
    """Return the results as Markdown."""
    known = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    rows = [f"| {name.replace('_', ' ')} | {outcome} |" for name, outcome in found.items()]
    head = ["# Frameworks", "", f"Written by `make test-frameworks`, on Python {platform.python_version()}:"]
    return "\n".join([*head, f"{known}.", "", "| test | outcome |", "|---|---|", *rows, ""])


def main() -> int:
    """Run the tests; with `--write` also write the results."""
    outcomes = Outcomes()
    code = pytest.main(["-q", "-p", "no:cacheprovider", str(Path(__file__).parent)], plugins=[outcomes])
    if "--write" in sys.argv[1:]:
        RESULTS.write_text(as_text(outcomes.found), encoding="utf-8")
    skipped = [name for name, outcome in outcomes.found.items() if outcome != "passed"]
    return int(code) or int(bool(skipped))


if __name__ == "__main__":
    raise SystemExit(main())
