"""Several answers to one row, against slow second workings."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from evalreport.core.errors import DataError, UsageError
from evalreport.core.result import Estimate
from evalreport.data.labels import Multiclass
from evalreport.data.predictions import predictions
from evalreport.evaluation.parts import RepeatedResponses
from evalreport.features.text_labels.reporting import ResponseSamples, combine_responses
from evalreport.intervals.interval_settings import Sampling
from tests.cli.running import run

Capture = pytest.CaptureFixture[str]
LABELS = ("a", "b", "c")
RNG = np.random.default_rng(6)


def drawn(n: int = 60, answers: int = 5) -> tuple[list[str], list[list[str]]]:
    """Truth and answers; one row in three is hard, and some rows have an answer less."""
    truth, given = [], []
    for row in range(n):
        right = LABELS[int(RNG.integers(3))]
        chance = 0.4 if row % 3 == 0 else 0.9
        count = answers - (row % 4 == 0)
        truth.append(right)
        given.append([right if RNG.random() < chance else LABELS[int(RNG.integers(3))] for _ in range(count)])
    return truth, given


TRUTH, GIVEN = drawn()


def found_of(truth: list[str], given: list[list[str]]) -> RepeatedResponses:
    rows = [(k, truth[k], answer) for k, answers in enumerate(given) for answer in answers]
    ids, y_true, y_pred = zip(*rows, strict=True)
    p = predictions(Multiclass(LABELS), y_true, y_pred, ids=ids)
    return combine_responses(p)[1](Sampling())


def value(result: object) -> float:
    assert isinstance(result, Estimate)
    return result.value


def test_every_number_is_what_counting_says() -> None:
    found = found_of(TRUTH, GIVEN)
    pairs = list(zip(TRUTH, GIVEN, strict=True))
    shares = [np.mean([answer == t for answer in given]) for t, given in pairs]
    assert value(found.one) == pytest.approx(np.mean(shares))
    first = [Counter(given).most_common(1)[0][0] for _, given in pairs]  # of equals the first that was given
    hits = [answer == t for answer, t in zip(first, TRUTH, strict=True)]
    assert value(found.majority) == pytest.approx(np.mean(hits))
    same = [np.mean([a == b for a, b in combinations(given, 2)]) for _, given in pairs]
    assert value(found.agreement) == pytest.approx(np.mean(same))
    for k, result in found.pass_at.items():
        tries = [np.mean([t in some for some in combinations(given, int(k))]) for t, given in pairs]
        assert value(result) == pytest.approx(np.mean(tries))
    assert list(found.pass_at) == ["1", "2", "4"]
    assert [name for name, _, _ in found.results()] == [
        "one response",
        "majority",
        "pass@2",
        "pass@4",
        "agreement",
    ]
    assert (found.rows, found.responses, found.fewest, found.most) == (60, 285, 4, 5)
    sure = [t == a for (t, given), a in zip(pairs, first, strict=True) if len(set(given)) == 1]
    assert found.by_agreement[-1].rows == len(sure)
    assert value(found.by_agreement[-1].accuracy) == pytest.approx(np.mean(sure))
    assert sum(group.rows for group in found.by_agreement) == 60


def test_intervals_are_over_rows_so_that_answers_given_again_add_nothing() -> None:
    once, again = found_of(TRUTH, GIVEN), found_of(TRUTH, [given * 4 for given in GIVEN])
    assert isinstance(once.one, Estimate)
    assert isinstance(again.one, Estimate)
    assert (again.one.low, again.one.high) == pytest.approx((once.one.low, once.one.high))
    shares = [np.mean([g == t for g in given]) for t, given in zip(TRUTH, GIVEN, strict=True)]
    assert once.one.standard_error == pytest.approx(stats.sem(shares))
    assert once.one.width == pytest.approx(2 * stats.t.ppf(0.975, 59) * stats.sem(shares), rel=0.1)


def test_the_interval_holds_the_chance_that_it_is_of() -> None:
    rng, held = np.random.default_rng(2), 0
    for _ in range(400):
        chance = rng.beta(2, 1, 80)
        codes = np.where(rng.random((80, 4)) < chance[:, None], 0, 1)
        one = ResponseSamples(np.zeros(80, int), codes, np.ones(80)).metrics(Sampling()).one
        assert isinstance(one, Estimate)
        assert one.low is not None
        assert one.high is not None
        held += one.low <= 2 / 3 <= one.high
    assert 0.93 <= held / 400 <= 0.975


def test_unread_answers_agree_with_none_and_never_win() -> None:
    codes = np.array([[-1, -1, 0], [-1, -1, -1]])
    found = ResponseSamples(np.array([0, 0]), codes, np.ones(2)).metrics(Sampling())
    assert value(found.majority) == 0.5
    assert value(found.agreement) == 0


def test_what_does_not_belong_together_is_refused() -> None:
    with pytest.raises(UsageError, match="need ids"):
        combine_responses(predictions(Multiclass(LABELS), ["a", "b"], ["a", "b"]))
    with pytest.raises(DataError, match="true labels of one row differ"):
        combine_responses(predictions(Multiclass(LABELS), ["a", "b"], ["a", "b"], ids=[1, 1]))


def test_lists_and_repeated_ids_say_the_same_on_page_terminal_and_json(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [(k, TRUTH[k], answer) for k, answers in enumerate(GIVEN) for answer in answers]
    pd.DataFrame(rows, columns=["id", "y_true", "y_pred"]).to_csv("long.csv", index=False)
    lists = [{"y_true": t, "y_pred": given} for t, given in zip(TRUTH, GIVEN, strict=True)]
    Path("lists.jsonl").write_text("\n".join(map(json.dumps, lists)), encoding="utf-8")
    bodies = []
    for file in ("long.csv", "lists.jsonl"):
        done = run(capsys, "report", file, "--repeats", "--json", "-o", "page.html")
        assert done.code == 0, done.err
        bodies.append(done.json["runs"][0])
    assert bodies[0]["repeated_responses"] == bodies[1]["repeated_responses"]
    assert bodies[0]["n"] == 60
    assert bodies[0]["metrics"]["accuracy"]["value"] == pytest.approx(
        bodies[0]["repeated_responses"]["majority"]["value"]
    )
    assert "Repeated responses" in Path("page.html").read_text(encoding="utf-8")
    whole = [given for given in GIVEN if len(given) == 5]
    truth = [t for t, given in zip(TRUTH, GIVEN, strict=True) if len(given) == 5]
    for k in range(5):
        one = {"id": range(len(whole)), "y_true": truth, "y_pred": [given[k] for given in whole]}
        pd.DataFrame(one).to_csv(f"answer-{k}.csv", index=False)
    files = [f"answer-{k}.csv" for k in range(5)]
    done = run(capsys, "report", "--folds", *files, "--repeats", "--json", "-o", "page.html")
    assert done.code == 0, done.err
    assert (done.json["runs"][0]["repeated_responses"]["responses"], done.json["runs"][0]["folds"]) == (
        225,
        None,
    )
    reported = run(capsys, "report", "long.csv", "--repeats", "-o", "page.html")
    assert "pass@4" in reported.err
