"""Columns that stand in the names of folders, as Spark and Hive write them: `country=de/part-0.parquet`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from glob import has_magic
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from evalreport.features.large.batches import Batch, Opened
from evalreport.readers.arrow_types import Array
from evalreport.readers.csv import Kind

GAP = "__HIVE_DEFAULT_PARTITION__"
"""How a value that is missing is written."""


def folder_values(file: Path, path: str) -> dict[str, str]:
    """Return what the folders of a file say, below the folder or the pattern that it was found by.

    Examples
    --------
    >>> folder_values(Path("rows/country=de/day=3/part-0.parquet"), "rows")
    {'country': 'de', 'day': '3'}
    >>> folder_values(Path("rows/country=de/part-0.parquet"), "rows/country=de/*")
    {}
    """
    given = Path(path).parts
    known = next((place for place, part in enumerate(given) if has_magic(part)), len(given))
    pairs = (part.partition("=") for part in file.parts[known:-1])
    return {unquote(name): unquote(value) for name, equals, value in pairs if name and equals}


def with_columns(opened: Sequence[Opened], values: Sequence[Mapping[str, str]]) -> list[Opened]:
    """Return files with the columns that their folders name beside their own; those of a file come first.

    Values that are whole numbers in every folder are numbers.

    Examples
    --------
    >>> rows = Opened(("score",), {}, 2, lambda _: iter([{"score": np.array([0.5, 0.25])}]))
    >>> (both,) = with_columns([rows], [{"day": "3"}])
    >>> [batch["day"].tolist() for batch in both.batches(["day"])]
    [[3, 3]]
    """
    every = {name for one in values for name in one}
    whole = {name for name in every if all(_is_whole(one[name]) for one in values if name in one)}
    return [_with(one, held, whole) for one, held in zip(opened, values, strict=True)]


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and str(int(text)) == text and abs(int(text)) < 1 << 62


def _with(one: Opened, held: Mapping[str, str], whole: Collection[str]) -> Opened:
    added = {name: text for name, text in held.items() if name not in one.names}
    if not added:
        return one

    def own(wanted: Collection[str]) -> list[str]:
        found = [name for name in one.names if name in wanted]
        return found or [one.names[0]]  # which tells how many rows there are

    def batches(wanted: Collection[str]) -> Iterator[Batch]:
        for batch in one.batches(own(wanted)):
            size = len(next(iter(batch.values()), ()))
            new = {name: _column(text, size, name in whole) for name, text in added.items() if name in wanted}
            yield {name: values for name, values in batch.items() if name in wanted} | new

    def settle(wanted: Collection[str]) -> dict[str, Kind]:
        return {} if one.settle is None else one.settle(own(wanted))

    kinds = {name: "int64" if name in whole else "string" for name in added}
    names = (*one.names, *added)
    settled = None if one.settle is None else settle
    return replace(one, names=names, kinds={**one.kinds, **kinds}, batches=batches, settle=settled)


def _column(text: str, size: int, whole: bool) -> Array:
    if whole:
        return np.full(size, int(text), dtype=np.int64)
    return np.full(size, None if text == GAP else text, dtype=object)
