"""Evidence about the roles of columns: profiles of columns, and small functions of profiles in one catalogue.

A function returns a weight and a reason. A positive weight supports the hypothesis; the sum over the
catalogue is the weight of the hypothesis. Names are evidence like contents; neither proves a role alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evalreport.columns.label_pairs import Coded, one_spelling, spell, usual_orders
from evalreport.columns.names import Part, are_probabilities, name_weights
from evalreport.columns.nested import indicators_of, label_set_of, list_of, matrix_of
from evalreport.columns.plausible import PROVEN, SOME, area_under
from evalreport.core.errors import DataError
from evalreport.core.result import BY_NAME
from evalreport.data.arrays import EDGE, is_gap, is_number

SAMPLE = 2_000
"""Most rows of a profile."""
MOST_LABELS = 1_000
"""Distinct values from which a column is not compared with others as a column of labels."""
_NESTED = ("[", "(", "{")
_COMMA = re.compile(r"[-+]?\d*,\d+(e[-+]?\d+)?", re.IGNORECASE)
"""A number with a decimal comma."""


@dataclass(frozen=True, eq=False)
class Profile:
    """A column in a sample of rows.

    Parameters
    ----------
    name : str
    values : array of shape (rows,) or (rows, width)
    labels : Coded or None
        Where the values may be labels: texts, whole numbers or truth values.
    numbers : float array of shape (rows,), or None
        Where all values are numbers; a gap is NaN.
    vector : mapping from place or label to float array of shape (rows,), or None
        Where each cell contains several numbers.
    flags : int array of shape (rows, width), or None
        Where each cell is a list of 0 and 1.
    lists : tuple of lists, or None
        Where each cell is a list of labels; an empty list for a gap.
    label_set : frozenset or None
        Where every cell lists the same labels.
    """

    name: str
    values: Array
    labels: Coded | None = None
    numbers: Array | None = None
    vector: Mapping[str, Array] | None = None
    flags: Array | None = None
    lists: tuple[list[Any], ...] | None = None
    label_set: frozenset[Any] | None = None
    weights: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def is_unique(self) -> bool:
        """Whether nearly every row has a unique value, as in ids and texts."""
        return self.labels is not None and len(self.labels.codes) >= 20 and (
            len(self.labels) > 0.5 * len(self.labels.codes)
        )  # fmt: skip

    @cached_property
    def is_constant(self) -> bool:
        """Whether all of some rows have one value."""
        return self.labels is not None and len(self.labels) == 1


def profiles_of(columns: Mapping[str, Array]) -> dict[str, Profile]:
    """Return the profile of each column with one value, list or vector per row, in a sample of the rows."""
    rows = max((len(column) for column in columns.values() if column.ndim), default=0)
    some: Any = slice(None)
    if rows > SAMPLE:
        some = np.sort(np.random.default_rng(rows).choice(rows, SAMPLE, replace=False))
    fit = {name: column for name, column in columns.items() if column.ndim and len(column) == rows}
    return {name: profile_of(name, column[some]) for name, column in fit.items()}


def profile_of(name: str, values: Array) -> Profile:
    """Return what some rows of a column contain.

    Examples
    --------
    >>> profile_of("label", np.array(["a", "b", "a"])).labels.values
    ('a', 'b')
    >>> profile_of("score", np.array([0.5, 0.25])).labels is None
    True
    """
    made = Profile(name, values, weights=name_weights(name))
    if values.ndim == 2:
        return _matrix(made)
    if values.ndim != 1:
        return made
    if values.dtype.kind in "biuf":
        return _numeric(made, values)
    cells = values.tolist()
    first = next((cell for cell in cells if not is_gap(cell)), None)
    if isinstance(first, Mapping | list | tuple | np.ndarray) or (
        isinstance(first, str) and first.lstrip().startswith(_NESTED)
    ):
        return _profile_of_cells(made, cells)
    return _plain(made, cells)


def _matrix(made: Profile) -> Profile:
    values = made.values
    if values.dtype.kind not in "biuf":
        return _profile_of_cells(made, values.tolist())
    if values.shape[1] == 1:
        return _numeric(made, values[:, 0])
    is_flag = bool(((values == 0) | (values == 1)).all()) and values.shape[1] > 1
    vector = {str(place): values[:, place].astype(float) for place in range(values.shape[1])}
    flags = values.astype(np.int64) if is_flag else None
    return replace(made, vector=None if values.dtype.kind == "b" else vector, flags=flags)


def _numeric(made: Profile, values: Array) -> Profile:
    numbers = values.astype(float)
    known = numbers[~np.isnan(numbers)]
    labels = None
    if known.size and np.isfinite(known).all() and (known == np.rint(known)).all():
        kept = values[~np.isnan(numbers)] if values.dtype.kind == "f" else values
        distinct, places = np.unique(kept, return_inverse=True)
        codes = np.full(len(values), -1, dtype=np.intp)
        codes[~np.isnan(numbers)] = places.reshape(-1)
        labels = Coded(tuple(distinct.tolist()), codes)
    return replace(made, labels=labels, numbers=numbers)


def _plain(made: Profile, cells: Sequence[Any]) -> Profile:
    """Texts, objects of several types, and numbers that are written as text."""
    place: dict[Any, int] = {}
    try:
        if set(map(type, cells)) == {str}:
            codes = [place.setdefault(cell, len(place)) for cell in cells]
        else:
            codes = [-1 if is_gap(cell) else place.setdefault(cell, len(place)) for cell in cells]
    except TypeError:
        return made
    found, numbers = list(takewhile(lambda one: one is not None, map(number_of, place))), None
    if found and len(found) == len(place):
        numbers = np.array([*found, np.nan], dtype=float)[codes]
        if any(not float(value or 0).is_integer() for value in found):
            return replace(made, numbers=numbers)
    return replace(made, labels=Coded(tuple(place), np.array(codes, dtype=np.intp)), numbers=numbers)


def number_of(value: Any) -> float | None:
    """Return a cell as a number: also a text with a decimal comma or a per cent sign.

    Examples
    --------
    >>> number_of("0,25"), number_of("25 %"), number_of("a") is None
    (0.25, 0.25, True)
    """
    if is_number(value):
        return float(value) if abs(value) < EDGE else None
    if not isinstance(value, str):
        return None
    bare, factor = value.strip(), 1.0
    if bare.endswith("%"):
        bare, factor = bare[:-1].strip(), 0.01
    elif not _COMMA.fullmatch(bare):
        return None
    try:
        return float(bare.replace(",", ".")) * factor
    except ValueError:
        return None


def _profile_of_cells(made: Profile, cells: Sequence[Any]) -> Profile:
    lists = [[] if is_gap(cell) else list_of(cell) for cell in cells]
    if all(row is not None for row in lists):
        known = label_set_of(np.fromiter(cells, dtype=object, count=len(cells)))
        flags = indicators_of(lists)
        rows = tuple(row for row in lists if row is not None)
        plain = len({*map(len, rows)}) == 1 and all(is_number(item) for row in rows for item in row)
        vector = _vector(made, cells) if flags is not None or plain else None
        return replace(
            made, lists=None if flags is not None else rows, flags=flags, label_set=known, vector=vector
        )
    return replace(made, vector=_vector(made, cells))


def _vector(made: Profile, cells: Sequence[Any]) -> Mapping[str, Array] | None:
    there = np.array([not is_gap(cell) for cell in cells])
    known = np.fromiter((cell for cell in cells if not is_gap(cell)), dtype=object)
    try:
        found = matrix_of(known, made.name)
    except DataError:
        return None
    full = {key: np.full(len(cells), np.nan) for key in found}
    for key, column in found.items():
        full[key][there] = column
    return full


Array = npt.NDArray[Any]
FULL = 40
"""Rows from which the contents have full weight; with fewer the weight is proportional."""


MOST_SPELLED = 200
"""Most labels of which another spelling is searched."""
MOST_RENAMED = 100
"""Most labels for which a one-to-one mapping of two label sets is searched."""


class RoleEvidence(NamedTuple):
    """The weight of an observation, and the sentence that reports it."""

    weight: float
    reason: str = ""
    of_label: bool = False
    """Whether it is about the column of labels, not about the predictions or the scores."""


NONE = RoleEvidence(0.0)


@dataclass(frozen=True, eq=False)
class Pair:
    """A column of labels and a column of predictions; the codes of both refer to the labels of `truth`."""

    truth: Profile
    pred: Profile
    truth_codes: npt.NDArray[np.intp]
    pred_codes: npt.NDArray[np.intp]
    common: float
    """Proportion of the smaller label set that is also in the other."""
    is_spelled: bool
    """Whether the two spell their labels differently."""
    names: tuple[tuple[str, str], ...] = ()
    """The label and the name in the predictions, if they are mapped one-to-one without a common label."""
    renamed: float = 0.0
    """Agreement beyond chance of two label sets that are mapped one-to-one without a common label."""

    @cached_property
    def complete(self) -> npt.NDArray[np.bool_]:
        """Rows with a label and a prediction."""
        return (self.truth_codes >= 0) & (self.pred_codes >= 0)

    @cached_property
    def kappa(self) -> float:
        """Agreement beyond chance."""
        one, other = self.truth_codes, self.pred_codes
        if self.rows < len(one):
            one, other = one[self.complete], other[self.complete]
        if not one.size:
            return 0.0
        size = int(max(one.max(), other.max())) + 1
        ours, theirs = np.bincount(one, minlength=size), np.bincount(other, minlength=size)
        chance = float(ours @ theirs) / one.size**2
        agreement = np.count_nonzero(one == other) / one.size
        return 0.0 if chance == 1 else (agreement - chance) / (1 - chance)

    @property
    def is_renamed(self) -> bool:
        """Whether only the rows say which predicted label is which true one."""
        return self.common == 0 and self.renamed > 0.3

    @cached_property
    def rows(self) -> int:
        """Rows with a label and a prediction."""
        return int(np.count_nonzero(self.complete))


def pair_of(truth: Profile, pred: Profile) -> Pair | None:
    """Return two columns of labels as a pair, in one spelling where there is exactly one."""
    one, other = truth.labels, pred.labels
    if one is None or other is None:
        return None
    place = {text: code for code, text in enumerate(one.texts)}
    moved, is_spelled = list(other.texts), False
    apart = not place.keys() & set(moved) or {*other.values} == {-1, 1}
    if apart and max(len(one), len(other)) <= MOST_SPELLED:
        right, predicted = np.array(one.values), np.array(other.values)
        plain = {right.dtype.kind, predicted.dtype.kind} <= set("biUf")
        matched, note = one_spelling(right, predicted) if plain else (predicted, "")
        if note:
            moved, is_spelled = [spell(value) for value in matched.tolist()], True
    there = set(moved)
    both = len(place.keys() & there)
    for text in moved:
        place.setdefault(text, len(place))
    codes = np.array([*(place[text] for text in moved), -1])
    common = both / max(1, len(there) if len(there) <= len(one) else (len(one) + len(there)) / 2)
    made = Pair(truth, pred, one.codes, codes[other.codes], common, is_spelled)
    if not both or (made.kappa < 0.2 and not is_spelled):
        renamed, order = _correspondence(one, other)
        if renamed > (0.3 if not both else 0.5):
            names = tuple(
                (str(one.values[code]), str(name)) for code, name in zip(order, other.values, strict=True)
            )
            return Pair(
                truth, pred, one.codes, np.array([*order, -1])[other.codes], 0.0, False, names, renamed
            )
    return made


def _correspondence(one: Coded, other: Coded) -> tuple[float, list[int]]:
    """Return the agreement beyond chance if each prediction means the label that most of its rows have."""
    rows = (one.codes >= 0) & (other.codes >= 0)
    size, n = len(one), int(rows.sum())
    if len(other) != size or not 2 <= size <= MOST_RENAMED or n < SOME:
        return 0.0, []
    pairs = np.bincount(other.codes[rows] * size + one.codes[rows], minlength=len(other) * size)
    cells = pairs.reshape(len(other), size)
    best = cells.argmax(axis=1)
    if np.unique(best).size < len(other):
        return 0.0, []
    chance = float((cells.sum(axis=1) / n) @ (cells.sum(axis=0)[best] / n))
    agreed = float(cells.max(axis=1).sum() / n)
    return (0.0 if chance == 1 else (agreed - chance) / (1 - chance)), best.tolist()


def confidence_of(rows: int) -> float:
    """Return the weight of the contents of some rows, from 0 to 1."""
    return min(1.0, rows / FULL)


_CODES = {"0", "1", "-1", "true", "false"}
"""Coded of any yes-or-no column."""


def common_labels(pair: Pair) -> RoleEvidence:
    """Label and prediction have the same labels."""
    if pair.common == 0:
        sure = confidence_of(pair.rows)
        if pair.is_renamed:
            one, other = (side.labels.texts if side.labels else () for side in (pair.truth, pair.pred))
            is_code = pair.renamed > 0.9999 and {*one}.isdisjoint(other)
            return RoleEvidence(
                0.0 if is_code else 1.0,
                f"its labels correspond to those of {pair.truth.name!r}, kappa {pair.renamed:.2f}",
            )
        return RoleEvidence(-1.0 - 7.0 * sure, f"no label in common with {pair.truth.name!r}")
    codes = set() if pair.truth.labels is None else {*pair.truth.labels.texts}
    weight = (2.0 if codes <= _CODES else 4.0) * pair.common - (1.0 if codes <= _CODES else 2.0)
    return RoleEvidence(weight - (0.5 if pair.is_spelled else 0.0), f"the labels of {pair.truth.name!r}")


def agreement(pair: Pair) -> RoleEvidence:
    """Label and prediction agree more often than by chance; in all rows they may be copies."""
    n, kappa = pair.rows, pair.kappa
    if n < 4 or pair.common == 0:
        return NONE
    sure = confidence_of(n)
    if abs(kappa) * np.sqrt(n) < 3 or abs(kappa) < 0.1:
        return RoleEvidence(
            -5.0 * sure * (1 - min(1.0, abs(kappa) * 3)), f"agrees with {pair.truth.name!r} only by chance"
        )
    if kappa > 0.9999:
        return RoleEvidence(
            1.0 * sure - (1.0 if pair.is_spelled else 0.0), f"equal to {pair.truth.name!r} in every row"
        )
    return RoleEvidence(
        sure * (2.0 + 2.5 * abs(kappa) + (0.5 if kappa > 0 else 0.0)),
        f"agrees with {pair.truth.name!r}, kappa {kappa:.2f}",
    )


def name_evidence(weight: float, *, of_label: bool = False) -> RoleEvidence:
    """Return the evidence of a name for a role."""
    return RoleEvidence(weight, BY_NAME if weight else f"{BY_NAME} does not say it", of_label)


def unlikely_values(one: Profile, constant: float, *, of_label: bool = False) -> RoleEvidence:
    """Return the evidence against a column with different values in nearly all rows, or with one value."""
    if one.is_unique:
        return RoleEvidence(-6.0, "its own value in nearly every row", of_label)
    return RoleEvidence(-constant, "one value in all rows", of_label) if one.is_constant else NONE


PAIRS: tuple[Callable[[Pair], RoleEvidence], ...] = (
    lambda pair: name_evidence(pair.truth.weights["label"], of_label=True),
    lambda pair: unlikely_values(pair.truth, 3.0, of_label=True),
    lambda pair: name_evidence(pair.pred.weights["prediction"]),
    common_labels,
    agreement,
    lambda pair: unlikely_values(pair.pred, 1.0),
)
"""Evidence about a label and a prediction: names, labels, agreement, and unlikely values."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores beside a column of labels, and a column of predictions where there is one."""

    part: Part
    columns: Sequence[Array]
    truth: Profile
    pair: Pair | None
    weights: Mapping[str, float]

    @cached_property
    def values(self) -> Array:
        """The scores as a matrix of shape (rows, columns); gaps are NaN."""
        return np.column_stack([np.asarray(column, dtype=float) for column in self.columns])

    @cached_property
    def finite(self) -> npt.NDArray[np.bool_]:
        """Rows with all scores."""
        return np.asarray(np.isfinite(self.values).all(axis=1))

    @cached_property
    def is_whole(self) -> bool:
        """Whether all scores are whole numbers, as labels are."""
        values = self.values[self.finite]
        return bool((values == np.rint(values)).all())

    @property
    def is_one(self) -> bool:
        """Whether there is one column of scores."""
        return bool(self.values.shape[1] == 1)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur, in the spelling of the true labels."""
        known = () if self.truth.labels is None else self.truth.labels.texts
        if self.pair is None or self.pair.pred.labels is None:
            return known
        more = [text for text in self.pair.pred.labels.texts if text not in known]
        return known if self.pair.is_spelled or self.pair.is_renamed else (*known, *more)

    @cached_property
    def is_named(self) -> bool:
        """Whether the columns are named after labels."""
        keys, known = [spell(label) for label in self.part.labels], set(self.labels)
        if keys == [str(place) for place in range(len(keys))] and self.part.pattern.endswith("[*]"):
            return known <= set(keys)
        return len(known & set(keys)) >= 2 or (self.is_one and bool(known & set(keys)))

    def agreement(self, codes: npt.NDArray[np.intp]) -> float:
        """Return how often a row has the greatest score for its label, in the best order of labels."""
        kept = self.finite & (codes >= 0)
        if not kept.any():
            return 0.0
        best, known = self.values[kept].argmax(axis=1), codes[kept]
        orders = [{spell(key): place for place, key in enumerate(self.part.labels)}] if self.is_named else []
        orders = orders or [
            {label: place for place, label in enumerate(order)} for order in usual_orders(self.labels)
        ]
        found = []
        for order in orders:
            place = np.array([*(order.get(label, -1) for label in self.labels), -1])
            found.append(float((place[np.minimum(known, len(self.labels))] == best).mean()))
        return max(found, default=0.0)


def name_of_scores(scored: Scored) -> RoleEvidence:
    """The name indicates that the column contains scores."""
    weight = scored.weights["score"]
    if scored.pair is None and not scored.is_whole:
        weight += max(0.0, scored.weights["prediction"] - 1.0)
    return name_evidence(weight)


def decides(scored: Scored) -> RoleEvidence:
    """The highest score is that of the prediction, which proves which column is the prediction."""
    if scored.is_one:
        return NONE
    width = scored.values.shape[1]
    sure = confidence_of(int(scored.finite.sum()))
    if scored.truth.labels is None:
        return NONE
    of_truth = scored.agreement(scored.truth.labels.codes)
    if scored.pair is None:
        chance = 1 / width
        weight = -3.0 if of_truth >= PROVEN and sure > 0.5 else 3.0 if of_truth > chance + 0.15 else -2.0
        return RoleEvidence(
            weight * sure, f"the true label has the greatest score in {of_truth:.0%} of the rows"
        )
    of_pred = scored.agreement(scored.pair.pred_codes)
    if of_pred >= PROVEN:
        return RoleEvidence(7.0 * sure, "the prediction has the greatest score in all rows")
    if of_truth >= PROVEN:
        return RoleEvidence(-7.0 * sure, "the label has the greatest score in all rows")
    most = np.bincount(scored.pair.pred_codes[scored.pair.complete]).max(initial=0) / max(1, scored.pair.rows)
    beyond = 0.0 if most >= 1 else (of_pred - float(most)) / (1 - float(most))
    weight = max(-3.0, 6.0 * beyond - 3.0) * sure
    return RoleEvidence(weight, f"the prediction has the greatest score in {of_pred:.0%} of the rows")


def separates(scored: Scored) -> RoleEvidence:
    """A threshold separates the predictions by the score, or the score is their confidence."""
    if not scored.is_one or len(scored.labels) > 2 or scored.truth.labels is None:
        return NONE
    values, kept = scored.values[:, 0], scored.finite
    sure = confidence_of(int(kept.sum()))
    of_truth = _area(values, scored.truth.labels.codes, kept)
    if scored.pair is None:
        strong = abs(of_truth[0] - 0.5) > 4 * of_truth[1] or of_truth[1] == 0
        weight = -3.0 if _is_split(of_truth) and sure > 0.5 else 2.0 if strong else -2.0
        return RoleEvidence(weight * sure, "it ranks the labels")
    of_pred = _area(values, scored.pair.pred_codes, kept)
    if _is_split(of_pred):
        return RoleEvidence(6.0 * sure, "a threshold separates the predictions")
    if _is_split(of_truth):
        return RoleEvidence(-6.0 * sure, "a threshold separates the labels")
    if kept.any() and values[kept].min() >= 0.5 and values[kept].max() <= 1:
        return RoleEvidence(3.0 * sure, "never below one half: the confidence of the prediction")
    related = max(abs(area - 0.5) / error if error else 0.0 for area, error in (of_pred, of_truth))
    return RoleEvidence(
        (1.0 if related > 4 else -5.0) * sure,
        "related to the labels" if related > 4 else "not related to the labels",
    )


def _area(values: Array, codes: npt.NDArray[np.intp], kept: npt.NDArray[np.bool_]) -> tuple[float, float]:
    some = kept & (codes >= 0)
    return area_under(values[some], codes[some] == codes[some].max()) if some.any() else (0.5, 0.0)


def _is_split(area: tuple[float, float]) -> bool:
    return area[1] > 0 and abs(area[0] - 0.5) >= 0.4995


def confidence_of_many(scored: Scored) -> RoleEvidence:
    """A single score for three or more labels is the confidence of the prediction, or not a score."""
    if not scored.is_one or len(scored.labels) <= 2:
        return NONE
    return RoleEvidence(0.0 if scored.pair is not None else -4.0, "one score for several labels")


def in_unit_interval(scored: Scored) -> RoleEvidence:
    """Scores are probabilities: from 0 to 1, and the scores of a row sum to 1."""
    values = scored.values[scored.finite]
    if not values.size:
        return RoleEvidence(-5.0, "no finite scores")
    if not scored.is_one:
        sums = are_probabilities(list(values.T))
        return RoleEvidence(2.0 if sums else -1.0, "each row sums to 1" if sums else "rows do not sum to 1")
    inside = values.min() >= -1e-6 and values.max() <= 1 + 1e-6
    weight = 1.0 if inside else -2.0
    if scored.is_whole:
        weight -= 4.0 if len(values) >= SOME or scored.weights["score"] < 3 else 0.0
    return RoleEvidence(weight, "from 0 to 1" if inside else "outside [0, 1]")


def fits_labels(scored: Scored) -> RoleEvidence:
    """There is a column of scores for each label."""
    if scored.is_one:
        return RoleEvidence(2.0, "named after a label") if scored.is_named else NONE
    width, count = scored.values.shape[1], len(scored.labels)
    if scored.is_named:
        return RoleEvidence(3.0, "named after the labels")
    return RoleEvidence(
        1.0 if width == count else -1.5 if width > count else -4.0, f"{width} scores, {count} labels"
    )


SCORES: tuple[Callable[[Scored], RoleEvidence], ...] = (
    name_of_scores,
    decides,
    separates,
    confidence_of_many,
    in_unit_interval,
    fits_labels,
)
"""Evidence about scores next to a label and a prediction."""


def weights_of_part(part: Part) -> dict[str, float]:
    """Return the evidence of the names of score columns, without the labels in them."""
    if part.pattern:
        return name_weights(part.pattern.replace("*", " ").replace("[", " "))
    return name_weights(part.columns[0]) if len(part.columns) == 1 else name_weights("")


def mentions(text: Profile, truth: Profile) -> RoleEvidence:
    """A text mentions exactly one label in most rows, and it is the true label more often than by chance."""
    if text.labels is None or truth.labels is None:
        return NONE
    names = list(enumerate(truth.labels.texts[:50]))
    there = [[code for code, name in names if name and name in one] for one in text.labels.texts]
    of_text = np.array([*(codes[0] if len(codes) == 1 else -1 for codes in there), -1])
    predicted = of_text[text.labels.codes]
    found = predicted >= 0
    right = float((predicted[found] == truth.labels.codes[found]).mean()) if found.any() else 0.0
    sure = confidence_of(len(predicted))
    chance = float(truth.labels.counts.max() / max(1, truth.labels.counts.sum()))
    weight = 3.0 * float(found.mean()) * sure + (2.0 if right > chance + 0.1 else 0.0) * sure
    return RoleEvidence(weight, f"it mentions one label in {found.mean():.0%} of the rows")


def sets_agree(truth: Array, pred: Array) -> RoleEvidence:
    """Indicators of labels and of predictions agree more often than by chance."""
    if truth.shape != pred.shape:
        return RoleEvidence(-8.0, "other numbers of labels")
    one, other = truth.ravel() > 0, pred.ravel() > 0
    chance = float(one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean()))
    kappa = 0.0 if chance == 1 else (float((one == other).mean()) - chance) / (1 - chance)
    sure = confidence_of(len(truth))
    if kappa > 0.9999:
        return RoleEvidence(sure, "the indicators are equal in every row")
    return RoleEvidence(
        sure * (4.0 * kappa if kappa > 0.1 else -3.0), f"the indicators agree, kappa {kappa:.2f}"
    )
