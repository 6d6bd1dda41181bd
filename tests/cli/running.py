"""Run the command in this process, as a shell would."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from evalreport.cli import main
from tests.remembered import computed_once


@dataclass(frozen=True)
class Ran:
    """Exit code and what was printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The object on stdout."""
        body: dict[str, Any] = json.loads(self.out)
        return body


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> Ran:
    """Run `evalreport` with arguments."""
    capsys.readouterr()
    with computed_once(), pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit) as stop:
        patch.setattr("evalreport.cli.parallel._cores", lambda: 1)  # each process imports MLflow: 3 s
        main(arguments)
    out, err = capsys.readouterr()
    return Ran(int(stop.value.code or 0), out, err)
