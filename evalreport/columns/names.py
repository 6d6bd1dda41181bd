"""The meaning of column names: a small grammar of common words, in any spelling.

``y_true``, ``Predicted``, ``trueLabel``, ``ground truth`` and ``expected_response/value`` are parsed in the
same way: a name is split into words, which are words for labels, predictions, scores, or none of these. Score
columns may also be named after the classes, with any prefix and suffix.

Names are searched in the order given here, and the result is always reported. Several equally good columns
(such as several score columns) are an error that lists them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import Columns, list_names, missing_column
from evalreport.core.errors import ColumnNotFoundError, NoTableError
from evalreport.core.result import ColumnDecision
from evalreport.data.scores import ROW_SUM, ScoreKind
from evalreport.readers.limits import Select

Role = Literal["truth", "prediction", "score"]


LEXICON: Mapping[str, Mapping[str, Any]] = json.loads(
    Path(__file__).with_name("lexicon.json").read_text(encoding="utf-8")
)
"""Groups of words with the weight that each word adds to a role of a column; a missing weight is 0."""
_WEIGHTS = {
    word: {role: float(weight) for role, weight in group.items() if not isinstance(weight, str)}
    for group in LEXICON.values()
    for word in group["words"].split()
}
_DILUTED = 0.6
"""Factor of a positive weight for each word of a name that is in no group."""


def _words_of(*groups: str) -> frozenset[str]:
    return frozenset(word for group in groups for word in LEXICON[group]["words"].split())


_GIVEN = _words_of("predicted")
_KINDS: dict[str, ScoreKind | None] = {
    word: LEXICON[group].get("kind")
    for group in ("probability", "logit", "margin", "score", "confidence")
    for word in LEXICON[group]["words"].split()
}
"""Words of a score, with the kind that they declare."""
_CONFIDENCE = _words_of("confidence")
_KNOWN = _words_of("true")
_NOUNS = _words_of("noun", "outcome")
_BESIDE = _words_of("beside", "output", "annotated", "model") | {"id", "ids", "index"}
"""Words that may be added to those without a change of meaning."""
_LABELLIKE = _NOUNS | _BESIDE | _KNOWN

SPLITS = ("split", "subset", "partition", "set", "data_split", "dataset_split", "phase", "stage")
"""Columns whose values are parts of the data, each tested separately."""
FOLDS = ("fold", "cv_fold", "fold_id", "kfold", "fold_idx", "fold_index")
"""Columns with the cross-validation model that predicted a row."""
STATUS = ("status", "response_status", "annotation_status", "annotation_state", "review_status")
"""Names of a column with the status of annotations."""
SUBMITTED = ("submitted", "completed")
UNFINISHED = ("discarded", "draft", "pending")
"""Status of an annotation that is a true label, and of one that is not."""
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
"""Names of a column that shows whether the response to an item was right, in search order."""
TESTS = ("test", "testing", "holdout", "hold-out", "heldout")
PARTS = (*TESTS, "train", "training", "val", "valid", "validation", "dev", "eval", "evaluation")
"""Names of the parts of a data set."""


def words(name: str) -> list[str]:
    """Return the words of a column's name, in lower case.

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
    """Return the role that a name indicates, or None.

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


def name_weights(name: str) -> dict[str, float]:
    """Return the evidence of a column's name for each role: the sum over its words.

    Unknown words reduce positive evidence; more than two of them count as two.

    Examples
    --------
    >>> name_weights("predicted_label")["prediction"] > name_weights("label")["prediction"]
    True
    >>> name_weights("credit_score")["score"] < name_weights("score")["score"]
    True
    """
    found = words(name)
    total = dict.fromkeys(ROLES, 0.0)
    for word in dict.fromkeys(found):
        for role, weight in _WEIGHTS.get(word, {}).items():
            total[role] += weight
    strange = sum(word not in _WEIGHTS and not word.isdecimal() for word in found)
    factor = _DILUTED ** min(strange, 2)
    bare = {role: weight * factor if weight > 0 else weight for role, weight in total.items()}
    for role, usual in (("label", TRUTH), ("prediction", PRED)):
        if name in usual:
            bare[role] += 0.5 if name in usual[1:] else 4.0
    if name in SINGLE:
        bare["score"] = max(bare["score"] + 1.0, 4.0)
    return bare


ROLES = ("label", "prediction", "score", "confidence", "text")


def is_like_score(name: str) -> bool:
    """Return whether a name contains a word for scores.

    Examples
    --------
    >>> is_like_score("credit_score"), is_like_score("income")
    (True, False)
    """
    return not _KINDS.keys().isdisjoint(words(name))


def is_confidence(name: str) -> bool:
    """Return whether a name indicates a score of the predicted label.

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


