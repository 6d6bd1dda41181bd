"""What is found by name alone, in which order, and where a choice is refused."""

from __future__ import annotations

import io

import pytest

from evalreport.columns.column_request import Columns
from evalreport.columns.find_columns import Found, find, to_predictions
from evalreport.columns.names import PRED, SINGLE, TRUTH, column_selector
from evalreport.core.errors import DataError, UsageError
from evalreport.data.labels import Binary, Multiclass, Multilabel
from evalreport.readers.formats import read_table


def found(text: str, request: Columns | None = None, format: str = "csv") -> Found:
    return find(read_table(io.BytesIO(text.encode()), format=format, name="p.csv"), request)


@pytest.mark.parametrize("name", TRUTH)
def test_every_common_name_of_truth(name: str) -> None:
    result = found(f"{name},score\na,0.25\nb,0.5\n")
    assert result.taken[0] == ("truth", name)
    assert result.y_true.tolist() == ["a", "b"]


@pytest.mark.parametrize("name", PRED)
def test_every_common_name_of_predictions(name: str) -> None:
    result = found(f"y_true,{name}\na,b\nb,b\n")
    assert result.taken[1] == ("prediction", name)
    assert result.y_pred is not None
    assert result.y_pred.tolist() == ["b", "b"]


@pytest.mark.parametrize("name", SINGLE)
def test_every_common_name_of_a_score(name: str) -> None:
    result = found(f"y_true,{name}\na,0.25\nb,0.5\n")
    assert ("score", name) in result.taken
    assert result.score_kind == (SINGLE[name] or "probability")


def test_the_first_common_name_wins_and_the_rest_is_unused() -> None:
    result = found("target,label,y_true,y_pred,prediction\n1,2,3,3,1\n1,2,4,4,1\n")
    assert dict(result.taken)["truth"] == "y_true"
    assert result.unused == ("target", "label", "prediction")


def test_two_families_of_scores() -> None:
    text = "y_true,proba_a,proba_b,logit_a,logit_b\na,1,0,3,-3\nb,0,1,-3,3\n"
    with pytest.raises(UsageError, match=r"2 sets of scores could be meant: proba_\*"):
        found(text)
    assert found(text, Columns(scores="logit_*")).score_kind == "logit"


def test_two_single_scores() -> None:
    with pytest.raises(UsageError, match="2 columns could be the score: proba, score"):
        found("y_true,proba,score\na,1,0\nb,1,0\n")


def test_the_column_of_one_label_says_which_is_positive() -> None:
    text = "diagnosis,p_benign,p_value\nbenign,0.9,0.5\nmalignant,0.2,0.5\n"
    result = found(text, Columns(truth="diagnosis"))
    assert result.space == Binary("malignant", "benign")
    assert result.unused == ("p_value",)
    with pytest.raises(UsageError, match="the scores are for benign, but the positive label is malignant"):
        found(text, Columns(truth="diagnosis", positive="malignant"))


def test_the_positive_label_is_given_or_the_greater() -> None:
    assert found("y_true,score\nno,0.5\nyes,0.5\n").space == Binary("no", "yes")
    assert found("y_true,score\nno,0.5\nyes,0.5\n", Columns(positive="no")).space == Binary("yes", "no")
    assert found("y_true,score\n1,0.5\n0,0.5\n", Columns(positive="0")).space == Binary(1, 0)


@pytest.mark.parametrize(
    ("label", "space"),
    [
        ("0", Binary(0, 1)),
        ("1", Binary(0, 1)),
        ("True", Binary(False, True)),
        ("False", Binary(False, True)),
        ("spam", Binary("not spam", "spam")),
        ("7", Binary("not 7", 7)),
    ],
)
def test_one_label_alone(label: str, space: Binary) -> None:
    result = found(f"y_true,score\n{label},0.5\n{label},0.25\n")
    assert result.space == space
    assert result.notes[0].startswith(f"only {label} occurs")
    assert len(to_predictions(result)) == 2


def test_one_label_alone_with_the_other_declared() -> None:
    request = Columns(labels=("ham", "spam"))
    assert found("y_true,score\nham,0.5\n", request).space == Binary("ham", "spam")
    assert found("y_true,score\nham,0.5\n", Columns(positive="spam")).space == Binary("ham", "spam")
    assert found("y_true,score\n1,0.5\n", Columns(positive="0")).space == Binary(1, 0)


