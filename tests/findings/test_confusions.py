"""Mix-ups one way and both ways, families, and the statistics behind them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from evalreport.data.labels import Multiclass
from evalreport.data.predictions import Predictions, predictions
from evalreport.findings.chance import (
    association,
    chi_square_deviate,
    deviation,
    margins,
    poisson_tail,
    right_by_chance,
)
from evalreport.findings.confusions import families, kinship, notable_confusions, top_confusions
from evalreport.statistics.confusion import Counts
from tests.findings.faults import INTENTS, evaluated, intents, one_way, relate
from tests.findings.light import counted, light


def of_matrix(matrix: list[list[int]], labels: str = "abcdefgh") -> Predictions:
    """Predictions with a given confusion matrix."""
    rows, columns = np.indices(np.shape(matrix)).reshape(2, -1)
    times = np.ravel(matrix)
    known = np.asarray(list(labels[: len(matrix)]))
    return predictions(
        Multiclass(labels[: len(matrix)]), known[np.repeat(rows, times)], known[np.repeat(columns, times)]
    )


def test_a_mix_up_in_one_direction() -> None:
    ev = evaluated(of_matrix([[40, 40, 0], [3, 77, 0], [0, 0, 80]]))
    found = top_confusions(ev)
    assert found is not None
    assert found.claim == "40 of 80 “a” are misclassified as “b”, 3 the other way round."


def test_a_mix_up_in_both_directions_is_one() -> None:
    ev = evaluated(of_matrix([[40, 40, 0], [30, 50, 0], [0, 0, 80]]))
    found = top_confusions(ev)
    assert found is not None
    assert found.claim == "“a” and “b” are confused in both directions (40 of 80 and 30 of 80)."
    assert found.evidence["share"] == 1.0


def test_even_mistakes_are_no_mix_up() -> None:
    even = np.full((8, 8), 5) + np.diag([45] * 8)
    truth, answer = np.repeat(np.indices((8, 8)).reshape(2, -1), even.ravel(), axis=1)
    assert notable_confusions(Counts.from_codes(truth, answer, 8)) == []
    assert top_confusions(evaluated(of_matrix(even.tolist()))) is None


def test_families_are_reported_with_what_they_hold() -> None:
    found = families(intents(relate))
    assert found is not None
    members = [set(family["labels"]) for family in found.evidence["families"]]
    assert members == [set(INTENTS[:4]), set(INTENTS[4:6])]
    assert "confusions within 2 groups of similar classes" in found.claim


def test_one_favourite_is_no_family() -> None:
    """Six labels lose half of their examples to a seventh, which loses none to them."""
    matrix = np.diag([40] * 6 + [80])
    matrix[:6, 6] = 40
    assert families(evaluated(of_matrix(matrix.tolist()))) is None


def test_one_pair_is_no_family() -> None:
    assert families(intents(one_way)) is None


def test_kinship_puts_look_alikes_side_by_side() -> None:
    counts = intents(relate).confusion
    assert counts is not None
    found = kinship(counts)
    assert sorted(found.order) == list(range(20))
    for family in found.families:
        places = sorted(found.order.index(code) for code in family.members)
        assert all(after - before == 1 for before, after in pairwise(places))


def test_association_is_standard_normal_for_shuffled_answers() -> None:
    rng = np.random.default_rng(0)
    truth = rng.choice(3, 300, p=[0.2, 0.3, 0.5])
    answers = rng.choice(3, 300, p=[0.5, 0.3, 0.2])
    known = np.asarray(list("abc"))
    found, right = [], []
    for _ in range(400):
        rng.shuffle(answers)
        ev = counted(predictions(Multiclass("abc"), known[truth], known[answers]))
        found.append(association(ev))
        right.append(float((truth == answers).sum()))
    assert abs(np.mean(found)) < 0.15
    assert np.std(found) == pytest.approx(1, abs=0.12)
    assert right_by_chance(ev) == pytest.approx(np.mean(right), abs=0.8)


def test_weights_of_one_size_change_nothing() -> None:
    p = of_matrix([[40, 40, 0], [3, 77, 0], [0, 0, 80]])
    known = np.asarray(p.space.names)
    assert p.y_pred is not None
    heavy = predictions(p.space, known[p.y_true], known[p.y_pred], weights=np.full(len(p), 7.0))
    one, seven = light(p), light(heavy)
    assert association(seven) == pytest.approx(association(one))
    excess = [deviation(ev, m.excess, m.discordant) for ev in (one, seven) for m in margins(ev)]
    assert excess[:3] == pytest.approx(excess[3:])


def test_tails() -> None:
    from scipy import stats

    for k, mean in [(0, 2.0), (3, 0.1), (12, 3.3), (40, 20.0), (1, 0.0)]:
        assert poisson_tail(k, mean) == pytest.approx(stats.poisson.sf(k - 1, mean), abs=1e-12)
    for statistic, df in [(18.3, 10), (40.0, 10), (3.0, 5)]:
        exact = stats.norm.isf(stats.chi2.sf(statistic, df))
        assert chi_square_deviate(statistic, df) == pytest.approx(exact, abs=0.06)
