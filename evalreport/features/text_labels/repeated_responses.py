"""Several responses to one row, as of a language model that is sampled n times.

Each row counts once and intervals are over rows: responses to one row are not independent, so that intervals
over all responses would be too narrow by up to the root of their number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.core.errors import DataError, UsageError
from evalreport.core.result import Estimate, Result, Undefined
from evalreport.data.arrays import repeated_ids
from evalreport.data.predictions import Categorical, Predictions
from evalreport.data.scores import NoScores
from evalreport.evaluation.parts import AgreementGroup, RepeatedResponses
from evalreport.intervals.distributions import t_quantile
from evalreport.intervals.paired import effective
from evalreport.intervals.proportions import score_limits
from evalreport.intervals.settings import FEWEST, NOT_ASKED, Sampling
from evalreport.statistics.confusion import Array

ABSENT = -2
"""Code of a response that a row does not have; an unparsed one is -1."""
TRIES = (1, 2, 5, 10, 20, 50, 100)
"""Numbers of tries k of which pass@k is reported, if every row has as many responses."""
EDGES = (0.0, 0.5, 0.7, 0.9, 1.0)
"""Limits of the groups by the proportion of the most frequent response; 1 is a group of its own."""


@dataclass(frozen=True, eq=False)
class ResponseSamples:
    """All responses to each row.

    Parameters
    ----------
    truth : int codes of shape (n,)
    codes : int codes of shape (n, most responses)
        In the order given; `ABSENT` behind a row's last one.
    weights : float64 of shape (n,)
    groups : Categorical or None
        Rows that belong together.
    """

    truth: npt.NDArray[np.integer]
    codes: npt.NDArray[np.integer]
    weights: Array
    groups: Categorical | None = None

    @cached_property
    def responses(self) -> npt.NDArray[np.intp]:
        """Responses to each row."""
        return np.asarray((self.codes != ABSENT).sum(axis=1))

    @cached_property
    def pairs(self) -> npt.NDArray[np.bool_]:
        """Which responses to a row are the same, shape (n, most, most); an unparsed one equals none."""
        parsed = self.codes >= 0
        same = self.codes[:, :, None] == self.codes[:, None, :]
        return np.asarray(same & parsed[:, :, None] & parsed[:, None, :])

    def majority(self) -> tuple[npt.NDArray[Any], Array]:
        """Return the most frequent parsed response to each row, the first of several, and its share."""
        votes = self.pairs.sum(axis=2)
        place = votes.argmax(axis=1)
        rows = np.arange(len(place))
        response = np.where(votes[rows, place] > 0, self.codes[rows, place], -1)
        return response, votes[rows, place] / self.responses

    def metrics(self, sampling: Sampling) -> RepeatedResponses:
        """Return the metrics of the responses, with intervals over rows.

        References
        ----------
        Chen et al. 2021, "Evaluating large language models trained on code" (pass@k without bias).

        Examples
        --------
        >>> codes = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 2]])
        >>> found = ResponseSamples(np.array([0, 1, 0]), codes, np.ones(3)).metrics(Sampling())
        >>> round(found.one.value, 3), round(found.majority.value, 3), round(found.agreement.value, 3)
        (0.667, 1.0, 0.444)
        >>> {k: round(result.value, 3) for k, result in found.pass_at.items()}
        {'1': 0.667, '2': 0.889, '3': 1.0}
        """
        n, right = self.responses, (self.codes == self.truth[:, None]).sum(axis=1)
        response, share = self.majority()
        hit = (response == self.truth).astype(np.float64)
        every = np.ones(len(n), dtype=bool)
        fewest, most = int(n.min()), int(n.max())
        same = self.pairs.sum(axis=(1, 2)) - (self.codes >= 0).sum(axis=1)
        agreement = same / np.maximum(n * (n - 1), 1)
        groups = []
        for low, high in (*pairwise(EDGES), (1.0, 1.0)):
            rows = share == 1 if low == high else (share > low) & (share <= high) & (share < 1)
            rows = rows | (share == 0) if low == 0 else rows
            if rows.any():
                groups.append(AgreementGroup(low, high, int(rows.sum()), self._mean(hit, rows, sampling)))
        tries = sorted({k for k in TRIES if k <= fewest} | {fewest})
        return RepeatedResponses(
            rows=len(n),
            answers=int(n.sum()),
            fewest=fewest,
            most=most,
            one=self._mean(right / n, every, sampling),
            majority=self._mean(hit, every, sampling),
            agreement=self._mean(agreement, n > 1, sampling),
            pass_at={str(k): self._mean(_pass_at(n, right, k), every, sampling) for k in tries},
            by_agreement=tuple(groups),
        )

    def _mean(self, values: Array, rows: npt.NDArray[np.bool_], sampling: Sampling) -> Result:
        """The weighted mean of a number of each row, with score limits of its spread over rows or groups."""
        weights = self.weights * rows
        total = float(weights.sum())
        if total <= 0:
            return Undefined("no row has two answers")
        value = float(weights @ values / total)
        n = float(total**2 / (weights @ weights))
        parts = weights * (values - value) / total
        if self.groups is not None:
            parts = np.bincount(self.groups.codes, parts).astype(np.float64)
        parts = parts[rows] if self.groups is None else parts
        if not sampling.intervals or len(parts) < FEWEST:
            return Estimate(value, n, reason="" if sampling.intervals else NOT_ASKED)
        spread = effective(np.asarray(parts, dtype=np.float64))
        ends = score_limits(value, spread.standard_error, n, t_quantile(sampling.upper, max(n - 1, 1)))
        low, high = float(ends[0]), float(ends[1])
        error = spread.standard_error if math.isfinite(spread.standard_error) else None
        return Estimate(value, n, min(low, value), max(high, value), "score, by row", error)


def combine_responses(p: Predictions) -> tuple[Predictions, Callable[[Sampling], RepeatedResponses]]:
    """Return one row for each id, with its most frequent response as prediction, and the metrics of all.

    Parameters
    ----------
    p : Predictions
        A row for each response, with ids that repeat; of one label each.

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
    >>> one, metrics = combine_responses(p)
    >>> one.y_pred, metrics(Sampling()).most
    (array([1, 1], dtype=int32), 3)
    """
    if p.ids is None or p.y_pred is None or p.y_true.ndim == 2:
        what = "ids" if p.ids is None else "answers of one label"
        raise UsageError(
            f"several answers to a row need {what}",
            where="--repeats",
            fix="name what the answers of a row share with --id, and the answers with --pred or --response",
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
    notes += _count_notes(counts)
    samples = ResponseSamples(one.y_true.astype(np.int64), codes, one.weights, one.groups)
    decided = samples.majority()[0].astype(np.int32)
    made = replace(one, y_pred=decided, scores=NoScores(), threshold=None, parsed=None, notes=notes)
    return made, samples.metrics


def _count_notes(answers: npt.NDArray[np.integer]) -> tuple[str, ...]:
    """Return notes on unequal numbers of responses: other rows may have been read as responses."""
    most, fewer = answers.max(), int((answers < answers.max()).sum())
    if most == 1:
        return ("no row has two answers: how far answers agree is not known",)
    noun = "row has" if fewer == 1 else "rows have"
    return (f"{fewer:,} of {len(answers):,} {noun} fewer answers than {most}",) if fewer else ()


def _pass_at(given: npt.NDArray[np.intp], right: npt.NDArray[np.intp], k: int) -> Array:
    """1 - C(n - c, k) / C(n, k) of each row: the chance that one of k of n responses is right, if c are."""
    missed = np.ones(len(given))
    for drawn in range(k):
        missed *= np.maximum(given - right - drawn, 0) / (given - drawn)
    found: Array = 1 - missed
    return found
