"""Bad input is an error that names its place; the report accounts for every row."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from evalreport.core.errors import DataError
from evalreport.core.json_codec import decode, encode
from evalreport.data.labels import ParsingReport
from evalreport.features.text_labels import parser
from evalreport.features.text_labels.parser import _own_digest, make_parser, parse_all
from tests.features.text_labels.answers import BANK


@pytest.mark.parametrize(
    "labels",
    [
        ("top_up", "Top Up"),
        ("a b", "a_b"),
        ("A", "a"),
        ("a", " a"),
        ("topUp", "top_up"),
        ("top-up", "top_up"),
    ],
)
def test_labels_that_text_cannot_tell_apart_are_named(labels: tuple[str, str]) -> None:
    with pytest.raises(DataError) as caught:
        make_parser("auto", labels)
    assert repr(labels[0]) in caught.value.message
    assert repr(labels[1]) in caught.value.message
    assert make_parser("exact", labels).labels == labels


@pytest.mark.parametrize("label", ["", " ", "\n"])
def test_a_blank_label_is_an_error(label: str) -> None:
    with pytest.raises(DataError, match="blank"):
        make_parser("auto", ["a", label])


@pytest.mark.parametrize("value", [3, 3.5, ["card_arrival"], b"card_arrival", {"a": 1}, True])
def test_a_column_that_holds_no_text_is_an_error_with_its_row(value: object) -> None:
    with pytest.raises(DataError) as caught:
        parse_all(["card_arrival", None, value], make_parser("auto", BANK))
    assert type(value).__name__ in caught.value.message
    assert "row 2" in caught.value.where


def test_a_text_over_the_limit_is_an_error_with_its_row() -> None:
    with pytest.raises(DataError) as caught:
        parse_all(["card_arrival", "x" * 1_048_577], make_parser("auto", BANK))
    assert "row 1" in caught.value.where


def test_missing_texts_are_empty() -> None:
    import pandas as pd

    texts = [None, float("nan"), pd.NA, pd.NaT, np.nan]
    done = parse_all(texts, make_parser("auto", BANK))
    assert done.report.reasons == {"empty": 5}
    frame = pd.Series(["card_arrival", None, "age_limit"])
    assert parse_all(frame, make_parser("auto", BANK)).codes.tolist() == [0, -1, 10]
    assert parse_all([], make_parser("auto", BANK)).report.n == 0


def test_the_report_accounts_for_every_row() -> None:
    texts = [
        "card_arrival",
        "Intent: age_limit",
        "card_arrival or age_limit",
        "",
        "lost_card",
        "x" * 500,
        "\ud800 \x00",
    ]
    done = parse_all(texts * 2, make_parser("auto", BANK))
    report = done.report
    assert (report.n, report.n_unparsed, report.n_ambiguous) == (14, 10, 2)
    assert sum(report.reasons.values()) == report.n_unparsed == int((done.codes == -1).sum())
    assert sum(report.formats.values()) == report.n - report.n_unparsed
    assert report.formats == {"bare": 2, "prefix": 2}
    assert [example.row for example in report.reason_examples["ambiguous"]] == [2, 9]
    for kinds in (report.reason_examples, report.format_examples):
        assert all(len(item.text) <= 140 and len(items) <= 3 for items in kinds.values() for item in items)
    assert decode(ParsingReport, json.loads(json.dumps(encode(report)))) == report
    json.dumps(encode(report), ensure_ascii=False).encode("utf-8")


def test_the_digest_covers_the_modules_that_parsers_import(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the sections of the page, whose sentences change no label."""
    read = set()

    def read_bytes(path: Path) -> bytes:
        read.add(path.name)
        return b""

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    _own_digest.__wrapped__("")
    package = Path(parser.__file__).parent
    imported = {"parser"}
    for name in ("parser", "auto", "parsing_rules", "shape"):
        source = (package / f"{name}.py").read_text(encoding="utf-8")
        for line in re.findall(r"^from evalreport\.features\.text_labels(.*)$", source, flags=re.MULTILINE):
            imported |= {word for word in re.findall(r"\w+", line) if (package / f"{word}.py").is_file()}
    assert read == {f"{name}.py" for name in imported}


def test_reports_of_two_shards_add_up() -> None:
    texts = ["card_arrival", "", "Intent: age_limit", "lost_card", "N/A", "Age limit", "null", "none"]
    parser = make_parser("auto", BANK)
    whole = parse_all(texts, parser).report
    for cut in range(len(texts) + 1):
        assert parse_all(texts[:cut], parser).report + parse_all(texts[cut:], parser).report == whole


def test_arrays_are_typed_and_cannot_be_changed() -> None:
    done = parse_all(["card_arrival", ""], make_parser("auto", BANK))
    assert [str(array.dtype) for array in (done.codes, done.reasons, done.formats)] == [
        "int32",
        "int8",
        "int8",
    ]
    with pytest.raises(ValueError, match="read-only"):
        done.codes[0] = 1