def test_a_score_column_without_rows_is_an_absent_label() -> None:
    result = found("y_true,proba_a,proba_b,proba_c\na,0.5,0.25,0.25\nb,0.25,0.5,0.25\n")
    assert result.space == Multiclass(["a", "b", "c"])


def test_scores_of_logits_without_a_column_never_win() -> None:
    result = found("y_true,logit_a,logit_b\na,-5,-9\nb,1,2\nc,1,1\n")
    p = to_predictions(result)
    assert p.y_pred is not None
    assert p.y_pred.tolist() == [0, 1, 0]
    assert result.notes == ("1 label without a score column, probability 0 assumed: c",)


def test_margins_need_every_column() -> None:
    text = "y_true,score_a,score_b\na,-5,-9\nb,1,2\nc,1,1\n"
    with pytest.raises(DataError, match="1 label without a score column"):
        found(text, Columns(score_kind="decision"))


def test_a_stray_score_of_many_labels_is_left_aside() -> None:
    result = found("y_true,y_pred,score,score_x,score_y\na,a,9,1,1\nb,a,9,1,1\nc,c,9,1,1\n")
    assert result.scores is None
    assert result.unused == ("score", "score_x", "score_y")


def test_a_single_score_of_two_labels_declared_multiclass() -> None:
    result = found("y_true,y_pred,score\na,a,0.5\nb,a,0.5\n", Columns(task="multiclass"))
    assert result.space == Multiclass(["a", "b"])
    assert result.notes == ("score is one score column for 2 labels and was not used",)


def test_too_many_labels_for_a_declared_binary_problem() -> None:
    with pytest.raises(DataError, match="a binary problem has two labels, not 3"):
        found("y_true,y_pred\na,a\nb,b\nc,c\n", Columns(task="binary"))


def test_score_columns_that_are_no_labels_of_the_data() -> None:
    with pytest.raises(
        DataError, match="'cat' has a different type than the labels of the data, which are int"
    ):
        found("y_true,proba_cat,proba_dog\n1,0.5,0.5\n0,0.5,0.5\n")


def test_whole_floats_are_labels_of_their_number() -> None:
    result = found("y_true,proba_0.0,proba_1.0\n1.0,0.5,0.5\n0.0,0.5,0.5\n")
    assert result.space == Binary(0, 1)


def test_truth_values_and_numbers_are_one_kind() -> None:
    assert found("y_true,y_pred\nTrue,1\nFalse,0\n").space == Binary(0, 1)


def test_lowercase_words_stay_words() -> None:
    assert found("y_true,y_pred\ntrue,true\nfalse,true\n").space == Binary("false", "true")


def test_text_wins_over_predictions_when_it_is_named() -> None:
    text = "y_true,y_pred,reply\na,b,it is a\nb,b,\n"
    result = found(text, Columns(text="reply"))
    assert result.y_pred is None
    assert result.text is not None
    assert result.text.tolist() == ["it is a", ""]
    assert result.space == Multiclass(["a", "b"])
    assert found(text).text is None


def test_usual_names_of_text_only_where_nothing_else_decides() -> None:
    assert dict(found("label,output\na,a.\nb,b.\n").taken)["text"] == "output"
    assert found("label,output,y_pred\na,a.,a\nb,b.,a\n").unused == ("output",)


def test_example_texts_are_never_taken_unasked() -> None:
    result = found("y_true,y_pred,example_text,text\na,a,secret,secret\nb,b,secret,secret\n")
    assert result.example_texts is None
    assert result.unused == ("example_text", "text")


def test_one_column_true_something_is_no_matrix() -> None:
    result = found("true_label,true_age,y_pred\na,33,a\nb,44,b\n")
    assert result.space == Binary("a", "b")
    result = found("y_true,true_age,true_size,y_pred\na,33,2,a\nb,44,1,b\n")
    assert result.space == Binary("a", "b")
    assert found("true_joy,pred_joy\n1,1\n0,1\n").space == Multilabel(["joy"])


def test_multilabel_labels_can_be_declared_in_another_order_or_fewer() -> None:
    text = "true_a,true_b,true_c,proba_c,proba_b,proba_a\n1,0,1,0.3,0.2,0.1\n0,1,1,0.6,0.5,0.4\n"
    result = found(text, Columns(labels=("c", "a")))
    assert result.space == Multilabel(["c", "a"])
    assert result.y_true.tolist() == [[True, True], [True, False]]
    assert result.scores is not None
    assert result.scores.tolist() == [[0.3, 0.1], [0.6, 0.4]]


