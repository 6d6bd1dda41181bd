"""What is observed of partitions of the same rows, each in a process of its own, and of all of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from evalreport.engines.partitions import Buckets, BucketWords, KeysAway, PackedWords
from evalreport.engines.several_stream import ClassStream, LabelStream
from evalreport.engines.stream import BinaryStream, ScoreHolder
from evalreport.evaluation.observed import Observed
from evalreport.evaluation.row_facts import Repeats
from evalreport.evaluation.streamed import AnyStream, Watch
from evalreport.evaluation.streamed_mistakes import MixUps
from evalreport.facts import ScoreTable, Summary
from evalreport.facts.keys import narrowed
from evalreport.facts.places import KeptRows, OwnScores, ScorePlaces
from evalreport.labels import LabelSpace
from evalreport.predictions import Threshold

OWN = "own"
"""In the key of the scores that rows have of their own class."""
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
    def places(self) -> ScorePlaces | KeptRows | None:
        """What the rows go by again for."""
        return None if isinstance(self._whole, BinaryStream) else self._whole.places

    def tables(self) -> Iterator[tuple[str, ScoreHolder]]:
        """Yield what holds the scores of each table, with a key of it."""
        for place, stream in self._streams():
            for kind, holder in stream.holders().items():
                yield json.dumps([*place, kind]), holder

    def packed(self, most: int = 0) -> Iterator[tuple[str, PackedWords]]:
        """Give away the scores that are held, once there are more than `most`, with the keys of tables."""
        held = {key: holder for key, holder in self.tables() if isinstance(holder, BucketWords)}
        own = self._whole.own if isinstance(self._whole, ClassStream) else ()
        if sum(map(len, (*held.values(), own))) <= most:
            return
        if isinstance(own, OwnScores):
            for label, scores in enumerate(own.sorted()):
                one = self._buckets.holder()
                one.add(scores, np.ones(len(scores), dtype=np.bool_))
                held[json.dumps([OWN, label])] = one
        for key, holder in held.items():
            yield from ((key, part) for part in holder.packed())

    def row_keys(self) -> Iterator[tuple[int, bytes]]:
        """Give away the keys of rows that are held, bucket by bucket."""
        if isinstance(self._row_facts.keys, KeysAway):
            yield from self._row_facts.keys.packed(len(self._buckets))

    def take_tables(self, tables: Mapping[str, ScoreTable]) -> None:
        """Take over the tables of scores of all partitions, by their keys."""
        for key, holder in self.tables():
            if isinstance(holder, BucketWords):
                holder.whole = tables.get(key)
        if isinstance(self._whole, ClassStream):
            for label in range(len(self.space)):
                own = tables.get(json.dumps([OWN, label]))
                if own is not None:
                    times = np.asarray(own.pos, dtype=np.intp)
                    self._whole.own.take(label, np.repeat(narrowed(np.asarray(own.scores)), times))

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
