"""What the states of a trial are called on a page."""

from __future__ import annotations

from collections.abc import Mapping

from evalreport.study import State

STATES: Mapping[State, str] = {
    "complete": "complete",
    "pruned": "pruned",
    "failed": "failed",
    "running": "still running",
    "waiting": "waiting",
}
