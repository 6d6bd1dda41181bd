"""Same examples are proven or the comparison says that they are not: nothing is matched by luck."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evalreport.comparison.compare import compare
from evalreport.comparison.comparison import pair
from evalreport.core.errors import DataError, UsageError
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.data.predictions import Predictions, predictions
from evalreport.data.scores import Decisions, NoScores, Probabilities
from evalreport.evaluation.evaluation import Evaluation
from tests.comparison import models

N = 120
IDS = np.array([f"case-{row:03d}" for row in range(N)])


def run(rows: Any = slice(None), *, ids: bool = True, flip: int | None = None, seed: int = 0) -> Predictions:
    """The same test set, answered by a model; some rows, or one label corrected."""
    truth = np.random.default_rng(1).integers(0, 2, N)
    if flip is not None:
        truth[flip] = 1 - truth[flip]
    answers = np.where(np.random.default_rng(seed).random(N) < 0.8, truth, 1 - truth)
    named = IDS[rows] if ids else None
    return predictions(Binary(0, 1), truth[rows], answers[rows], ids=named)


def two(first: Predictions, second: Predictions) -> tuple[Evaluation, Evaluation]:
    return models.bare(first), models.bare(second)


def test_permuted_rows_are_matched_by_id() -> None:
    order = np.random.default_rng(5).permutation(N)
    straight = pair(*two(run(seed=1), run(seed=2)))
    permuted = pair(*two(run(seed=1), run(order, seed=2)))
    assert permuted.pairing == straight.pairing
    assert permuted.baseline is not None
    assert straight.baseline is not None
    assert np.array_equal(np.asarray(permuted.baseline.y_pred), np.asarray(straight.baseline.y_pred))
    results = [
        compare(list(two(run(seed=1), run(rows, seed=2)))).differences_for("accuracy")[0]
        for rows in (slice(None), order)
    ]
    assert results[0] == results[1]


def test_permuted_rows_without_ids_are_an_error() -> None:
    order = np.random.default_rng(5).permutation(N)
    with pytest.raises(DataError, match="a different order, or the test sets differ") as caught:
        pair(*two(run(ids=False), run(order, ids=False)))
    assert "--id" in caught.value.fix
    assert "--unpaired" in caught.value.fix
    assert caught.value.exit_code == 5


def test_ids_that_repeat_pair_nothing() -> None:
    ids = IDS.copy()
    ids[7] = ids[3]
    whole = run()
    twice = predictions(Binary(0, 1), whole.y_true, whole.y_pred, ids=ids)
    for rows, which in (((twice, whole), "the run"), ((whole, twice), "the baseline")):
        with pytest.raises(DataError, match="1 id occurs more than once") as caught:
            pair(*two(*rows))
        assert caught.value.where == f"first: 'case-003' in rows 3 and 7 of {which}"
    with pytest.raises(DataError) as caught:
        compare(list(two(twice, whole)), names=["new", "old"])
    assert caught.value.where == "old and new, first: 'case-003' in rows 3 and 7 of new"
    assert pair(*two(twice, whole), unpaired=True).pairing.kind == "unpaired"


@pytest.mark.parametrize("kept", [80, 119])
def test_truncated_file_is_compared_on_what_both_have(kept: int) -> None:
    found = pair(*two(run(seed=1), run(slice(0, kept), seed=2))).pairing
    assert (found.kind, found.n_shared, found.only_run, found.only_baseline) == ("paired", kept, N - kept, 0)
    assert f"{N - kept} example" in found.reason


def test_truncated_file_without_ids_is_not_paired_and_says_so() -> None:
    found = pair(*two(run(ids=False), run(slice(0, 80), ids=False))).pairing
    assert (found.kind, found.n_shared) == ("unpaired", 0)
    assert "120 and 80 rows" in found.reason


def test_changed_label_is_an_error_that_names_the_example() -> None:
    with pytest.raises(DataError, match="1 of 120 shared examples differ") as caught:
        pair(*two(run(), run(flip=17)))
    assert "case-017" in caught.value.where
    with pytest.raises(DataError, match="true labels differ in 1 of 120 rows") as caught:
        pair(*two(run(ids=False), run(ids=False, flip=17)))
    assert "row 17" in caught.value.where


def test_two_versions_of_a_test_set_are_caught() -> None:
    """Rows added and removed; and with them one label that was corrected."""
    found = pair(*two(run(slice(0, 100)), run(slice(20, 120)))).pairing
    assert (found.n_shared, found.only_run, found.only_baseline) == (80, 20, 20)
    with pytest.raises(DataError, match="differ between the runs"):
        pair(*two(run(slice(0, 100)), run(slice(20, 120), flip=50)))


def test_runs_without_a_shared_example_are_not_paired() -> None:
    found = pair(*two(run(slice(0, 50)), run(slice(50, 120)))).pairing
    assert (found.kind, found.reason) == ("unpaired", "the runs have no example ids in common")


def test_other_examples_may_be_declared() -> None:
    order = np.random.default_rng(5).permutation(N)
    found = pair(*two(run(ids=False), run(order, ids=False)), unpaired=True).pairing
    assert (found.kind, found.reason) == ("unpaired", "other examples, as declared")


def test_ids_on_one_side_alone_prove_nothing_but_the_order_may() -> None:
    found = pair(*two(run(), run(ids=False))).pairing
    assert (found.kind, found.reason) == ("paired", "no ids; same true labels in the same order")


def test_digest_is_of_pairs_of_id_and_truth() -> None:
    order = np.random.default_rng(5).permutation(N)
    whole = run(seed=1)
    assert whole.truth_digest == run(order, seed=2).truth_digest
    assert whole.truth_digest != run(flip=3).truth_digest
    assert whole.truth_digest != run(slice(0, 119)).truth_digest
    assert run(ids=False).truth_digest != run(order, ids=False).truth_digest


def test_evaluation_alone_is_not_paired_even_if_the_examples_are_the_same() -> None:
    whole, other = models.evaluations([run(seed=1), run(seed=2)])
    known = Evaluation.from_json(other.to_json())
    found = pair(whole, known).pairing
    assert found.kind == "unpaired"
    assert "the examples are the same (equal digests)" in found.reason
    result = compare([whole, known])
    assert {d.method for d in result.differences if d.low is not None} == {"MOVER, unpaired"}
    assert not (result.mcnemar or result.delong or result.movement)


def test_weights_that_differ_are_an_error() -> None:
    truth, ids = [0, 1, 1], ["a", "b", "c"]
    a, b = (
        predictions(Binary(0, 1), truth, truth, ids=ids, weights=weights)
        for weights in ([1, 2, 3], [2, 1, 3])
    )
    with pytest.raises(DataError, match="weights of 2 of 3"):
        pair(*two(a, b))


def test_weights_are_compared_on_the_shared_rows_alone() -> None:
    truth, ids = [0, 1, 1, 0], list("abcd")
    whole = predictions(Binary(0, 1), truth, truth, ids=ids, weights=[1, 2, 3, 10])
    part = predictions(Binary(0, 1), truth[:3], truth[:3], ids=ids[:3], weights=[1, 2, 3])
    assert pair(*two(whole, part)).pairing.n_shared == 3


def test_tasks_that_differ_are_an_error() -> None:
    multi = predictions(Multiclass("abc"), list("abc"), list("abc"))
    with pytest.raises(UsageError, match="binary run cannot be compared with a multiclass"):
        pair(*two(run(), multi))


def test_positives_that_differ_are_an_error() -> None:
    other = predictions(Binary(1, 0), [0, 1], [0, 1])
    with pytest.raises(UsageError, match="differ in their labels"):
        pair(*two(run(), other))


def test_label_sets_are_joined() -> None:
    a = predictions(Multiclass("ab"), list("abab"), list("abba"), ids=list("wxyz"))
    b = predictions(
        Multiclass("bca"), list("abab"), scores=Probabilities(np.eye(3)[[2, 0, 1, 0]]), ids=list("wxyz")
    )
    found = pair(*two(a, b))
    assert found.run is not None
    assert found.baseline is not None
    assert found.run.space == found.baseline.space == Multiclass("abc")
    assert np.asarray(found.baseline.y_pred).tolist() == [0, 1, 2, 1]
    assert not isinstance(found.baseline.scores, NoScores)
    assert found.baseline.scores.values.argmax(axis=1).tolist() == [0, 1, 2, 1]


def test_unknown_label_ranks_last_whatever_the_scale() -> None:
    a = predictions(Multiclass("abc"), list("ab"), list("cb"))
    b = predictions(Multiclass("ab"), list("ab"), scores=Decisions(np.array([[-3.0, -2.0], [-9.0, -4.0]])))
    found = pair(*two(a, b)).baseline
    assert found is not None
    assert not isinstance(found.scores, NoScores)
    assert found.scores.values[:, 2].max() < found.scores.values[:, :2].min()


def test_multilabel_truth_is_compared_row_by_row() -> None:
    a = predictions(Multilabel("xy"), [["x"], []], [["x"], ["y"]], ids=["1", "2"])
    b = predictions(Multilabel("yx"), [["x"], ["y"]], [["x"], ["y"]], ids=["1", "2"])
    with pytest.raises(DataError) as caught:
        pair(*two(a, b))
    assert "id '2', [] and [y]" in caught.value.where


def test_groups_and_slices_of_either_run_serve_both() -> None:
    truth = [0, 1] * 10
    plain = predictions(Binary(0, 1), truth, truth)
    grouped = predictions(Binary(0, 1), truth, truth, groups=list("ab") * 10, slices={"s": list("xy") * 10})
    found = pair(*two(plain, grouped)).run
    assert found is not None
    assert found.groups is not None
    assert list(found.slices) == ["s"]
