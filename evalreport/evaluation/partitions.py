"""What is observed of partitions of the same rows, each in a process of its own, and of all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from evalreport.engines.class_ranges import ClassCells
from evalreport.engines.partitions import Buckets, BucketWords, KeysAway, PackedWords
from evalreport.engines.several_stream import ClassStream, LabelStream
from evalreport.engines.stream import BinaryStream, ScoreHolder
from evalreport.errors import DataError
from evalreport.evaluation.observed import Observed
from evalreport.evaluation.row_facts import Repeats
from evalreport.evaluation.streamed import AnyStream, Watch
from evalreport.evaluation.streamed_mistakes import MixUps
from evalreport.facts import ClassScores, ScoreTable, Summary
from evalreport.facts.places import KeptRows
from evalreport.labels import LabelSpace, Multilabel
from evalreport.predictions import Threshold

CELLS = "cells"
"""In place of the key of a table: scores of several classes, each with the class of its row."""
APART = 40
"""Bits of the number of a row in its partition: above them stands the number of the partition."""


class PartitionWatch(Watch):
    """Everything that is observed of one partition; or of several, once it has taken what was of each.

    Parameters
    ----------
    space : LabelSpace
    buckets : Buckets
    answered : bool
    number : int
        Of the partition.
    at : Threshold, optional
        As of `Watch`.

    Examples
    --------
    >>> from evalreport.engines.partitions import Buckets
    >>> from evalreport.labels import Binary
    >>> from evalreport.predictions import predictions
    >>> whole = PartitionWatch(Binary(0, 1), Buckets(), answered=True)
    >>> for number in (1, 0):
    ...     part = PartitionWatch(whole.space, Buckets(), answered=True, number=number)
    ...     part.add(predictions(whole.space, [0, 1, 0], [0, 0, 0]), None)
    ...     whole.take(part.state())
    >>> whole.take_facts("[]", part.facts()["[]"])
    >>> whole.count_through()
    >>> [mistake.row for mistake in whole.observed().mistakes]
    [1, 4]
    """

    def __init__(
        self,
        space: LabelSpace,
        buckets: Buckets,
        *,
        answered: bool,
        number: int = 0,
        at: Threshold | None = None,
    ) -> None:
        super().__init__(space, buckets, answered=answered, first=number << APART, at=at)
        self._number, self._buckets = number, buckets
        self._sizes: dict[int, int] = {}
        self.read = 0
        """Rows that were read, those included that are not counted."""

    @property
    def partitions(self) -> int:
        """How many were taken."""
        return len(self._sizes)

    @property
    def starts(self) -> dict[int, tuple[int, int]]:
        """The first row of each partition, and that behind its last, in the order of their numbers."""
        numbers = sorted(self._sizes)
        ends = [0, *accumulate(self._sizes[number] for number in numbers)]
        return dict(zip(numbers, pairwise(ends), strict=True))

    @property
    def kept(self) -> KeptRows | None:
        """What keeps some of the rows that go by again."""
        places = None if isinstance(self._whole, BinaryStream) else self._whole.places
        return None if places is None else places.kept

    def tables(self) -> Iterator[tuple[str, ScoreHolder]]:
        """Yield what holds the scores of each table, with a key of it."""
        for place, stream in self._streams():
            for kind, holder in stream.holders().items():
                yield json.dumps([*place, kind]), holder

    def packed(self, most: int = 0) -> Iterator[tuple[str, PackedWords]]:
        """Give away the scores that are held, once there are more than `most`, with the keys of tables."""
        held = {key: holder for key, holder in self.tables() if isinstance(holder, BucketWords)}
        cells = self._cells
        if sum(map(len, held.values())) + len(cells) <= most:
            return
        for key, holder in held.items():
            yield from ((key, part) for part in holder.packed())
        yield from ((CELLS, PackedWords(bucket, True, 0, data, b"")) for bucket, data in cells.packed())

    def row_keys(self) -> Iterator[tuple[int, bytes]]:
        """Give away the keys of rows that are held, bucket by bucket."""
        if isinstance(self._row_facts.keys, KeysAway):
            yield from self._row_facts.keys.packed(len(self._buckets))

    def take_tables(self, tables: Mapping[str, ScoreTable], placed: Callable[[], Iterable[bytes]]) -> None:
        """Take over the scores of all partitions: tables by their keys, ranges of placed cells from above."""
        for key, holder in self.tables():
            if isinstance(holder, BucketWords):
                holder.whole = tables.get(key)
        self._cells.take(placed)

    @property
    def _cells(self) -> ClassCells:
        """What holds scores of several classes; of others, nothing."""
        held = self._whole.ranked if isinstance(self._whole, ClassStream) else None
        return held if isinstance(held, ClassCells) else ClassCells(0, ())

    def take_rows(self, parts: Mapping[int, tuple[int, ClassScores]]) -> None:
        """Take over the rows that partitions have kept, each with how many rows it held then.

        Raises
        ------
        DataError
            They are not those of the first time.
        """
        kept = self.kept
        if kept is None:
            return
        if len(kept.wanted) and {number: rows for number, (rows, _) in parts.items()} != {
            number: stop - start for number, (start, stop) in self.starts.items() if stop > start
        }:
            raise DataError(
                "its partitions held other rows when they were read again",
                fix="cache the frame, or write it to a table first",
            )
        empty = np.empty((0, len(self.space)))
        none = ClassScores(empty, empty if isinstance(self.space, Multilabel) else empty[:, 0], None)
        kept.take_parts(self.rows, [part for _, (_, part) in sorted(parts.items())] or [none])

    def take_repeats(self, repeats: Repeats) -> None:
        """Add how often rows occur that all partitions have."""
        self._row_facts.repeats += repeats

    def facts(self) -> dict[str, Summary]:
        """Return what was counted of the whole and of each slice, but for the scores."""
        return {json.dumps(place): stream.counted for place, stream in self._streams() if stream.rows}

    def take_facts(self, key: str, counted: Summary) -> None:
        """Take over what was counted of the whole or of a slice in all partitions."""
        place = json.loads(key)
        stream = self._part(*place) if place else self._whole
        stream.take(counted)

    def state(self) -> str:
        """Return the rest: what is neither scores nor facts."""
        return json.dumps(
            {
                "sizes": list(self._sizes.items()) or [(self._number, self.rows)],
                "support": None if isinstance(self._whole, BinaryStream) else self._whole.support.tolist(),
                "scored": not isinstance(self._shown, MixUps),
                "shown": self._shown.state(),
                "ids": self._ids,
                "lost": self._lost,
                "clipped": self._clipped,
                "read": self.read,
                "row_facts": self._row_facts.state(),
                "always": self._whole.always if isinstance(self._whole, LabelStream) else 0,
            }
        )

    def take(self, state: str) -> None:
        """Add the rest of other partitions."""
        found: dict[str, Any] = json.loads(state)
        self._sizes |= dict(found["sizes"])
        if not isinstance(self._whole, BinaryStream):
            self._whole.support += found["support"]
        if found["scored"] and isinstance(self._shown, MixUps):
            self._shown = self._rows_shown(scored=True)
        self._shown.take(found["shown"], int)
        self._ids |= found["ids"]
        self._lost += found["lost"]
        self._clipped += found["clipped"]
        self.read += found["read"]
        self._row_facts.take(found["row_facts"])
        if isinstance(self._whole, LabelStream):
            self._whole.always += found["always"]

    def count_through(self) -> None:
        """Number the rows of all partitions through, in the order of these."""
        starts, state = self.starts, self._shown.state()
        self._shown = self._rows_shown(scored=not isinstance(self._shown, MixUps))
        self._shown.take(state, lambda row: starts[row >> APART][0] + row % (1 << APART))

    def observed(self, threshold: Threshold | None = None, notes: Iterable[str] = ()) -> Observed:
        """Return what was observed; rows of partitions stand in no order, and have no digest."""
        return replace(super().observed(threshold, notes), truth_digest="")

    def _streams(self) -> Iterator[tuple[list[str], AnyStream]]:
        yield [], self._whole
        for name, column in self._parts.items():
            yield from (([name, value], part) for value, part in column.items())
