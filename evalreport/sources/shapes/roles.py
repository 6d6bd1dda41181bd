"""Which columns play which part, judged by their names alone.

Names are looked up in the order given here, and what was taken is always reported. A choice between
equals (several score columns) is never made: it is an error that lists them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evalreport.errors import ColumnNotFoundError, UsageError
from evalreport.scores import ScoreKind
from evalreport.sources.readers.limits import Select
from evalreport.sources.request import Columns, listed, missing_column

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
TEXT = ("generation", "generated_text", "completion", "response", "answer", "output")
ID = ("example_id", "id", "ids")
WEIGHT = ("sample_weight", "sample_weights")
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
    >>> sorted(wanted(Columns(score="score_lr"))(["y_true", "score_lr", "score_nb", "fold"]))
    ['score_lr', 'y_true']
    """
    common = {*ID, *WEIGHT, *ARRAYS, *LABEL_NAMES}
    common.update(() if request.truth else TRUTH, () if request.pred else PRED, TEXT)
    prefixes = ["true_", "pred_"]
    if request.score is None and request.scores is None:
        common.update(SINGLE)
        prefixes += [*FAMILIES, *LOOSE]
    exact = common.union(request.named)
    patterns = [name.partition("*")[::2] for name in request.named if "*" in name]
    patterns += [(prefix, "") for prefix in prefixes]

    def select(names: Sequence[str]) -> Collection[str]:
        return [
            name
            for name in names
            if name in exact or any(name.startswith(a) and name.endswith(b) for a, b in patterns)
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
    single = next((Part((name,)) for name in TRUTH if name in names), None)
    matrix = _family(names, "true_", exclude=TRUTH)
    paired = {f"{prefix}{label}" for prefix in ("pred_", *FAMILIES) for label in matrix.labels}
    if matrix.columns and (len(matrix.columns) > 1 or paired & set(names)):
        single = matrix if single is None or request.task == "multilabel" else single
    if single is None:
        raise _no_truth(names, file)
    return single


def _no_truth(names: Sequence[str], file: str) -> ColumnNotFoundError:
    taken = wanted(Columns())(names)
    left = [name for name in names if name not in taken and not name.endswith(("_id", "id")) and name]
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
    single = next((Part((name,)) for name in PRED if name in free), None)
    matrix = _family(free, "pred_", exclude=PRED) if multilabel else Part(())
    if truth.labels:
        return matrix if set(matrix.labels) & set(truth.labels) else single
    return single or (matrix if matrix.columns else None)


def score_part(
    names: Sequence[str], request: Columns, known: Collection[str], file: str, *, single: bool = True
) -> Part | None:
    """Return the part of the scores, or None where there is none.

    Parameters
    ----------
    known : the labels that are known so far, as text
    single : bool
        Whether one column can score the problem; a multilabel problem needs one per label.

    Raises
    ------
    UsageError
        Several columns could be meant.
    ColumnNotFoundError
        A named column is not there.
    """
    if request.score is not None:
        part = named_part(names, request.score, "--score", file)
        return _with_label(part, known)
    if request.scores is not None:
        return named_part(names, request.scores, "--scores", file)
    free = [name for name in names if name not in request.named]
    families = [
        part for part in (_family(free, prefix, exclude=SINGLE) for prefix in FAMILIES) if part.columns
    ]
    if len(families) > 1:
        raise _several([part.shown for part in families], "--scores", f"'{families[0].pattern}'")
    if families:
        alone = single and len(families[0].columns) == 1
        return _with_label(Part(families[0].columns), known) if alone else families[0]
    return _loose(free, known) or (_one_of(free, known) if single else None)


def _loose(names: Sequence[str], known: Collection[str]) -> Part | None:
    """Return ``p_<label>`` or ``score_<label>`` columns of known labels."""
    for prefix in LOOSE:
        part = _family(names, prefix)
        pairs = [(c, label) for c, label in zip(part.columns, part.labels, strict=True) if label in known]
        if pairs:
            columns, labels = zip(*pairs, strict=True)
            return Part(columns, labels, part.kind, part.pattern)
    return None


def _one_of(names: Sequence[str], known: Collection[str]) -> Part | None:
    """Return the one column that is called a score, or of a binary problem the only ``score_…``."""
    if len(known) > 2:
        return None
    singles = [name for name in names if name in SINGLE] or _family(names, "score_").columns
    if len(singles) > 1:
        raise _several(singles, "--score", singles[0])
    return Part((singles[0],), kind=SINGLE.get(singles[0])) if singles else None


def _several(candidates: Sequence[str], option: str, example: str) -> UsageError:
    return UsageError(
        f"{len(candidates)} sets of scores could be meant: {listed(candidates)}"
        if option == "--scores"
        else f"{len(candidates)} columns could be the score: {listed(candidates)}",
        fix=f"say which with {option}, as in {option} {example}",
    )


def _with_label(part: Part, known: Collection[str]) -> Part:
    """Give one named column the label that its name ends in: ``p_malignant`` scores ``malignant``.

    Where one label occurs alone, the name of the column may be the other one.
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


def _family(names: Sequence[str], prefix: str, exclude: Collection[str] = ()) -> Part:
    columns = [name for name in names if name.startswith(prefix) and name != prefix and name not in exclude]
    labels = tuple(name.removeprefix(prefix) for name in columns)
    return Part(tuple(columns), labels, {**FAMILIES, **LOOSE}.get(prefix), f"{prefix}*")
