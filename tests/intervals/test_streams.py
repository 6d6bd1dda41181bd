"""Random streams: named, and each used in one place."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import evalreport
from evalreport.intervals.interval_settings import Sampling
from evalreport.statistics.resampling import Stream

SOURCES = [path.read_text(encoding="utf-8") for path in Path(evalreport.__file__).parent.rglob("*.py")]


def test_every_stream_is_used_in_one_place() -> None:
    used = Counter(name for text in SOURCES for name in re.findall(r"\bStream\.([A-Z_]+)", text))
    assert used == dict.fromkeys(Stream.__members__, 1)


def test_no_stream_is_a_bare_number() -> None:
    assert not [
        found for text in SOURCES for found in re.findall(r"\.generator\(\d+|default_rng\(\(.*\d", text)
    ]


def test_streams_of_one_seed_differ_and_repeat() -> None:
    first = {stream: Sampling().generator(stream).random() for stream in Stream}
    assert len(set(first.values())) == len(Stream)
    assert first == {stream: Sampling().generator(stream).random() for stream in Stream}