def find_role_names(part: Role, names: Sequence[str], usual: Sequence[str]) -> tuple[str, ...]:
    """Return the names with a role: the first of the common ones, else all that the words fit best.

    Fewer words fit better: ``label`` is better than ``label_id``.

    Examples
    --------
    >>> find_role_names("truth", ["Actual", "label_id", "age"], ["y_true"])
    ('Actual',)
    """
    exact = next((name for name in usual if name in names), None)
    if exact is not None:
        return (exact,)
    small = {name.lower(): name for name in reversed(names)}
    close = next((small[name] for name in usual if name in small), None)
    if close is not None and role(close) == part:
        return (close,)
    strong = _KNOWN | _GIVEN | _KINDS.keys()  # these outrank a noun; then fewer words do
    rank = {name: (strong.isdisjoint(words(name)), len(words(name))) for name in names if role(name) == part}
    best = min(rank.values(), default=None)
    return tuple(name for name in rank if rank[name] == best)


def is_beside(name: str) -> bool:
    """Return whether a column contains parts of the data, folds or true labels, and therefore no predictions.

    Examples
    --------
    >>> is_beside("fold"), is_beside("target"), is_beside("y_pred")
    (True, True, False)
    """
    return name.lower() in (*SPLITS, *FOLDS) or role(name) == "truth"


def is_part(value: object) -> bool:
    """Return whether a value names a part of a data set.

    Examples
    --------
    >>> is_part("Test"), is_part("val"), is_part(3)
    (True, True, False)
    """
    return str(value).strip().lower() in PARTS


Array = npt.NDArray[Any]


def are_probabilities(columns: Sequence[Array]) -> bool:
    """Return whether columns are the probabilities of classes: in [0, 1], and each row sums to one.

    Examples
    --------
    >>> are_probabilities([np.array([0.25, 1.0]), np.array([0.75, 0.0])])
    True
    """
    if any(column.ndim != 1 or column.dtype.kind not in "fiu" for column in columns):
        return False
    total = np.zeros(len(columns[0]))
    for column in columns:
        if not ((column >= -ROW_SUM) & (column <= 1 + ROW_SUM)).all():  # a NaN is neither
            return False
        total += column
    return bool((np.abs(total - 1) <= ROW_SUM).all())


TRUTH = (
    "y_true",
    "label",
    "target",
    "truth",
    "true_label",
    "ground_truth",
    "gold",
    "expected",
    "labels",
    "targets",
)
PRED = ("y_pred", "prediction", "pred", "predicted", "predicted_label", "pred_label", "predictions")
TEXT = (
    "generation",
    "generated_text",
    "completion",
    "response",
    "answer",
    "output",
    "outputs",
    "generated",
    "model_output",
    "model_response",
)
ID = ("example_id", "id", "ids")
WEIGHT = ("sample_weight", "sample_weights")
INDEX = ("", "Unnamed: 0", "index")
"""Names of the index of a frame in a file; it is never a label."""
SINGLE: dict[str, ScoreKind | None] = {
    "score": None,
    "y_score": None,
    "proba": "probability",
    "probability": "probability",
    "prob": "probability",
    "y_proba": "probability",
    "y_prob": "probability",
    "p": "probability",
    "logit": "logit",
    "decision_function": "decision",
}
"""Names of one score column, with the kind that the name declares."""
FAMILIES: dict[str, ScoreKind | None] = {"proba_": "probability", "prob_": "probability", "logit_": "logit"}
"""Prefixes of one score column per label."""
LOOSE: dict[str, ScoreKind | None] = {"p_": "probability", "score_": None}
"""Prefixes that count only if the rest of the name is a known label."""
ARRAYS = ("scores", "probs", "probabilities", "logits", "weights", "weight", "groups", "array")
PARTED = (*SPLITS, *FOLDS)
LABEL_NAMES = ("labels", "classes", "label_names", "class_names")
"""Arrays of an NPZ file; see `arrays`."""


