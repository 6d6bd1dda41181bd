"""Classes that are taken for one another: an order that puts them side by side, and the families."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evalreport.facts import Counts

PIECES = 40
"""Blocks into which very many classes are cut, or up to twice as many."""
LARGEST = 9
"""Classes that a family has at most."""
SHOWN = 6
"""Families that are shown: those with most mistakes inside."""
APART = 0.97
"""Average distance above which two groups are not look-alikes: under 3% of either goes to the other."""
FEWEST = 3
"""Mistakes inside a family, below which it is chance."""
BEST_ORDER = 300
"""Classes up to which the leaves of the tree are put in their best order (its cost grows with the cube)."""


@dataclass(frozen=True)
class Family:
    """Classes that stand side by side and are taken for one another.

    Parameters
    ----------
    members : tuple of int
        Codes, in the order of the matrix.
    start : int
        Place of the first member in that order.
    mistakes : float
        Weight of answers that name another member.
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
    """The whole order cut where classes have least to do with each other: some forty to eighty pieces."""

    @property
    def mistakes(self) -> float:
        """Weight of mistakes inside any family."""
        return sum(family.mistakes for family in self.families)


def kinship(counts: Counts) -> Kinship:
    """Return classes ordered by who is taken for whom, with the families of look-alikes.

    Average linkage on 1 - (R + Rᵀ), where R holds the confusions as shares of the true class; leaves in
    optimal order (Bar-Joseph et al. 2001).

    Examples
    --------
    >>> truth = np.repeat([0, 1, 2, 3], 20)
    >>> pred = truth.copy()
    >>> pred[:8], pred[40:48] = 2, 0
    >>> kinship(Counts.of(truth, pred, 4)).families
    (Family(members=(0, 2), start=..., mistakes=16.0),)
    """
    size = counts.size
    if size < 3:
        return Kinship(tuple(range(size)), ())
    tree = _tree(counts)
    order = _leaves(tree, size)
    found = sorted(_families(tree, order, counts), key=lambda f: (-f.mistakes, f.start))
    return Kinship(tuple(order), tuple(found[:SHOWN]), tuple(_blocks(tree, size)))


def _blocks(tree: npt.NDArray[np.float64], size: int) -> Iterator[tuple[int, ...]]:
    """The largest branches that are small enough, neighbours together while they still are."""
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


def _leaves(tree: npt.NDArray[np.float64], size: int) -> list[int]:
    return _members(tree, size)[-1]


def _families(tree: npt.NDArray[np.float64], order: list[int], counts: Counts) -> Iterator[Family]:
    """The largest groups of look-alikes that are no larger than a family may be."""
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
        if inside >= FEWEST:
            yield Family(tuple(members), place[members[0]], inside)
