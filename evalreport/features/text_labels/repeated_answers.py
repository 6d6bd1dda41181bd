"""Several answers to one row, as of a language model that is sampled n times.

Each row counts once: what its answers say is a number of the row, and intervals are over rows. Answers to one
row are no new rows; intervals over all answers would be too narrow by up to the root of their number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, UsageError
from evalreport.core.json_codec import Share, Whole
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.arrays import repeated_ids
from evalreport.data.predictions import Categorical, Predictions
from evalreport.data.scores import NoScores
from evalreport.intervals.distributions import t_quantile
from evalreport.intervals.paired import effective
from evalreport.intervals.proportions import score_limits
from evalreport.intervals.settings import FEWEST, NOT_ASKED, Sampling
from evalreport.statistics.confusion import Array

ABSENT = -2
"""Code of an answer that a row does not have; one that could not be read is -1."""
TRIES = (1, 2, 5, 10, 20, 50, 100)
"""Numbers of tries k of which pass@k is told, as far as every row has so many answers."""
EDGES = (0.0, 0.5, 0.7, 0.9, 1.0)
"""Limits of the groups by the share of answers that the most frequent one has; 1 is a group of its own."""


@dataclass(frozen=True, eq=False)
class AnswerSamples:
    """All answers to each row.

    Parameters
    ----------
    truth : int codes of shape (n,)
    codes : int codes of shape (n, most answers)
        In the order given; `ABSENT` behind a row's last one.
    weights : float64 of shape (n,)
    groups : Categorical or None
        Rows that belong together.
    """

    truth: npt.NDArray[np.integer]
    codes: npt.NDArray[np.integer]
    weights: Array
    groups: Categorical | None = None

    @property
    def given(self) -> npt.NDArray[np.intp]:
        """Answers of each row."""
        return np.asarray((self.codes != ABSENT).sum(axis=1))

    @property
    def right(self) -> npt.NDArray[np.intp]:
        """Right answers of each row."""
        return np.asarray((self.codes == self.truth[:, None]).sum(axis=1))

    @property
    def pairs(self) -> npt.NDArray[np.bool_]:
        """Which answers of a row are the same, shape (n, answers, answers); an unread one is like none."""
        read = self.codes >= 0
        same = self.codes[:, :, None] == self.codes[:, None, :]
        return np.asarray(same & read[:, :, None] & read[:, None, :])


@dataclass(frozen=True)
class AgreementGroup:
    """Rows whose most frequent answer has a share in ``(low, high]`` of theirs, and how often it is right."""

    low: Share
    high: Share
    rows: Whole
    accuracy: Result


@dataclass(frozen=True)
class RepeatedAnswers:
    """What several answers to each row say.

    Parameters
    ----------
    rows, answers : int
    fewest, most : int
        Answers to a row.
    one : Estimate or Undefined
        Accuracy of one answer drawn from those of a row.
    majority : Estimate or Undefined
        Accuracy of the most frequent answer; of several as frequent the one that was given first.
    agreement : Estimate or Undefined
        Chance that two answers to a row are the same.
    pass_at : mapping from k to Estimate
        Chance that one of k answers is right, without bias.
    by_agreement : tuple of AgreementGroup
        Whether the most frequent answer is right where the answers agree.
    """

    rows: Whole
    answers: Whole
    fewest: Whole
    most: Whole
    one: Result
    majority: Result
    agreement: Result
    pass_at: Mapping[str, Result]
    by_agreement: tuple[AgreementGroup, ...]


def collapsed(p: Predictions) -> tuple[Predictions, AnswerSamples]:
    """Return one row for each id, decided by its most frequent answer, and all answers.

    Parameters
    ----------
    p : Predictions
        A row for each answer, with ids that repeat; of one label each.

    Raises
    ------
    UsageError
        No ids, no answers, or several labels per row.
    DataError
        Rows of one id differ in their truth.

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Multiclass("abc"), list("aaab"), list("abbb"), ids=[1, 1, 1, 2])
    >>> one, all_answers = collapsed(p)
    >>> one.y_pred, all_answers.codes
    (array([1, 1], dtype=int32), array([[ 0,  1,  1],
           [ 1, -2, -2]]))
    """
    if p.ids is None or p.y_pred is None or p.y_true.ndim == 2:
        what = "ids" if p.ids is None else "answers of one label"
        raise UsageError(
            f"several answers to a row need {what}",
            where="--answers",
            fix="name what the answers of a row share with --id, and the answers with --pred or --text",
        )
    _, first, place = np.unique(p.ids, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # rows in the order in which they come
    row, first = rank[place], np.sort(first)
    differs = np.flatnonzero(p.y_true != p.y_true[first][row])
    if differs.size:
        raise DataError(
            f"the truth differs between answers to one row, in {differs.size:,} answers",
            where=f"first: id {str(p.ids[differs[0]])!r}",
            fix="name an --id that is of one question alone",
        )
    order = np.argsort(row, kind="stable")
    counts = np.bincount(row)
    codes = np.full((len(first), counts.max()), ABSENT)
    within = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    codes[row[order], within] = np.asarray(p.y_pred)[order]
    one = p.take(first)
    again = repeated_ids(p.ids)
    notes = tuple(note for note in p.notes if again is None or not note.startswith(again.shown))
    notes += _unequal(counts)
    samples = AnswerSamples(one.y_true.astype(np.int64), codes, one.weights, one.groups)
    decided = _most_frequent(samples)[0].astype(np.int32)
    made = replace(one, y_pred=decided, scores=NoScores(), threshold=None, parsed=None, notes=notes)
    return made, samples


def _unequal(answers: npt.NDArray[np.integer]) -> tuple[str, ...]:
    """What is to be said of the numbers of answers: samples of other rows are easily taken for answers."""
    most, fewer = answers.max(), int((answers < answers.max()).sum())
    if most == 1:
        return ("no row has two answers: how far answers agree is not known",)
    noun = "row has" if fewer == 1 else "rows have"
    return (f"{fewer:,} of {len(answers):,} {noun} fewer answers than {most}",) if fewer else ()


def _most_frequent(samples: AnswerSamples) -> tuple[npt.NDArray[Any], Array]:
    """The most frequent readable answer of each row, the first of several, and its share of the answers."""
    votes = samples.pairs.sum(axis=2)
    place = votes.argmax(axis=1)
    rows = np.arange(len(place))
    answer = np.where(votes[rows, place] > 0, samples.codes[rows, place], -1)
    return answer, votes[rows, place] / samples.given


def repeated_answers(samples: AnswerSamples, sampling: Sampling) -> RepeatedAnswers:
    """Return what several answers to each row say, with intervals over rows.

    Parameters
    ----------
    samples : AnswerSamples
    sampling : Sampling

    References
    ----------
    Chen et al. 2021, "Evaluating large language models trained on code" (pass@k without bias).

    Examples
    --------
    >>> codes = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 2]])
    >>> found = repeated_answers(AnswerSamples(np.array([0, 1, 0]), codes, np.ones(3)), Sampling())
    >>> round(found.one.value, 3), round(found.majority.value, 3), round(found.agreement.value, 3)
    (0.667, 1.0, 0.444)
    >>> {k: round(result.value, 3) for k, result in found.pass_at.items()}
    {'1': 0.667, '2': 0.889, '3': 1.0}
    """
    given, right = samples.given, samples.right
    answer, share = _most_frequent(samples)
    hit = (answer == samples.truth).astype(np.float64)
    every = np.ones(len(given), dtype=bool)
    fewest, most = int(given.min()), int(given.max())
    several = given > 1
    same = samples.pairs.sum(axis=(1, 2)) - (samples.codes >= 0).sum(axis=1)
    alike = same / np.maximum(given * (given - 1), 1)
    tries = sorted({k for k in TRIES if k <= fewest} | {fewest})
    return RepeatedAnswers(
        rows=len(given),
        answers=int(given.sum()),
        fewest=fewest,
        most=most,
        one=_mean(samples, right / given, every, sampling),
        majority=_mean(samples, hit, every, sampling),
        agreement=_mean(samples, alike, several, sampling),
        pass_at={str(k): _mean(samples, _passed(given, right, k), every, sampling) for k in tries},
        by_agreement=_by_agreement(samples, hit, share, sampling),
    )


def _passed(given: npt.NDArray[np.intp], right: npt.NDArray[np.intp], k: int) -> Array:
    """1 - C(n - c, k) / C(n, k) of each row: the chance that k of n answers hold one of c right ones."""
    missed = np.ones(len(given))
    for drawn in range(k):
        missed *= np.maximum(given - right - drawn, 0) / (given - drawn)
    found: Array = 1 - missed
    return found


def _by_agreement(
    samples: AnswerSamples, hit: Array, share: Array, sampling: Sampling
) -> tuple[AgreementGroup, ...]:
    limits = [*pairwise(EDGES), (1.0, 1.0)]
    found = []
    for low, high in limits:
        rows = share == 1 if low == high else (share > low) & (share <= high) & (share < 1)
        rows = rows | (share == 0) if low == 0 else rows
        if rows.any():
            found.append(AgreementGroup(low, high, int(rows.sum()), _mean(samples, hit, rows, sampling)))
    return tuple(found)


def _mean(samples: AnswerSamples, values: Array, rows: npt.NDArray[np.bool_], sampling: Sampling) -> Result:
    """The weighted mean of a number of each row, with score limits of its spread over rows or groups."""
    weights = samples.weights * rows
    total = float(weights.sum())
    if total <= 0:
        return Undefined("no row has two answers")
    value = float(weights @ values / total)
    n = float(total**2 / (weights @ weights))
    parts = weights * (values - value) / total
    if samples.groups is not None:
        parts = np.bincount(samples.groups.codes, parts).astype(np.float64)
    parts = parts[rows] if samples.groups is None else parts
    if not sampling.intervals or len(parts) < FEWEST:
        return Estimate(value, n, reason="" if sampling.intervals else NOT_ASKED)
    spread = effective(np.asarray(parts, dtype=np.float64))
    ends = score_limits(value, spread.standard_error, n, t_quantile(sampling.upper, max(n - 1, 1)))
    low, high = float(ends[0]), float(ends[1])
    error = spread.standard_error if math.isfinite(spread.standard_error) else None
    return Estimate(value, n, min(low, value), max(high, value), "score, by row", error)