@dataclass(frozen=True)
class Part:
    """The column, or one column per label, with a role.

    Parameters
    ----------
    columns : tuple of str
    labels : tuple of str
        The label of each column; empty for one plain column.
    kind : str, optional
        The kind of score that the name declares.
    pattern : str
        The name with ``*`` for the label, if there are several columns.

    Examples
    --------
    >>> Part(("proba_ham", "proba_spam"), ("ham", "spam"), pattern="proba_*").display_name
    'proba_* (2 columns)'
    """

    columns: tuple[str, ...]
    labels: tuple[str, ...] = ()
    kind: ScoreKind | None = None
    pattern: str = ""

    @property
    def display_name(self) -> str:
        """Name of the part in messages."""
        several = f"{self.pattern} ({len(self.columns)} columns)"
        return several if len(self.columns) > 1 else self.columns[0]


@dataclass(frozen=True)
class Roles:
    """The columns of each role: labels, predictions, scores, and the column of generated responses.

    `decision` has the reasons. `names` has the labels with their names in the predictions, if the data prove
    them.
    """

    truth: Part
    pred: Part | None = None
    score: Part | None = None
    text: str | None = None
    decision: ColumnDecision | None = None
    names: tuple[tuple[str, str], ...] = ()


def column_selector(request: Columns) -> Select:
    """Return the selector of columns that can have a role: only these are read from the file.

    Examples
    --------
    >>> sorted(column_selector(Columns(score="score_lr"))(["y_true", "score_lr", "score_nb", "age"]))
    ['score_lr', 'y_true']
    """
    common = {*ID, *INDEX, *WEIGHT, *ARRAYS, *LABEL_NAMES, *TEXT}
    open_to = {"truth"} if request.truth is None else set()
    open_to |= {"prediction"} if request.pred is None else set()
    prefixes = ["true_", "pred_"]
    if not (request.are_scores_named or request.no_scores):
        common.update(SINGLE)
        open_to |= {"score"}
        prefixes += [*FAMILIES, *LOOSE]
    exact = common.union(request.named_columns)
    patterns = [name.partition("*")[::2] for name in request.named_columns if "*" in name]
    patterns += [(prefix, "") for prefix in prefixes]

    def select(names: Sequence[str]) -> Collection[str]:
        return [
            name
            for name in names
            if name in exact
            or name.lower() in PARTED
            or plain_name(name) in (*GRADES, *STATUS)
            or role(name) in open_to
            or any(name.startswith(a) and name.endswith(b) for a, b in patterns)
        ]

    return select


def named_part(names: Sequence[str], column: str, option: str, file: str) -> Part:
    """Return the part that the user named, by name or by a pattern with one ``*``.

    Raises
    ------
    ColumnNotFoundError
        The column does not exist; the message lists the columns and the nearest name.
    """
    if column in names:
        return Part((column,))
    if column.count("*") != 1:
        raise missing_column(column, option, names, file)
    before, after = column.split("*")
    shortest = len(before) + len(after)
    columns = [
        name for name in names if name.startswith(before) and name.endswith(after) and len(name) > shortest
    ]
    if not columns:
        raise ColumnNotFoundError(
            f"no column of {file} matches {column}",
            fix=f"columns are: {list_names(names)}. Use {option} PATTERN",
        )
    labels = tuple(name[len(before) : len(name) - len(after)] for name in columns)
    return Part(tuple(columns), labels, {**FAMILIES, **LOOSE}.get(before), column)


def no_truth(names: Sequence[str], request: Columns, file: str) -> ColumnNotFoundError | NoTableError:
    """Return the error of a table without a column of labels."""
    if len(names) == 1:
        return NoTableError(
            f"{file} has only one column, {list_names(names)}, and no true labels",
            fix="separate columns by a comma, semicolon, tab or |; labels in another file: --set "
            "truth_file=FILE",
        )
    taken = {*column_selector(Columns())(names), *request.named_columns}
    left = [name for name in names if name not in (*taken, *INDEX) and not name.endswith(("_id", "id"))]
    use = left[0] if len(left) == 1 else "COLUMN, or --set truth_file=FILE"
    return ColumnNotFoundError(
        f"no column of true labels in {file}; looked for y_true, label, target and true_<label>",
        fix=f"columns are: {list_names(names)}. Use --truth {use}",
    )


Affix = tuple[str, str]


_TRIED = 5
"""Labels from which affixes are derived: a class that was never scored may lack its column."""


