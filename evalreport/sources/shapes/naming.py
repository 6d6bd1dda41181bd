"""What a column's name says, in whatever spelling: a small grammar of the words that people use.

``y_true``, ``Predicted``, ``trueLabel``, ``ground truth`` and ``expected_response/value`` are read alike: a
name is cut into words, and its words are those of truth, of predictions, of scores, or of neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evalreport.errors import some_of
from evalreport.scores import ScoreKind

Role = Literal["truth", "prediction", "score"]


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GIVEN = _set(
    "pred preds predict predicted predicts prediction predictions hat yhat guess guesses guessed estimated "
    "inferred"
)
"""Words of what the model answered."""
_KINDS: dict[str, ScoreKind | None] = {
    **dict.fromkeys(("prob", "probs", "proba", "probas", "probability", "probabilities"), "probability"),
    **dict.fromkeys(("softmax", "sigmoid", "likelihood"), "probability"),
    **dict.fromkeys(("logit", "logits"), "logit"),
    **dict.fromkeys(("margin", "margins"), "decision"),
    **dict.fromkeys(("score", "scores", "confidence", "confidences", "conf", "certainty"), None),
}
"""Words of a score, with the kind that they declare."""
_CONFIDENCE = frozenset({"confidence", "confidences", "conf", "certainty"})
_KNOWN = _set("true truth gt gold golden groundtruth actual actuals expected ideal reference")
"""Words of what is known to be right."""
_NOUNS = _set("y label labels class classes category target targets outcome ytest ytrue")
"""Words of a label, right or answered."""
_BESIDE = _set(
    "ground text name names id ids value values test val valid validation dev eval response answer output "
    "column col is the of model best top argmax annotation annotated human correct string index code"
)
"""Words that may stand beside those and change nothing."""
_LABELLIKE = _NOUNS | _BESIDE | _KNOWN

SPLITS = ("split", "subset", "partition", "set", "data_split", "dataset_split", "phase", "stage")
"""Columns whose values are parts of the data, each judged for itself."""
FOLDS = ("fold", "cv_fold", "fold_id", "kfold", "fold_idx", "fold_index")
"""Columns that say by which model of a cross-validation a row was predicted."""
STATUS = ("status", "response_status", "annotation_status", "annotation_state", "review_status")
"""Names of a column that says of each annotation whether it counts."""
SUBMITTED = ("submitted", "completed")
UNFINISHED = ("discarded", "draft", "pending")
"""States of an annotation that is a true label, and of one that is none."""
GRADES = (
    "correct",
    "is_correct",
    "passed",
    "pass",
    "success",
    "resolved",
    "exact_match",
    "acc",
    "grade",
    "graded",
    "score",
)
"""Names of a column that says of each item whether the answer was right, in the order of the search."""
TESTS = ("test", "testing", "holdout", "hold-out", "heldout")
PARTS = (*TESTS, "train", "training", "val", "valid", "validation", "dev", "eval", "evaluation")
"""Names of the parts of a data set."""


def words(name: str) -> list[str]:
    """Return the words of a column's name, in small letters.

    Examples
    --------
    >>> words("trueLabel"), words("expected_response/value"), words("Prob")
    (['true', 'label'], ['expected', 'response', 'value'], ['prob'])
    """
    cut = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)
    return [word for word in re.split(r"[\W_]+", cut.lower()) if word]


def plain_name(name: str) -> str:
    """Return the words of a column's name in one spelling.

    Examples
    --------
    >>> plain_name("isCorrect"), plain_name("exact match")
    ('is_correct', 'exact_match')
    """
    return "_".join(words(name))


def role(name: str) -> Role | None:
    """Return the part that a name says the column plays, or None.

    Examples
    --------
    >>> [role(name) for name in ("Actual", "y_hat", "y_pred_proba", "class", "age")]
    ['truth', 'prediction', 'score', 'truth', None]
    >>> role("credit_score") is None
    True
    """
    found = set(words(name))
    if found & _KINDS.keys():
        rest = found - _KINDS.keys() - _GIVEN - _LABELLIKE - {"positive", "pos", "p"}
        return "score" if not rest else None
    if found & _GIVEN:
        return "prediction" if not found - _GIVEN - _LABELLIKE else None
    if found & (_KNOWN | _NOUNS) and not found - _LABELLIKE:
        return "truth"
    return None


def is_like_score(name: str) -> bool:
    """Tell whether a name holds a word of scores, whatever else it says.

    Examples
    --------
    >>> is_like_score("credit_score"), is_like_score("income")
    (True, False)
    """
    return not _KINDS.keys().isdisjoint(words(name))


def is_confidence(name: str) -> bool:
    """Tell whether a name says that the score is of the answer that was given.

    Examples
    --------
    >>> is_confidence("confidence"), is_confidence("prediction_score"), is_confidence("score")
    (True, True, False)
    """
    found = set(words(name))
    return bool(found & _CONFIDENCE) or (bool(found & _GIVEN) and bool(found & {"score", "scores"}))


def kind_of(name: str) -> ScoreKind | None:
    """Return the kind of score that the words of a name declare.

    Examples
    --------
    >>> kind_of("y_pred_proba"), kind_of("logits"), kind_of("score") is None
    ('probability', 'logit', True)
    """
    kinds = {_KINDS[word] for word in words(name) if word in _KINDS}
    return next(iter(kinds)) if len(kinds) == 1 else None


def named_as(part: Role, names: Sequence[str], usual: Sequence[str]) -> tuple[str, ...]:
    """Return the names that play a part: the first of the usual ones, else all that the words fit best.

    Fewer words say it better: of ``label`` and ``label_id`` the first.

    Examples
    --------
    >>> named_as("truth", ["Actual", "label_id", "age"], ["y_true"])
    ('Actual',)
    """
    exact = next((name for name in usual if name in names), None)
    if exact is not None:
        return (exact,)
    small = {name.lower(): name for name in reversed(names)}
    close = next((small[name] for name in usual if name in small), None)
    if close is not None and role(close) == part:
        return (close,)
    return _best([name for name in names if role(name) == part])


def _best(names: Iterable[str]) -> tuple[str, ...]:
    ranked = [(_rank(name), name) for name in names]
    least = min(ranked, default=((), ""))[0]
    return tuple(name for rank, name in ranked if rank == least)


def _rank(name: str) -> tuple[int, int]:
    """A word that is known to be right or answered says more than a noun; then fewer words."""
    found = words(name)
    return (0 if set(found) & (_KNOWN | _GIVEN | _KINDS.keys()) else 1, len(found))


def is_beside(name: str) -> bool:
    """Tell whether a column names rows or parts of the data, or is a truth: no answer stands in it.

    Examples
    --------
    >>> is_beside("fold"), is_beside("target"), is_beside("y_pred")
    (True, True, False)
    """
    return name.lower() in (*SPLITS, *FOLDS) or role(name) == "truth"


def is_part(value: object) -> bool:
    """Tell whether a value names a part of a data set.

    Examples
    --------
    >>> is_part("Test"), is_part("val"), is_part(3)
    (True, True, False)
    """
    return str(value).strip().lower() in PARTS


Array = npt.NDArray[Any]
_TWO: Mapping[str, int] = {
    **dict.fromkeys(("yes", "y", "true", "t", "positive", "pos", "1", "on"), 1),
    **dict.fromkeys(("no", "n", "false", "f", "negative", "neg", "0", "off"), 0),
}
"""Words that say one of two without saying of what."""
_NUMBERED = re.compile(r"\D*?[_\- ]?(\d+)(?:\.0)?")
_SHOWN = 3
"""Pairs of spellings that a note names."""


def one_spelling(y_true: Array, y_pred: Array) -> tuple[Array, str]:
    """Return the predictions in the truth's spelling, and what was matched; unchanged where they agree.

    ``LABEL_1`` and ``label 1`` are 1, ``Yes`` is True or 1, ``Spam`` is ``spam``, ``"1"`` is 1,
    ``__label__x`` and ``1:x`` are ``x``, -1 beside 0 is the other of two: each only where every label of one
    side is met by exactly one of the other.

    Examples
    --------
    >>> one_spelling(np.array(["Yes", "No"]), np.array([1, 0]))
    (array(['Yes', 'No'], dtype='<U3'), 'y_pred matched to the labels of the truth: 0 is No, 1 is Yes')
    """
    right, told = np.unique(y_true).tolist(), np.unique(y_pred).tolist()
    same = isinstance(right[0], str) == isinstance(told[0], str)
    if {tuple(right), tuple(told)} == _SIGNS:
        return _rewritten(y_true, y_pred, told, dict(zip(told, right, strict=True)))
    if same and set(told) & set(right):
        return y_pred, ""
    for key in (_plain, _folded, _number, _of_two):
        matched = _matched(right, told, key)
        if matched is not None:
            return _rewritten(y_true, y_pred, told, matched)
    bare = _without_affix(list(map(str, right)), list(map(str, told)))
    if bare is None or (not same and not set(bare.values()) <= set(map(str, right))):
        return y_pred, ""
    written = {str(label): label for label in right}
    matched = {label: written.get(bare[str(label)], bare[str(label)]) for label in told}
    return _rewritten(y_true, y_pred, told, matched)


_SIGNS = {(-1, 1), (0, 1)}
"""Two codes of one pair of labels."""
_COUNTED = re.compile(r"\W*\d+\s*[:.)_\- ]\s*|\s*[:(_\- ]\s*\d+\W*$")


def _without_affix(right: Sequence[str], told: Sequence[str]) -> Mapping[Any, Any] | None:
    """Return the truth's label for each prediction where one side has an affix more.

    It is the same for all its labels, or a number of each: ``1:sports``.
    """
    for bare in (*_affixes(told, right), *_affixes(right, told), _uncounted, _unquoted):
        ours, theirs = {bare(label): label for label in right}, {bare(label): label for label in told}
        if len(ours) < len(right) or len(theirs) < len(told) or "" in ours or "" in theirs:
            continue
        shared = ours.keys() & theirs.keys()
        if shared and (len(shared) == len(ours) or len(shared) == len(theirs)):
            return {label: ours.get(name, name) for name, label in theirs.items()}
    return None


def _affixes(longer: Sequence[str], shorter: Sequence[str]) -> list[Callable[[str], str]]:
    """How the labels of one side lose what stands round the longest label of the other."""
    inner = _folded(max(shorter, key=len))
    found: list[Callable[[str], str]] = []
    for label in map(_folded, longer):
        before, middle, after = label.partition(inner)
        if (
            middle
            and before + after
            and all(_folded(one).startswith(before) and _folded(one).endswith(after) for one in longer)
        ):
            found.append(partial(_cut, before=before, after=after))
    return found


def _cut(label: str, before: str, after: str) -> str:
    return str(_folded(label)).removeprefix(before).removesuffix(after)


def _uncounted(label: str) -> str:
    return _unquoted(_COUNTED.sub("", label, count=1))


def _unquoted(label: str) -> str:
    return str(_folded(re.sub(r"^\W+|\W+$", "", label)))


def _plain(label: Any) -> Any:
    return str(label)


def _folded(label: Any) -> Any:
    return " ".join(str(label).casefold().replace("_", " ").replace("-", " ").split())


def _number(label: Any) -> Any:
    found = _NUMBERED.fullmatch(str(label).strip())
    return int(found.group(1)) if found else None


def _of_two(label: Any) -> Any:
    return _TWO.get(str(label).strip().casefold())


def _matched(right: Sequence[Any], told: Sequence[Any], key: Any) -> Mapping[Any, Any] | None:
    """Return the truth's label for each answer where the keys are distinct on both sides."""
    ours, theirs = {key(label): label for label in right}, {key(label): label for label in told}
    if None in ours or None in theirs or len(ours) < len(right) or len(theirs) < len(told):
        return None
    shared = theirs.keys() & ours.keys()
    if not shared or (len(shared) < len(theirs) and len(shared) < len(ours)):
        return None
    if len(shared) < len(theirs) and isinstance(right[0], str) and key is not _number:
        return None
    return {label: ours.get(name, name if key is _number else label) for name, label in theirs.items()}


def _rewritten(
    y_true: Array, y_pred: Array, told: Sequence[Any], matched: Mapping[Any, Any]
) -> tuple[Array, str]:
    values = [matched[label] for label in told]
    if isinstance(y_true[0].item(), str):
        values = [str(value) for value in values]
    _, codes = np.unique(y_pred, return_inverse=True)
    renamed = [f"{label} is {matched[label]}" for label in told if str(label) != str(matched[label])]
    some = some_of(renamed, _SHOWN) or "equal names, numbers here and text there"
    note = f"y_pred matched to the labels of the truth: {some}"
    return np.asarray(values)[codes], note
