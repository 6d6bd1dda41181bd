"""Which columns play which part, judged by their names alone.

Names are looked up in the order given here, and what was taken is always reported. A choice between
equals (several score columns) is never made: it is an error that lists them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evalreport.errors import ColumnNotFoundError, NoTableError
from evalreport.scores import ScoreKind
from evalreport.sources.readers.limits import Select
from evalreport.sources.request import Columns, listed, missing_column, several
from evalreport.sources.shapes.naming import FOLDS, GRADES, SPLITS, STATUS, Role, named_as, plain_name, role

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
"""What the index of a frame is called once it was written; it never is a label."""
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
"""What one score column per label begins with."""
LOOSE: dict[str, ScoreKind | None] = {"p_": "probability", "score_": None}
"""The same where the rest of the name is a known label; otherwise these are columns of anything."""
ARRAYS = ("scores", "probs", "probabilities", "logits", "weights", "weight", "groups", "array")
PARTED = (*SPLITS, *FOLDS)
LABEL_NAMES = ("labels", "classes", "label_names", "class_names")
"""Arrays of an NPZ file; see `arrays`."""


@dataclass(frozen=True)
class Part:
    """The column, or one column per label, that plays a part.

    Parameters
    ----------
    columns : tuple of str
    labels : tuple of str
        The label of each column; empty for one plain column.
    kind : str, optional
        The kind of score that the name declares.
    pattern : str
        The name with ``*`` for the label, where there are several columns.

    Examples
    --------
    >>> Part(("proba_ham", "proba_spam"), ("ham", "spam"), pattern="proba_*").shown
    'proba_* (2 columns)'
    """

    columns: tuple[str, ...]
    labels: tuple[str, ...] = ()
    kind: ScoreKind | None = None
    pattern: str = ""

    @property
    def shown(self) -> str:
        """How the part is named in messages."""
        several = f"{self.pattern} ({len(self.columns)} columns)"
        return several if len(self.columns) > 1 else self.columns[0]


def wanted(request: Columns) -> Select:
    """Return the choice of columns that could play a part: only these are read from the file.

    Examples
    --------
    >>> sorted(wanted(Columns(score="score_lr"))(["y_true", "score_lr", "score_nb", "age"]))
    ['score_lr', 'y_true']
    """
    common = {*ID, *INDEX, *WEIGHT, *ARRAYS, *LABEL_NAMES, *TEXT}
    open_to = {"truth"} if request.truth is None else set()
    open_to |= {"prediction"} if request.pred is None else set()
    prefixes = ["true_", "pred_"]
    if request.score is None and request.scores is None and not request.no_scores:
        common.update(SINGLE)
        open_to |= {"score"}
        prefixes += [*FAMILIES, *LOOSE]
    exact = common.union(request.named)
    patterns = [name.partition("*")[::2] for name in request.named if "*" in name]
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
    """Return the part that the user named, by name or by a pattern with one star.

    Raises
    ------
    ColumnNotFoundError
        Lists what is there, with the nearest name.
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
            f"no column of {file} is like {column}", fix=f"columns are: {listed(names)}. Use {option} PATTERN"
        )
    labels = tuple(name[len(before) : len(name) - len(after)] for name in columns)
    return Part(tuple(columns), labels, {**FAMILIES, **LOOSE}.get(before), column)


def truth_part(names: Sequence[str], request: Columns, file: str) -> Part:
    """Return the part of the true labels.

    Raises
    ------
    ColumnNotFoundError
        Nothing was named and no column has a common name.
    """
    if request.truth is not None:
        return named_part(names, request.truth, "--truth", file)
    single = _single("truth", [name for name in names if name not in request.answers], TRUTH, "--truth")
    matrix = family(names, "true_", exclude=TRUTH)
    paired = {f"{prefix}{label}" for prefix in ("pred_", *FAMILIES) for label in matrix.labels}
    paired &= set(names)
    if matrix.columns and (len(matrix.columns) > 1 or paired):
        outnumbered = single is not None and single.columns[0] not in TRUTH and len(paired) > 1
        if single is None or outnumbered or request.task == "multilabel":
            single = matrix
    if single is None:
        raise _no_truth(names, request, file)
    return single


def _single(part: Role, names: Sequence[str], usual: Sequence[str], option: str) -> Part | None:
    found = named_as(part, names, usual)
    if len(found) > 1:
        raise several(found, f"columns could be the {part}", option)
    return Part(found) if found else None


def _no_truth(names: Sequence[str], request: Columns, file: str) -> ColumnNotFoundError | NoTableError:
    if len(names) == 1:
        return NoTableError(
            f"{file} holds one column, {listed(names)}, and no truth beside it",
            fix="separate columns by a comma, semicolon, tab or |; truth of another file: --truth-file FILE",
        )
    taken = {*wanted(Columns())(names), *request.named}
    left = [name for name in names if name not in (*taken, *INDEX) and not name.endswith(("_id", "id"))]
    use = left[0] if len(left) == 1 else "COLUMN, or --truth-file FILE"
    return ColumnNotFoundError(
        f"no column of true labels is in {file} (y_true, label, target or true_<label>)",
        fix=f"columns are: {listed(names)}. Use --truth {use}",
    )


def pred_part(
    names: Sequence[str], request: Columns, truth: Part, file: str, *, multilabel: bool = False
) -> Part | None:
    """Return the part of the predicted labels, or None where there is none.

    Raises
    ------
    ColumnNotFoundError
        A named column is not there.
    """
    if request.pred is not None:
        return named_part(names, request.pred, "--pred", file)
    free = [name for name in names if name not in truth.columns]
    single = _single("prediction", [name for name in free if name not in request.answers], PRED, "--pred")
    matrix = family(free, "pred_", exclude=PRED) if multilabel else Part(())
    if truth.labels:
        return matrix if set(matrix.labels) & set(truth.labels) else single
    return single or (matrix if matrix.columns else None)


def family(names: Sequence[str], prefix: str, exclude: Collection[str] = ()) -> Part:
    """Return the columns that begin alike, each named after a label.

    Examples
    --------
    >>> family(["y_true", "prob_a", "prob_b"], "prob_").labels
    ('a', 'b')
    """
    columns = [name for name in names if name.startswith(prefix) and name != prefix and name not in exclude]
    labels = tuple(name.removeprefix(prefix) for name in columns)
    return Part(tuple(columns), labels, {**FAMILIES, **LOOSE}.get(prefix), f"{prefix}*")