def class_columns(names: Collection[str], labels: Collection[str]) -> Mapping[Affix, Mapping[str, str]]:
    """Return the sets of columns whose names differ only in the label, as label to column.

    The name is the label with a prefix and suffix: ``class_0``, ``p0``, ``setosa``, ``P(setosa)``. A set
    contains at least two labels, and all of them if its name has no word for scores.

    Examples
    --------
    >>> class_columns(["age", "p0", "p1"], ["0", "1"])
    {('p', ''): {'0': 'p0', '1': 'p1'}}
    """
    there = set(names)
    found: dict[Affix, Mapping[str, str]] = {}
    for affix in _affixes_around(names, labels):
        before, after = affix
        columns = {label: column for label in labels if (column := f"{before}{label}{after}") in there}
        if len(columns) >= 2 and (len(columns) == len(labels) or says_score(affix)):
            found[affix] = columns
    return found


def _affixes_around(names: Collection[str], labels: Collection[str]) -> Iterator[Affix]:
    seen = set()
    for label in sorted(filter(None, labels), key=len, reverse=True)[:_TRIED]:
        for name in names:
            start = name.find(label)
            while start >= 0:
                affix = name[:start], name[start + len(label) :]
                if affix not in seen and _is_apart(affix, label):
                    seen.add(affix)
                    yield affix
                start = name.find(label, start + 1)


def _is_apart(affix: Affix, label: str) -> bool:
    """Whether the label is a separate word in the name: not the ``a`` of ``age``."""
    before, after = affix
    follows = not before or not before[-1].isalnum() or (label.isdigit() and before[-1].isalpha())
    return follows and (not after or not after[0].isalnum())


def says_score(affix: Affix) -> bool:
    """Return whether the text around the label is a word for scores.

    Examples
    --------
    >>> says_score(("prob_class_", "")), says_score(("P(", ")")), says_score(("x", ""))
    (True, True, False)
    """
    joined = "_".join(affix)
    return is_like_score(joined) or words(joined)[:1] == ["p"]


def whole(affix: Affix, columns: Mapping[str, str], names: Sequence[str]) -> Mapping[str, str]:
    """Return a set of columns, with those of labels that do not occur if the name indicates scores."""
    before, after = affix
    if not before and not after:
        return columns
    there = {
        name[len(before) : len(name) - len(after)]: name
        for name in names
        if name.startswith(before)
        and name.endswith(after)
        and len(name) > len(before) + len(after)
        and _is_apart(affix, name[len(before) : len(name) - len(after)])
    }
    return there if says_score(affix) else columns


def describe_columns(affix: Affix, columns: Mapping[str, str]) -> str:
    """Return the name of a set of columns: a pattern, or the names if they are only the labels."""
    return "*".join(affix) if any(affix) else list_names(columns.values())


def kind_in(affix: Affix) -> ScoreKind | None:
    """Return the kind of score that the words around the label declare."""
    joined = "_".join(affix)
    return kind_of(joined) or ("probability" if words(joined)[:1] == ["p"] else None)


def family(names: Sequence[str], prefix: str, exclude: Collection[str] = ()) -> Part:
    """Return the columns with a common prefix, each named after a label.

    Examples
    --------
    >>> family(["y_true", "prob_a", "prob_b"], "prob_").labels
    ('a', 'b')
    """
    columns = [name for name in names if name.startswith(prefix) and name != prefix and name not in exclude]
    labels = tuple(name.removeprefix(prefix) for name in columns)
    return Part(tuple(columns), labels, {**FAMILIES, **LOOSE}.get(prefix), f"{prefix}*")


OR_NONE = ", or pass --set no_scores"


def named_scores(names: Sequence[str], request: Columns, known: Collection[str], file: str) -> Part:
    """Return the scores that the user named.

    Parameters
    ----------
    known : the known labels, as text

    Raises
    ------
    ColumnNotFoundError
        A named column does not exist.
    """
    if request.score is None:
        return named_part(names, str(request.scores), "--scores", file)
    if request.score not in names and (part := _matrix(names, request.score)):
        return part
    part = named_part(names, request.score, "--score", file)
    return _with_label(replace(part, kind=part.kind or kind_of(request.score)), known)


