"""Findings about confusions: pairs and families of confused classes, and biased class frequencies.

Also the order of the confusion matrix that puts confused classes next to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.data.labels import Binary
from evalreport.evaluation.evaluation import Evaluation
from evalreport.findings.chance import SURE, by_order, deviation, informative, margins, poisson_tail
from evalreport.findings.rule import CLASSES, FindingDraft, rule
from evalreport.statistics.confusion import Counts

PIECES = 40
"""Minimum number of blocks for very many classes; there are up to twice as many."""
LARGEST = 9
"""Maximum number of classes in a family."""
FAMILIES_SHOWN = 6
"""Number of families shown: those with the most mistakes inside."""
APART = 0.97
"""Average distance above which two groups are not similar: under 3% of either is predicted as the other."""
FAMILIES_FEWEST = 3
"""Minimum number of mistakes inside a family; fewer are attributed to chance."""
BEST_ORDER = 300
"""Maximum number of classes for optimal leaf ordering (its cost is cubic)."""


@dataclass(frozen=True)
class Family:
    """Neighbouring classes that are confused with each other.

    Parameters
    ----------
    members : tuple of int
        Codes, in the order of the matrix.
    start : int
        Position of the first member in that order.
    mistakes : float
        Weight of the rows of one member that are predicted as another member.
    """

    members: tuple[int, ...]
    start: int
    mistakes: float


@dataclass(frozen=True)
class Kinship:
    """An order of all classes, and families within it."""

    order: tuple[int, ...]
    families: tuple[Family, ...]
    blocks: tuple[tuple[int, ...], ...] = ()
    """The order cut between the least confused classes: about forty to eighty blocks."""

    @property
    def mistakes(self) -> float:
        """Weight of mistakes inside any family."""
        return sum(family.mistakes for family in self.families)


def kinship(counts: Counts) -> Kinship:
    """Return the classes clustered by their confusions, with the families of similar classes.

    Average linkage on 1 - (R + Rᵀ), where R is the confusion matrix normalized over the true class; optimal
    leaf ordering (Bar-Joseph et al. 2001).

    Examples
    --------
    >>> truth = np.repeat([0, 1, 2, 3], 20)
    >>> pred = truth.copy()
    >>> pred[:8], pred[40:48] = 2, 0
    >>> kinship(Counts.from_codes(truth, pred, 4)).families
    (Family(members=(0, 2), start=..., mistakes=16.0),)
    """
    size = counts.size
    if size < 3:
        return Kinship(tuple(range(size)), ())
    tree = _tree(counts)
    order = _members(tree, size)[-1]
    found = sorted(_families(tree, order, counts), key=lambda f: (-f.mistakes, f.start))
    return Kinship(tuple(order), tuple(found[:FAMILIES_SHOWN]), tuple(_blocks(tree, size)))


def _blocks(tree: npt.NDArray[np.float64], size: int) -> Iterator[tuple[int, ...]]:
    """The largest branches below the size limit; small neighbours are merged up to the limit."""
    most = max(LARGEST, -(-size // PIECES))
    under, left, block = _members(tree, size), [2 * size - 2], list[int]()
    while left:
        node = left.pop()
        if len(under[node]) > most:
            left += tree[node - size, 1::-1].astype(int).tolist()
        elif len(block) + len(under[node]) > most:
            yield tuple(block)
            block = list(under[node])
        else:
            block += under[node]
    yield tuple(block)


def _tree(counts: Counts) -> npt.NDArray[np.float64]:
    """Linkage matrix of SciPy: children, height, size of each merge."""
    from scipy.cluster.hierarchy import linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    matrix = counts.dense()[:, : counts.size]
    support = counts.marginals.support
    share = matrix / np.where(support > 0, support, 1)[:, None]
    distance = (1 - (share + share.T)).clip(0, 1)
    np.fill_diagonal(distance, 0)
    flat = squareform(distance, checks=False)
    tree = linkage(flat, "average")
    best: npt.NDArray[np.float64] = optimal_leaf_ordering(tree, flat) if counts.size <= BEST_ORDER else tree
    return best


def _members(tree: npt.NDArray[np.float64], size: int) -> list[list[int]]:
    """Leaves under every node, left to right."""
    under: list[list[int]] = [[leaf] for leaf in range(size)]
    for left, right in tree[:, :2].astype(int).tolist():
        under.append(under[left] + under[right])
    return under


def _families(tree: npt.NDArray[np.float64], order: list[int], counts: Counts) -> Iterator[Family]:
    """The largest groups of similar classes within the size limit of a family."""
    size = counts.size
    under = _members(tree, size)
    place = {code: at for at, code in enumerate(order)}
    dense = counts.dense()
    fits = [
        node >= size and len(under[node]) <= LARGEST and tree[node - size, 2] <= APART
        for node in range(len(under))
    ]
    inner = {
        child for node, ok in enumerate(fits) if ok for child in tree[node - size, :2].astype(int).tolist()
    }
    for node, ok in enumerate(fits):
        if not ok or node in inner:
            continue
        members = under[node]
        block = dense[np.ix_(members, members)]
        inside = float(block.sum() - np.trace(block))
        if inside >= FAMILIES_FEWEST:
            yield Family(tuple(members), place[members[0]], inside)


PART = 0.25
"""Minimum proportion of a class that is predicted as one other class, for a notable confusion."""
FEWEST = 5
"""Minimum number of rows of a notable confusion."""
RARE = 0.001
"""p-value, corrected for the number of pairs, below which a confusion is significant."""
BACK = 0.5
"""Minimum ratio of the two directions for a confusion in both directions. A quarter of the other class
suffices, too, however few rows that is."""
SHOWN = 2
"""Number of confusions, and of families, that a claim spells out."""
MANY = 0.25
"""Minimum proportion of all mistakes that are inside families."""
ABOVE_DUE = 2.0
"""Minimum ratio of the mistakes inside a family to those expected: clustering finds some by chance."""
MUTUAL = 0.2
"""Minimum proportion of the mistakes inside a family that are not predictions of its most predicted member."""
DRIFT = 0.05
"""Minimum proportion of the predictions that would have to change for the class frequencies to match."""


@dataclass(frozen=True)
class NotableConfusion:
    """Rows of one class that are predicted as another, and the rows in the other direction."""

    truth: int
    answer: int
    weight: float
    back: float
    both_ways: bool


@rule(
    section="confusions",
    action="Read a few examples of each pair: the definitions may overlap, or true labels may be wrong.",
)
def top_confusions(ev: Evaluation) -> FindingDraft | None:
    """The most frequent confusions, in one or both directions."""
    found = (
        notable_confusions(ev.confusion, informative(ev))
        if ev.confusion is not None and ev.task == "multiclass"
        else []
    )
    if by_order(ev) is not None:  # a neighbouring grade is a near miss
        found = [pair for pair in found if abs(pair.truth - pair.answer) > 1]
    if not found or ev.confusion is None:
        return None
    known = margins(ev)
    pairs = [
        {
            "truth": known[pair.truth].label,
            "predicted": known[pair.answer].label,
            "weight": pair.weight,
            "support": known[pair.truth].support,
            "back": pair.back,
            "back_support": known[pair.answer].support,
        }
        for pair in found
    ]
    total = sum(pair.weight + (pair.back if pair.both_ways else 0) for pair in found)
    wrong = _mistakes(ev.confusion)
    rest = ". {n:count} such confusions account for {share:whole} of all mistakes." if len(found) > 1 else "."
    return FindingDraft(
        "; ".join(_pair(place, pair) for place, pair in enumerate(found[:SHOWN])) + rest,
        {"pairs": pairs, "n": len(found), "weight": total, "mistakes": wrong, "share": total / wrong},
    )


def _pair(place: int, pair: NotableConfusion) -> str:
    at = f"pairs[{place}]"
    if pair.both_ways:
        return f"{{{at}[truth]:label}} and {{{at}[predicted]:label}} are confused in both directions ({{{at}[weight]:count}} of {{{at}[support]:count}} and {{{at}[back]:count}} of {{{at}[back_support]:count}})"
    back = f"{{{at}[back]:count}} the other way round" if pair.back else "none the other way round"
    return f"{{{at}[weight]:count}} of {{{at}[support]:count}} {{{at}[truth]:label}} are misclassified as {{{at}[predicted]:label}}, {back}"


def notable_confusions(counts: Counts, scale: float = 1.0) -> list[NotableConfusion]:
    """Return the cells with a quarter of a class, five rows or more, and significantly more than expected.

    The expected number is the class's mistakes spread evenly over the other classes; the test is corrected
    for the number of pairs. The two directions of a pair are one confusion.

    Parameters
    ----------
    counts : Counts
    scale : float
        Independent rows per unit of weight.
    """
    support, right = counts.marginals.support, counts.marginals.tp
    cells = zip(counts.rows.tolist(), counts.columns.tolist(), counts.weight.tolist(), strict=True)
    weight = {(row, column): w for row, column, w in cells if row != column < counts.size}
    due = (support - right) / max(1, counts.size - 1)
    pairs = counts.size * (counts.size - 1)
    known: set[tuple[int, int]] = set()
    found: list[NotableConfusion] = []
    for (row, column), w in sorted(weight.items(), key=lambda cell: (-cell[1], cell[0])):
        much = w >= PART * support[row] and w * scale >= FEWEST
        if (
            much
            and (column, row) not in known
            and pairs * poisson_tail(int(w * scale), due[row] * scale) < RARE
        ):
            known.add((row, column))
            back = weight.get((column, row), 0.0)
            both = back >= BACK * w or (back >= PART * support[column] and back * scale >= FEWEST)
            found.append(NotableConfusion(row, column, w, back, both))
    return found


@rule(
    section="confusions",
    action="Merge classes that need not be distinguished; otherwise sharpen the definitions or add examples that differ.",
)
def families(ev: Evaluation) -> FindingDraft | None:
    """Groups of classes with more confusions among them than expected by chance."""
    counts = ev.confusion
    if counts is None or ev.task != "multiclass" or not _mistakes(counts) or by_order(ev) is not None:
        return None
    found = [family for family in kinship(counts).families if _is_family(ev, counts, family)]
    inside, wrong = sum(family.mistakes for family in found), _mistakes(counts)
    if inside < MANY * wrong or not any(len(family.members) > 2 for family in found):
        return None
    groups = "; or ".join(f"{{families[{place}][labels]:few}}" for place in range(min(SHOWN, len(found))))
    among = (
        f"among {groups}"
        if len(found) == 1
        else f"within {{n:count}} groups of similar classes, such as {groups}"
    )
    return FindingDraft(
        f"{{inside:count}} of {{mistakes:count}} mistakes ({{share:whole}}) are confusions {among}.",
        {
            "families": [
                {"labels": [ev.space.names[code] for code in family.members], "mistakes": family.mistakes}
                for family in found
            ],
            "n": len(found),
            "inside": inside,
            "mistakes": wrong,
            "share": inside / wrong,
        },
    )


def _is_family(ev: Evaluation, counts: Counts, family: Family) -> bool:
    """Whether there are more mistakes inside a family than expected, and not only predictions of one member."""
    members = list(family.members)
    dense = counts.dense()[:, : counts.size]
    np.fill_diagonal(dense, 0)
    missed, attracted = dense.sum(axis=1), dense.sum(axis=0)
    # where all mistakes are predictions of one member, none remain for others
    others = np.maximum(attracted.sum() - attracted[members], 1e-12)
    shares = attracted[members].sum() - attracted[members]
    due = float((missed[members] * shares / others).sum())
    block = dense[np.ix_(members, members)]
    mutual = family.mistakes - float(block.sum(axis=0).max())
    sure = deviation(ev, family.mistakes - due, max(due, 1 / informative(ev))) > SURE
    return sure and family.mistakes > ABOVE_DUE * due and mutual >= MUTUAL * family.mistakes


def _mistakes(counts: Counts) -> float:
    return counts.total - float(counts.marginals.tp.sum())


@rule(
    "note",
    section={**CLASSES, "multiclass": "confusions"},
    action="Class frequencies estimated from predictions will be biased by this much.",
)
def class_shares(ev: Evaluation) -> FindingDraft | None:
    """The frequencies of predicted classes differ from those of the true labels, significantly and noticeably."""
    if ev.confusion is None:
        return None
    known, n = margins(ev), ev.confusion.total
    moved = sum(abs(margin.excess) for margin in known) / 2 / n
    most = max(known, key=lambda margin: margin.excess)
    least = min(known, key=lambda margin: margin.excess)
    if moved < DRIFT or max(abs(deviation(ev, m.excess, m.discordant)) for m in (most, least)) < SURE:
        return None
    binary = isinstance(ev.space, Binary)
    shown = known[1] if binary else most
    claim = (
        "{label:label} is predicted {predicted:count} {predicted:time|times} in {n:weight} and is the true label {support:count} {support:time|times}."
        if binary
        else "Class frequencies are off: {label:label} is predicted {predicted:count} {predicted:time|times} for {support:examples}, {least:label} {least_predicted:count} {least_predicted:time|times} for {least_support:count}; {moved:whole} of the predictions would have to change to match."
    )
    return FindingDraft(
        claim,
        {
            "label": shown.label,
            "predicted": shown.predicted,
            "support": shown.support,
            "least": least.label,
            "least_predicted": least.predicted,
            "least_support": least.support,
            "moved": moved,
            "n": n,
        },
    )
