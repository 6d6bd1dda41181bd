"""What each answer costs for each true label, from a file: JSON, or CSV with the labels at its edges."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evalreport.errors import DataError, FileMissingError
from evalreport.thresholds.costs import CostMatrix

MOST = 64 * 1024**2
"""Bytes of a file of costs."""
_FORM = "CSV: first line `truth,LABEL,LABEL,…`, then a line per true label; or JSON {truth: {answer: cost}}"


def read_costs(path: Path, labels: Sequence[str]) -> CostMatrix:
    r"""Return the costs of a file in the order of the labels.

    Parameters
    ----------
    path : Path
        CSV with the answers in its first line and the true label at the start of each other, or JSON: an
        object of objects by label, or a list of rows in the order of the labels.
    labels : sequence of str

    Raises
    ------
    FileMissingError
        No such file.
    DataError
        A label too many or too few, a cell that is no number, or a file that cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "costs.csv"
    ...     _ = file.write_text("truth,b,a\na,5,0\nb,0,1\n")
    ...     read_costs(file, ["a", "b"]).array.tolist()
    [[0.0, 5.0], [1.0, 0.0]]
    """
    if not path.is_file():
        raise FileMissingError(f"no such file: {path}", where="--costs", fix="check the path")
    if path.stat().st_size > MOST:
        raise DataError(f"{path.name} is too large for costs", where="--costs", fix=_FORM)
    try:
        text = path.read_text(encoding="utf-8-sig")
        cells = _json(text) if path.suffix == ".json" else _csv(text)
        if isinstance(cells, list):
            return CostMatrix(cells)
        _check(cells, labels, path)
        return CostMatrix([[float(cells[true][answer]) for answer in labels] for true in labels])
    except (ValueError, TypeError, KeyError, AttributeError, csv.Error, RecursionError) as error:
        raise DataError(
            f"{path.name} holds no costs: {type(error).__name__}: {error}", where="--costs", fix=_FORM
        ) from None


def _json(text: str) -> dict[str, dict[str, Any]] | list[Any]:
    found = json.loads(text)
    if isinstance(found, list):
        return found
    return {str(true): {str(answer): cost for answer, cost in row.items()} for true, row in found.items()}


def _csv(text: str) -> dict[str, dict[str, Any]]:
    head, *rows = [row for row in csv.reader(text.splitlines()) if row]
    names = [name.strip() for name in head[1:]]
    return {row[0].strip(): dict(zip(names, row[1:], strict=True)) for row in rows}


def _check(cells: dict[str, dict[str, Any]], labels: Sequence[str], path: Path) -> None:
    for what, named in (("true label", list(cells)), ("answer", list(next(iter(cells.values()), {})))):
        missing, strange = sorted(set(labels) - set(named)), sorted(set(named) - set(labels))
        if missing or strange:
            which = f"lacks the {what} {missing[0]!r}" if missing else f"has an unknown {what} {strange[0]!r}"
            raise DataError(
                f"{path.name} {which}", where="--costs", fix=f"labels are: {', '.join(labels[:20])}"
            )