def score_candidates(
    columns: Mapping[str, Array], names: Sequence[str], known: Collection[str], *, single: bool, several: bool
) -> list[Part]:
    """Return possible scores of some labels: vectors, one column per label, and single columns.

    Parameters
    ----------
    columns : mapping from name to array
    names : sequence of str
        Columns of numbers without a role.
    known : the known labels, as text
    single : bool
        Whether each row has one label, so that scores may sum to 1.
    several : bool
        Whether there are more than two labels, which a single column cannot score.
    """
    found = [*_matrices(names), *_families(columns, names, known, single=single)]
    if not any(part.columns for part in found if not part.pattern.endswith("[*]")):
        places = {str(place) for place in range(len(known))}
        found += [part for part in _families(columns, names, places, single=single) if len(part.labels) > 1]
    loose = _loose(names, known)
    if loose is not None and not any(set(loose.columns) & set(part.columns) for part in found):
        found.append(loose)
    if not single or several:
        return found
    taken = {name for part in found for name in part.columns}
    alone = [name for name in names if name not in taken and not name.endswith("]")]
    return found + [
        _with_label(Part((name,), kind=SINGLE.get(name) or kind_of(name)), known) for name in alone
    ]


def _matrix(names: Sequence[str], name: str) -> Part | None:
    """Return the columns of the lists of one column: ``probs[0]``, ``probs[1]``."""
    columns = tuple(other for other in names if other.startswith(f"{name}[") and other.endswith("]"))
    labels = tuple(other[len(name) + 1 : -1] for other in columns)
    return Part(columns, labels, SINGLE.get(name) or kind_of(name), f"{name}[*]") if columns else None


def _matrices(names: Sequence[str]) -> list[Part]:
    heads = dict.fromkeys(name.partition("[")[0] for name in names if name.endswith("]") and "[" in name)
    return [part for part in (_matrix(names, head) for head in heads) if part is not None]


def _families(
    columns: Mapping[str, Array], names: Sequence[str], known: Collection[str], *, single: bool
) -> list[Part]:
    """Return the sets of score columns, one per label, by names and values.

    Columns named only after the classes, or without a word for scores, count if they are probabilities: in
    [0, 1], each row summing to one.
    """
    found: dict[tuple[str, ...], Part] = {}
    plain = [name for name in names if name in columns and not name.endswith("]")]
    for affix, some in class_columns(plain, known).items():
        every = whole(affix, some, plain)
        held = [columns[name] for name in every.values()]
        if says_score(affix) or (are_probabilities(held) if single else _are_predicted(affix, held)):
            kind: ScoreKind | None = kind_in(affix) or (None if says_score(affix) else "probability")
            part = Part(tuple(every.values()), tuple(every), kind, describe_columns(affix, every))
            found.setdefault(tuple(sorted(part.columns)), part)
    taken = {name for part in found.values() for name in part.columns}
    for prefix in FAMILIES:
        part = family(names, prefix, exclude=SINGLE)
        if part.columns and not taken & set(part.columns) and not _is_lone_name(part, known):
            alone = single and len(part.columns) == 1
            found[part.columns] = _with_label(Part(part.columns), known) if alone else part
    return list(found.values())


def _are_predicted(affix: Affix, held: Sequence[Array]) -> bool:
    """Whether columns named as predictions of several labels are scores: all in [0, 1], some between."""
    if len(held) < 2 or name_weights(" ".join(affix))["prediction"] < 2:
        return False
    inside = all(
        values.dtype.kind in "fiu" and (values >= 0).all() and (values <= 1).all() for values in held
    )
    return inside and any((values != np.rint(values)).any() for values in held)


def _is_lone_name(part: Part, known: Collection[str]) -> bool:
    """Whether the only column of a family has no label in its name: ``prob_label`` is read by its words."""
    return len(part.columns) == 1 and part.labels[0] not in known and role(part.columns[0]) == "score"


def _loose(names: Sequence[str], known: Collection[str]) -> Part | None:
    """Return ``p_<label>`` or ``score_<label>`` columns of known labels."""
    for prefix in LOOSE:
        part = family(names, prefix)
        pairs = [(c, label) for c, label in zip(part.columns, part.labels, strict=True) if label in known]
        if pairs:
            columns, labels = zip(*pairs, strict=True)
            return Part(columns, labels, part.kind, part.pattern)
    return None


def _with_label(part: Part, known: Collection[str]) -> Part:
    """Return a single column with the label at the end of its name: ``p_malignant`` scores ``malignant``.

    If only one label occurs, the name of the column may be the other one.
    """
    if part.labels:
        return part
    column = part.columns[0]
    kind = part.kind or SINGLE.get(column)
    for prefix, declared in {**FAMILIES, **LOOSE}.items():
        if column.startswith(prefix):
            label = column.removeprefix(prefix)
            other = prefix != "score_" and {label.isdigit()} == {name.isdigit() for name in known}
            is_label = label in known or (len(known) == 1 and other)
            return Part(part.columns, (label,) if is_label else (), kind or declared)
    return Part(part.columns, (), kind)
