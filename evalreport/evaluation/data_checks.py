"""Counts over rows that findings need and no metric holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.data.labels import UNPARSED, Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions
from evalreport.data.scores import Decisions, NoScores, Probabilities, highest
from evalreport.statistics.calibration_fits import recalibrate
from evalreport.statistics.confusion import Array, sums
from evalreport.statistics.resampling import unit_sums
from evalreport.statistics.score_table import ScoreTable
from evalreport.statistics.stored_columns import PIECE

BLOCK = 1 << 16
"""Scores that are mixed at a time: half a megabyte of words, which a second-level cache holds."""
HALF = 0.5
"""The least score that the more likely one of two labels can have."""
KEYS = 20
"""Different rows from which on a common divisor of their frequencies is not by chance (probability 2⁻²⁰)."""
TRIPLES = 2.33
"""Standard deviations of the number of triples by which they must be missing: one sample in 100 by chance."""
NEAR = 100
"""Rows of neighbouring scores whose rate of positives tells how often equal scores should differ in truth."""
AGREED = 4.0
"""Standard deviations by which scores of both truths must be missing, and half of those expected."""
CLIPS = (1e-6, 1e-2)
"""Where the logit of a probability of 0 may be clipped: as `calibration_slope` does, and more carefully."""
MANY_SCORES = 1 << 16
"""Distinct scores above which no slope is fitted for another clip."""
MEANT = 0.01
"""Share of the rows, decided otherwise than by any threshold, from which on that is no slip."""


def row_facts(p: Predictions, table: ScoreTable | None = None) -> dict[str, float]:
    """Return what is counted row by row; of two labels, a table of scores against the truth tells some of it.

    ``constant_scores``: 1 when all scores are equal. ``hard_scores``: 1 when probabilities are zeros and
    ones alone. ``off_scores``: decisions that do not follow from the scores, by the highest score of a row
    or by the threshold that explains most of them (one for each label); ``near_threshold``: that threshold
    of a binary problem; ``own_scores``: rows predicted negative, where all scores are of the answer that was
    given and none of the positive label (at least one half, also where the answer is the negative one).
    ``effective_n``: with weights or groups, the independent rows of equal weight that would know as much;
    ``groups``, ``effective_weights``, ``largest_weight``: how many groups the rows are in, how many equal
    weights know as much, and the part of the largest in their sum; of binary problems also for the rows of
    each class (``groups_0``, ``groups_1``, …);
    ``design_effect``: with groups, how many times the variance of the share of right answers (without
    decisions, of the prevalence) is that of independent rows.
    ``certain_scores``, ``ruled_out``: probabilities of exactly 0 or 1, and those of a true label that are 0
    (`certain`).
    ``absent_labels``: labels without an example, where averages over classes leave some out.
    ``duplicate_texts``: rows whose text stood there before; ``conflicting_texts``: rows
    that share their text with a row of another truth; ``repeated_rows``: without texts, rows whose truth and
    scores another row has, where rows that only share their inputs would not repeat like this (`Repeats`).

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> scores = Probabilities([0.1, 0.3, 0.4, 0.9])
    >>> row_facts(predictions(Binary(0, 1), [0, 1, 1, 1], [0, 1, 1, 1], scores))
    {'constant_scores': 0.0, 'hard_scores': 0.0, 'off_scores': 0.0, 'near_threshold': 0.3}
    """
    facts = _effective(p) | _absent(p)
    if not isinstance(p.scores, NoScores):
        if p.texts is not None:
            repeats = {}
        elif not isinstance(p.space, Binary):
            repeats = Repeats.from_counts(
                [np.unique(row_keys(p, p.scores.values), return_counts=True)[1]]
            ).facts()
        elif table is None or p.weighted:
            repeats = _table_repeats(ScoreTable.from_scores(p.scores.values, p.y_true.astype(np.bool_)))
        else:
            repeats = _table_repeats(table)
        facts |= (
            ScoreShape.from_predictions(p).facts(repeats) | _certain(p, p.scores, table) | _rule(p, p.scores)
        )
    if p.texts is not None:
        facts |= _texts(p)
    return facts


def _effective(p: Predictions) -> dict[str, float]:
    """Effective number of rows, and the design effect of groups (Kish 1965, Survey Sampling, 8.2, 11.7)."""
    if not p.weighted and p.groups is None:
        return {}
    kish = float(p.weights.sum() ** 2 / np.square(p.weights).sum())
    facts = _effective_sizes(p, np.ones(len(p), dtype=np.bool_), "")
    if isinstance(p.space, Binary):
        for code in (0, 1):
            facts |= _effective_sizes(p, p.y_true == code, f"_{code}")
    if p.groups is None:
        return {"effective_n": kish, **facts}
    share = (p.y_true if p.y_pred is None else p.y_true == p.y_pred).astype(np.float64)
    share = share.mean(axis=1) if share.ndim == 2 else share
    moved = p.weights * (share - p.weights @ share / p.weights.sum())
    size = len(p.groups.values)
    number = int(np.count_nonzero(unit_sums(p.groups.codes, p.weights, size)))
    alone = float(np.square(moved).sum()) * kish / max(kish - 1, 1.0)
    together = float(np.square(unit_sums(p.groups.codes, moved, size)).sum()) * number / max(number - 1, 1)
    # Where all rows are alike, or of one group, nothing tells how alike: rows count as their groups.
    effect = max(1.0, together / alone) if alone > 0 and number > 1 else kish / number
    return {"effective_n": kish / effect, "design_effect": effect, **facts}


def _effective_sizes(p: Predictions, which: npt.NDArray[np.bool_], name: str) -> dict[str, float]:
    """Of some rows the number of groups, the effective number of weights, and the part of the largest."""
    weights = p.weights[which]
    facts = {} if p.groups is None else {f"groups{name}": float(len(np.unique(p.groups.codes[which])))}
    if p.weighted and weights.sum() > 0:
        facts[f"effective_weights{name}"] = float(weights.sum() ** 2 / np.square(weights).sum())
        facts[f"largest_weight{name}"] = float(weights.max() / weights.sum())
    return facts


def _absent(p: Predictions) -> dict[str, float]:
    if isinstance(p.space, Binary):
        return {}
    if isinstance(p.space, Multilabel):
        carried: Array = p.weights @ p.y_true
    else:
        carried = sums(p.y_true, p.weights, len(p.space))
    return absent_labels(carried)


def absent_labels(support: Array) -> dict[str, float]:
    """Return how many labels have no example, where any have none.

    Examples
    --------
    >>> absent_labels(np.array([3.0, 0.0]))
    {'absent_labels': 1.0}
    """
    absent = int(np.count_nonzero(support == 0))
    return {"absent_labels": float(absent)} if absent else {}


@dataclass(frozen=True)
class ScoreShape:
    """What is seen of scores row by row; that of parts of the rows adds up.

    Parameters
    ----------
    cells : int
        How many scores there are.
    first : float
    constant, hard : bool
        Whether all are equal, and whether they are probabilities of 0 and 1 alone.
    off, ruled_out : float
        Several classes: answers that are not those of the highest score, None without answers; true labels
        with the probability 0.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> rows = [predictions(Multiclass("ab"), ["a"], scores=Probabilities([row])) for row in ([1, 0], [0, 1])]
    >>> (ScoreShape.from_predictions(rows[0]) + ScoreShape.from_predictions(rows[1])).facts({})
    {'constant_scores': 0.0, 'hard_scores': 1.0, 'ruled_out': 1.0, 'off_scores': 0.0}
    """

    cells: int = 0
    first: float = 0.0
    constant: bool = True
    hard: bool = True
    off: float | None = None
    ruled_out: float = 0.0

    @classmethod
    def from_predictions(cls, p: Predictions) -> ScoreShape:
        """Look at the scores of rows."""
        if isinstance(p.scores, NoScores) or not p.scores.values.size:
            return cls()
        values, likely = p.scores.values, isinstance(p.scores, Probabilities)
        first, several = values.flat[0], isinstance(p.space, Multiclass)
        own = values[np.arange(len(p)), p.y_true] if several and likely else values[:0]
        return cls(
            values.size,
            first.item(),
            _all(values, lambda part: part == first),
            likely and _all(values, lambda part: part % 1 == 0),
            unlike_scores(p) if several and p.y_pred is not None else None,
            float(np.count_nonzero(own == 0)),
        )

    def __add__(self, other: ScoreShape) -> ScoreShape:
        if not (self.cells and other.cells):
            return self if self.cells else other
        off = [part.off for part in (self, other) if part.off is not None]
        return ScoreShape(
            self.cells + other.cells,
            self.first,
            self.constant and other.constant and self.first == other.first,
            self.hard and other.hard,
            sum(off) if off else None,
            self.ruled_out + other.ruled_out,
        )

    def facts(self, repeats: dict[str, float]) -> dict[str, float]:
        """Return the facts, with those of repeated rows."""
        if not self.cells:
            return {}
        constant = self.constant and self.cells > 1
        facts = {
            "constant_scores": float(constant),
            "hard_scores": float(self.hard and not constant),
            **repeats,
        }
        facts |= {"ruled_out": self.ruled_out} if self.ruled_out else {}
        return facts if self.off is None else {**facts, "off_scores": self.off}


def _table_repeats(table: ScoreTable) -> dict[str, float]:
    """Rows beyond the first of each truth and score, of a table of rows that weigh 1."""
    pieces = [slice(start, start + PIECE) for start in range(0, len(table), PIECE)]
    found = Repeats.from_counts(part[piece] for piece in pieces for part in (table.pos, table.neg))
    if found.rows == found.kinds:
        return {}
    due, mixed = (
        sum(counts) for counts in zip(*(_mixed_scores(table, piece) for piece in pieces), strict=True)
    )
    labels_agree = mixed < due / 2 and due - mixed > AGREED * math.sqrt(due)
    return found.facts(labels_agree=labels_agree)


def _mixed_scores(table: ScoreTable, piece: slice) -> tuple[float, int]:
    """Of scores that several rows have, how many should have both truths by the rates near them, and have.

    Independent rows that share their inputs share a score, but not always the truth; copies do.
    """
    pos, neg = (np.asarray(part[piece], dtype=np.float64) for part in (table.pos, table.neg))
    rows = pos + neg
    block = ((np.cumsum(rows) - rows) // NEAR).astype(np.int64)
    shared = np.unique(block, return_inverse=True)[1]
    rate = (np.bincount(shared, pos) / np.bincount(shared, rows))[shared]
    several = rows > 1
    rate, rows = rate[several], rows[several]
    both = pos[several] * neg[several] > 0
    return float((1 - rate**rows - (1 - rate) ** rows).sum()), int(np.count_nonzero(both))


@dataclass(frozen=True)
class Repeats:
    """How often kinds of rows occur: kinds have the same truth and the same scores.

    Equal rows need not be copies. Categorical inputs have few combinations, a forest has few scores, and
    rounding makes scores meet. But rows drawn independently, from whatever distribution over kinds, leave a
    trace: the numbers of kinds that occur once, twice and three times satisfy 2 f2² <= 3 f1 f3 on average
    (the moments of a Poisson mixture are log-convex: Good 1953, Biometrika 40:237; Cauchy-Schwarz). Many
    pairs and hardly a triple are copies. So are samples in which each kind occurs a multiple of the same
    number of times, which chance gives to one kind in two and to a sample of `KEYS` never.

    Parameters
    ----------
    rows, kinds, once, twice, thrice : int
        Rows, different ones, and those of these that occur once, twice and three times.
    common : int
        The greatest number that divides how often each occurs.

    Examples
    --------
    >>> (Repeats.from_counts([np.ones(30)]) + Repeats.from_counts([np.full(2, 2)])).facts()
    {}
    >>> (Repeats.from_counts([np.ones(300)]) + Repeats.from_counts([np.full(100, 2)])).facts()
    {'repeated_rows': 100.0}
    """

    rows: int = 0
    kinds: int = 0
    once: int = 0
    twice: int = 0
    thrice: int = 0
    common: int = 0

    @classmethod
    def from_counts(cls, parts: Iterable[npt.NDArray[Any]]) -> Repeats:
        """Count kinds by how often each of them occurs, some of them 0 times."""
        found = cls()
        for part in parts:
            rows, kinds = int(part.sum()), int(np.count_nonzero(part))
            if rows == kinds:
                found += cls(rows, kinds, kinds, common=min(kinds, 1))
                continue
            once, twice, thrice = (int(np.count_nonzero(part == times)) for times in (1, 2, 3))
            common = 1 if once else int(np.gcd.reduce(part.astype(np.int64)))  # 5 ns a number
            found += cls(rows, kinds, once, twice, thrice, common)
        return found

    def __add__(self, other: Repeats) -> Repeats:
        return Repeats(
            self.rows + other.rows,
            self.kinds + other.kinds,
            self.once + other.once,
            self.twice + other.twice,
            self.thrice + other.thrice,
            math.gcd(self.common, other.common),
        )

    @property
    def has_copied_rows(self) -> bool:
        """Whether rows repeat as independent rows do not."""
        if self.kinds >= KEYS and self.common > 1:
            return True
        pairs = max(self.twice - 2 * math.sqrt(self.twice), 0.0)  # a low end of how many are expected
        triples = 2 * pairs**2 / (3 * max(self.once, 1))
        return triples - self.thrice > TRIPLES * math.sqrt(triples)

    def facts(self, *, labels_agree: bool = False) -> dict[str, float]:
        """Return the rows beyond the first of each kind, where these may be copies; none otherwise.

        `labels_agree`: their labels agree more than those of independent rows would.
        """
        again = self.rows - self.kinds
        return {"repeated_rows": float(again)} if again and (labels_agree or self.has_copied_rows) else {}


def table_facts(table: ScoreTable, decided: ScoreTable | None, *, probabilities: bool) -> dict[str, float]:
    """Return what `row_facts` says of the rows of a binary problem that two tables tell.

    Parameters
    ----------
    table : ScoreTable
        Scores against the truth.
    decided : ScoreTable or None
        Scores against the answers, where these were given and do not follow from a threshold.
    probabilities : bool

    Examples
    --------
    >>> table = ScoreTable.from_scores(np.array([0.1, 0.3, 0.4, 0.9]), np.array([False, True, True, True]))
    >>> table_facts(table, table, probabilities=True)
    {'constant_scores': 0.0, 'hard_scores': 0.0, 'off_scores': 0.0, 'near_threshold': 0.3}
    """
    constant = len(table) == 1 and table.total > 1
    hard = probabilities and not constant and len(table) <= 2 and bool((table.scores % 1 == 0).all())
    facts = {"constant_scores": float(constant), "hard_scores": float(hard)}
    facts |= _table_repeats(table) | (certain(table) if probabilities else {})
    if decided is None:
        return facts
    off, threshold = nearest_rule(decided)
    near = {} if math.isinf(threshold) else {"near_threshold": threshold}
    return {**facts, "off_scores": off, **near}


def _certain(p: Predictions, scores: Probabilities | Decisions, table: ScoreTable | None) -> dict[str, float]:
    """What `certain` says of two classes."""
    if not isinstance(p.space, Binary) or not isinstance(scores, Probabilities):
        return {}
    plain = table if table is not None and not p.weighted else None
    return certain(plain or ScoreTable.from_scores(scores.values, p.y_true.astype(np.bool_)), table)


def certain(table: ScoreTable, weighted: ScoreTable | None = None) -> dict[str, float]:
    """Return how many probabilities are exactly 0 or 1, how many of these are wrong, and slopes by clip.

    The logarithm of 0 is infinite, so that log loss and calibration slope depend on where it is clipped.

    Parameters
    ----------
    table : ScoreTable
        Rows, each of which counts once.
    weighted : ScoreTable, optional
        The same with weights, which the slope has.

    Examples
    --------
    >>> table = ScoreTable(np.array([0.0, 0.5, 1.0]), np.array([1.0, 2, 9]), np.array([9.0, 2, 1]))
    >>> {name: round(value, 2) for name, value in certain(table).items()}
    {'certain_scores': 20.0, 'ruled_out': 2.0, 'slope_at_1e-6': 0.16, 'slope_at_1e-2': 0.48}
    """
    ends = [(place, at) for place, at in ((0, 0.0), (len(table) - 1, 1.0)) if table.scores[place] == at]
    if not ends:
        return {}
    rows = sum(float(table.pos[place] + table.neg[place]) for place, _ in ends)
    wrong = sum(float((table.neg if at else table.pos)[place]) for place, at in ends)
    slopes, fitted = dict[str, float](), weighted or table
    for clip in CLIPS if len(table) <= MANY_SCORES else ():
        _, slope = recalibrate(np.clip(fitted.scores, clip, 1 - clip), fitted.pos, fitted.neg)
        slopes |= {} if math.isnan(slope) else {f"slope_at_{clip:.0e}".replace("e-0", "e-"): slope}
    return {"certain_scores": rows, "ruled_out": wrong, **slopes}


def row_keys(p: Predictions, values: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return a number for each row of truth and scores: equal for equal rows, else by rare accident.

    A sum of bits times odd factors drawn once (multiply-shift hashing, Dietzfelbinger et al. 1997): a million
    rows of a thousand scores are never sorted.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> p = predictions(Binary(0, 1), [0, 1, 1], scores=Probabilities([0.5, 0.5, 0.5]))
    >>> (row_keys(p, p.scores.values)[1:] == row_keys(p, p.scores.values)[:-1]).tolist()
    [False, True]
    """
    scores, truth = values.reshape(len(p), -1), p.y_true.reshape(len(p), -1)
    rng, kind = np.random.default_rng(0), scores.dtype
    if scores.shape[1] * kind.itemsize % 8:
        kind = np.dtype(np.float64)
    words = scores.shape[1] * kind.itemsize // 8  # two scores of single precision are one
    ours, theirs = (rng.integers(0, 2**63, width, dtype=np.uint64) for width in (words, truth.shape[1]))
    keys = np.zeros(len(p), dtype=np.uint64)
    step = max(1, BLOCK // max(scores.shape[1], 1))
    for start in range(0, len(p), step):  # a block of rows stays in cache; its columns would not
        rows = slice(start, start + step)
        bits = (scores[rows].astype(kind, copy=False) + kind.type(0)).view(np.uint64)  # -0.0 is 0.0
        keys[rows] = _hash_rows(bits, ours) + _hash_rows(truth[rows].astype(np.uint64), theirs)
    return keys


def _hash_rows(bits: npt.NDArray[np.uint64], factors: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """One number for each row of words."""
    mixed = (bits ^ (bits >> np.uint64(29))) * (np.uint64(2) * factors + np.uint64(1))
    mixed ^= mixed >> np.uint64(32)
    keys: npt.NDArray[np.uint64] = mixed.sum(axis=1, dtype=np.uint64)
    return keys


def unlike_scores(p: Predictions) -> float:
    """Return how many answers to rows of several classes are not those of the highest score.

    Examples
    --------
    >>> from evalreport.data.predictions import predictions
    >>> unlike_scores(predictions(Multiclass("ab"), ["a"], ["b"], Probabilities([[0.9, 0.1]])))
    1.0
    """
    if isinstance(p.scores, NoScores) or p.y_pred is None:
        return 0.0
    values, rows = p.scores.values, np.flatnonzero(p.y_pred != UNPARSED)
    own, best = values[rows, p.y_pred[rows]], values[rows, highest(values)[rows]]
    return float(np.count_nonzero(own < best))


def _all(values: npt.NDArray[Any], holds: Callable[[npt.NDArray[Any]], npt.NDArray[np.bool_]]) -> bool:
    """Whether something holds of every score; usually the first thousand rows tell that it does not."""
    return bool(holds(values[:1000]).all()) and bool(holds(values).all())


def _rule(p: Predictions, scores: Probabilities | Decisions) -> dict[str, float]:
    if p.y_pred is None or p.threshold is not None:
        return {}
    values, decided = scores.values, p.y_pred
    match p.space:
        case Binary():
            rows = np.flatnonzero(decided != UNPARSED)
            off, threshold = nearest_rule(ScoreTable.from_scores(values[rows], decided[rows].astype(bool)))
            near = {} if math.isinf(threshold) else {"near_threshold": threshold}
            return {"off_scores": off, **near, **_own(p, scores, off)}
        case Multilabel():
            given = decided.astype(bool)
            columns = np.flatnonzero(_overlap(values, given))
            tables = (
                ScoreTable.from_scores(np.ascontiguousarray(values[:, k]), given[:, k]) for k in columns
            )
            return {"off_scores": sum((nearest_rule(table)[0] for table in tables), 0.0)}
        case _:
            return {}


def _own(p: Predictions, scores: Probabilities | Decisions, off: float) -> dict[str, float]:
    """Scores that are confidences: no threshold tells the answers apart, and none is below one half."""
    is_probability = isinstance(scores, Probabilities)
    if not is_probability or off < MEANT * len(p) or not _all(scores.values, lambda part: part >= HALF):
        return {}
    return {"own_scores": float(np.count_nonzero(p.y_pred == 0))}


def _overlap(values: npt.NDArray[Any], decided: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether a label is given at some score and withheld at a score as high, column by column."""
    least = np.where(decided, values, np.inf).min(axis=0)
    overlap: npt.NDArray[np.bool_] = least <= np.where(decided, -np.inf, values).max(axis=0)
    return overlap


def nearest_rule(table: ScoreTable) -> tuple[float, float]:
    """Fewest decisions that a threshold leaves unexplained, and that threshold (infinite: none is given)."""
    least, place = math.inf, 0
    for b in table.blocks():
        off = table.fp[b] + table.positives - table.tp[b]
        if off.min() < least:
            least, place = float(off.min()), b.start + int(off.argmin())
    if least >= table.positives:
        return float(table.positives), math.inf
    return least, float(table.scores[place])


def _texts(p: Predictions) -> dict[str, float]:
    texts = p.texts or ()
    times = Counter(texts)
    truths = [tuple(row) for row in p.y_true] if p.y_true.ndim == 2 else p.y_true.tolist()
    kinds = Counter(text for text, _ in set(zip(texts, truths, strict=True)))
    conflicting = sum(times[text] for text, n in kinds.items() if n > 1)
    return {"duplicate_texts": float(len(texts) - len(times)), "conflicting_texts": float(conflicting)}