def test_multilabel_scores_may_lack_a_label() -> None:
    result = found("true_a,true_b,proba_a\n1,0,0.5\n0,1,0.25\n")
    assert result.scores is not None
    assert result.scores.tolist() == [[0.5, 0], [0.25, 0]]
    assert result.notes == ("1 label without a score column, probability 0 assumed: b",)


def test_patterns_name_the_columns_of_labels() -> None:
    text = "gold:a,gold:b,hit:a,hit:b,s:a,s:b\n1,0,1,1,0.5,0.5\n0,1,0,1,0.5,0.5\n"
    result = found(text, Columns(truth="gold:*", pred="hit:*", scores="s:*"))
    assert result.space == Multilabel(["a", "b"])
    assert [shown for _, shown in result.taken[:3]] == [
        "gold:* (2 columns)",
        "hit:* (2 columns)",
        "s:* (2 columns)",
    ]


def test_numbered_labels_in_lists() -> None:
    result = found('{"labels": [3, 1], "predicted": [1]}\n{"labels": [], "predicted": []}\n', format="jsonl")
    assert result.space == Multilabel([1, 3])
    assert result.y_true.tolist() == [[True, True], [False, False]]
    declared = found('{"labels": [3], "predicted": [1]}\n', Columns(labels=("1", "2", "3")), format="jsonl")
    assert declared.space == Multilabel([1, 2, 3])


def test_lists_with_scores() -> None:
    data = '{"labels": ["a"], "proba_b": 0.5, "proba_a": 0.25}\n{"labels": [], "proba_b": 1, "proba_a": 0}\n'
    result = found(data, format="jsonl")
    assert result.space == Multilabel(["a", "b"])
    assert result.scores is not None
    assert result.scores.tolist() == [[0.25, 0.5], [0, 1]]


def test_lists_of_mixed_types_or_of_nothing() -> None:
    with pytest.raises(DataError, match="mix types"):
        found('{"labels": ["a", 1], "predicted": []}\n', format="jsonl")
    with pytest.raises(DataError, match="no label occurs"):
        found('{"labels": [], "predicted": []}\n', format="jsonl")


def test_only_what_may_play_a_part_is_read() -> None:
    names = ["y_true", "y_pred", "proba_a", "feature", "score_lr", "age", "id", "city"]
    assert list(column_selector(Columns())(names)) == ["y_true", "y_pred", "proba_a", "score_lr", "id"]
    named = Columns(score="score_lr", pred="age", truth="y_true", slices=("city",))
    assert list(column_selector(named)(names)) == ["y_true", "score_lr", "age", "id", "city"]


def test_contradicting_options() -> None:
    with pytest.raises(UsageError, match="both --score and --scores"):
        Columns(score="a", scores="b_*")
    with pytest.raises(UsageError, match="must contain one"):
        Columns(scores="proba")
    with pytest.raises(UsageError, match="is a multilabel problem"):
        found("true_a,true_b,pred_a,pred_b\n1,0,1,0\n", Columns(task="multiclass"))
    with pytest.raises(UsageError, match="has no batch axis"):
        found("y_true,score\n1,0.5\n", Columns(batch_axis=True))


def test_the_column_that_chose_the_rows_is_reported_as_that_and_not_as_unused() -> None:
    rows = "y_true,y_pred,{},age\na,a,{},7\nb,a,{},8\na,b,{},9\n"
    alone = found(rows.format("split", "test", "test", "val"))
    asked = found(rows.format("site", "x", "x", "y"), Columns(where=("site=x",)))
    for result, name in ((alone, "split"), (asked, "site")):
        assert ("rows by", name) in result.taken and len(result.y_true) == 2
        assert result.unused_note == ("columns without a role: age",)


@pytest.mark.parametrize(("name", "reported"), [("grade_level/v1/score", False), ("score", True)])
def test_a_column_of_something_else_is_no_confidence(name: str, reported: bool) -> None:
    result = found(f"y_true,y_pred,{name}\na,a,0.6\nb,a,0.7\nc,c,0.8\n")
    assert result.scores is None and result.unused == (name,)
    assert any("confidence" in note for note in result.notes) is reported
