"""Where numbers come from: the run, the file, the columns, the commit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from; passed in, never read from the clock or the machine by the core.

    All text, shown as it is. Times are UTC, ISO 8601. `label_names` are pairs of a label as it stands in the
    data and what people call it, which is what everything else says.
    """

    run_id: str = ""
    run_name: str = ""
    experiment: str = ""
    dataset: str = ""
    source: str = ""
    sha256: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    parser: str = ""
    model: str = ""
    tracking: str = ""
    made: str = ""
    command: str = ""
    commit: str = ""
    software: tuple[tuple[str, str], ...] = ()
    title: str = ""
    unit: tuple[str, str] = ("case", "cases")
    label_names: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
