"""The user's options about the columns; roles without an option are found by name and contents."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from evalreport.core.errors import ColumnNotFoundError, DataError, EvalreportError, UsageError, some_of
from evalreport.data.arrays import BINS, check_bins
from evalreport.data.labels import Label, Task
from evalreport.data.predictions import WeightKind
from evalreport.data.scores import ScoreKind
from evalreport.readers.csv import decode
from evalreport.readers.limits import load

MAX_SHOWN = 20
"""Most column names in a message."""
MANY = 5
"""Column names with a common prefix that are shown as one."""


@dataclass(frozen=True)
class GradeColumns:
    """Columns of items with a grade instead of labels.

    Parameters
    ----------
    grade : str, optional
        The grade of each attempt; by default found by its name and values.
    repeat : str, optional
        The number of the repeat, if items were attempted several times.
    measures : tuple of str
        Numbers such as cost, latency and tokens.
    passing : str, optional
        Condition for a pass, such as ``>=4``.
    judge, human : str, optional
        Grades by a model for all items, and by people for some.
    """

    grade: str | None = None
    repeat: str | None = None
    measures: tuple[str, ...] = ()
    passing: str | None = None
    judge: str | None = None
    human: str | None = None

    @property
    def assigned_columns(self) -> tuple[str, ...]:
        """All named columns."""
        named = (self.grade, self.judge, self.human, self.repeat, *self.measures)
        return tuple(name for name in named if name is not None)

    @property
    def main_grade(self) -> str | None:
        """The named column of grades; with a judge the judge's."""
        return self.grade or self.judge


@dataclass(frozen=True)
class Columns:
    """The columns of each role, as far as the user named them.

    Parameters
    ----------
    truth, pred : str, optional
        A column of labels or of lists of labels; or a pattern with one ``*``, for one 0/1 column per label.
    score : str, optional
        One column of scores: P(positive) of a binary problem, or its logit or margin.
    scores : str, optional
        A pattern with one ``*``: one score column per label, named by the text at the ``*``.
    text : str, optional
        Generated responses, from which labels are parsed.
    id, weight, example_text : str, optional
        Ids of rows; weights; texts that the report may show.
    group : str or tuple of str, optional
        Groups of rows: rows with the same value in this column, or in all of several columns.
    slices : tuple of str
        Columns whose values divide the rows into groups of interest.
    slice_bins : int
        Quantile bins of a numeric column of `slices` with more than 20 values; 0 keeps each value.
    task : str, optional
        ``binary``, ``multiclass`` or ``multilabel``; by default it follows from the labels.
    positive : str, optional
        Positive label of a binary problem; by default the greater of the two.
    labels : tuple of str or int, optional
        The declared label set, in order; by default the labels that occur.
    score_kind : str, optional
        ``probability``, ``logit`` or ``decision``.
    batch_axis : bool
        Whether arrays (NPZ, NPY) start with a batch axis, ``[batch, n, …]``, which is flattened to rows.
    list_separator : str, optional
        Separator of the labels in a multilabel text cell: ``joy|anger``.
    no_scores : bool
        Whether to ignore all score columns.
    where : tuple of str
        Conditions for rows, each ``COLUMN=VALUE`` or ``COLUMN!=VALUE``; rows that meet all are kept.
    missing : str, optional
        ``wrong``: a row without a prediction counts as an unparsed prediction.
    weight_kind : {"sampling", "count"}
        Whether weights are relative, or numbers of equal rows.
    several_answers : bool
        Whether rows with the same id, or a list in a cell, are several responses to one row.
    label_names : tuple of (label, name)
        Display names of labels; predictions and score columns may use them.
    graded : GradeColumns
        Columns of items with a grade instead of labels.

    Examples
    --------
    >>> Columns(truth="diagnosis", score="p_malignant", positive="malignant").truth
    'diagnosis'
    """

    truth: str | None = None
    pred: str | None = None
    score: str | None = None
    scores: str | None = None
    text: str | None = None
    id: str | None = None
    group: str | tuple[str, ...] | None = None
    fold: str | None = None
    weight: str | None = None
    slices: tuple[str, ...] = ()
    slice_bins: int = BINS
    example_text: str | None = None
    task: Task | None = None
    positive: Label | None = None
    labels: tuple[Label, ...] | None = None
    score_kind: ScoreKind | None = None
    batch_axis: bool = False
    list_separator: str | None = None
    no_scores: bool = False
    where: tuple[str, ...] = ()
    missing: Literal["wrong"] | None = None
    weight_kind: WeightKind = "sampling"
    several_answers: bool = False
    label_names: tuple[tuple[str, str], ...] = ()
    graded: GradeColumns = GradeColumns()

    def __post_init__(self) -> None:
        check_bins(self.slice_bins)
        if self.list_separator == "":
            raise UsageError(
                "the separator is empty",
                where="--set list_separator",
                fix="write --set list_separator='|'",
            )
        for clause in self.where:
            if not split_clause(clause)[0] or "=" not in clause:
                raise UsageError(
                    f"--where {clause} is not a condition", fix="write --where COLUMN=VALUE or COLUMN!=VALUE"
                )
        if self.no_scores and (self.score or self.scores):
            raise UsageError("scores are named and --set no_scores is given", fix="pass one of them")
        if self.score is not None and self.scores is not None:
            raise UsageError(
                "both --score and --scores are given",
                fix="--score names one column, --scores one per label; pass one of them",
            )
        if self.scores is not None and self.scores.count("*") != 1:
            raise UsageError(
                f"--scores {self.scores} must contain one *",
                fix="write one * in place of the label, as in --scores 'proba_*'",
            )

    @property
    def named_columns(self) -> tuple[str, ...]:
        """All named columns and patterns, in order."""
        return (*self.assigned_columns, *self.filtered_columns)

    @property
    def assigned_columns(self) -> tuple[str, ...]:
        """All columns and patterns with a named role, in order, without those of conditions on rows."""
        single = (self.truth, self.pred, self.score, self.scores, self.text, self.id)
        beside = (
            *self.groups,
            self.fold,
            self.weight,
            self.example_text,
            *self.slices,
            *self.graded.assigned_columns,
        )
        return tuple(name for name in (*single, *beside) if name is not None)

    @property
    def filtered_columns(self) -> tuple[str, ...]:
        """The columns in the conditions of `where`."""
        return tuple(split_clause(clause)[0] for clause in self.where)

    @property
    def answers(self) -> tuple[str, ...]:
        """The named columns of predictions, scores, responses and ids."""
        return tuple(filter(None, (self.pred, self.score, self.scores, self.text, self.id)))

    @property
    def are_scores_named(self) -> bool:
        """Whether the user named scores, which excludes all others."""
        return self.score is not None or self.scores is not None

    @property
    def groups(self) -> tuple[str, ...]:
        """The columns that have equal values within a group of rows."""
        return (self.group,) if isinstance(self.group, str) else self.group or ()


def split_clause(clause: str) -> tuple[str, str, bool]:
    """Return column and value of a condition of ``--where``, and whether rows with the value are kept.

    Examples
    --------
    >>> split_clause("split = test"), split_clause("label!=-100")
    (('split', 'test', True), ('label', '-100', False))
    """
    column, _, value = clause.partition("=")
    return column.removesuffix("!").strip(), value.strip(), not column.endswith("!")


def list_names(names: Iterable[str]) -> str:
    """Return column names for a message, at most twenty; many with a common prefix are shown as one.

    Examples
    --------
    >>> list_names(["case_id", "diagnosis"])
    'case_id, diagnosis'
    >>> list_names(["id", *(f"proba_{label}" for label in range(77))])
    'id, proba_* (77)'
    >>> list_names(["", "score"])
    '(no name), score'
    """
    known = [name or "(no name)" for name in names]
    if len(known) > MAX_SHOWN:
        heads = Counter(name.partition("_")[0] for name in known if "_" in name)
        several = {head: f"{head}_* ({count})" for head, count in heads.items() if count >= MANY}
        known = list(dict.fromkeys(several.get(name.partition("_")[0], name) for name in known))
    return some_of(known, MAX_SHOWN)


def missing_column(column: str, option: str, names: Iterable[str], file: str) -> ColumnNotFoundError:
    """Return the error of a named column that does not exist.

    Examples
    --------
    >>> print(missing_column("diagnosys", "--truth", ["id", "diagnosis"], "p.csv").as_lines())
    error: column "diagnosys" is not in p.csv
      fix  columns are: id, diagnosis. Use --truth diagnosis
    """
    known = list(names)
    use = option_text(option, next(iter(get_close_matches(column, known)), "COLUMN"))
    return ColumnNotFoundError(
        f'column "{column}" is not in {file}', fix=f"columns are: {list_names(known)}. Use {use}"
    )


def option_text(option: str, value: str) -> str:
    """Return an option or a setting with its value.

    Examples
    --------
    >>> option_text("--truth", "y"), option_text("--set weight", "w")
    ('--truth y', '--set weight=w')
    """
    return f"{option}{'=' if option.startswith('--set ') else ' '}{value}"


def several(found: Sequence[str], what: str, option: str, example: str = "", more: str = "") -> UsageError:
    """Return the error of several possible names.

    Examples
    --------
    >>> error = several(["a", "b"], "arrays could be the truth", "--truth")
    >>> error.message, error.fix
    ('2 arrays could be the truth: a, b', 'say which with --truth, as in --truth a')
    """
    return UsageError(
        f"{len(found)} {what}: {list_names(found)}",
        fix=f"say which with {option}, as in {option_text(option, example or found[0])}{more}",
    )


def read_labels(spec: str) -> tuple[Label, ...]:
    """Return the label set of ``--labels``: ``A,B,…``, or ``@FILE`` with a JSON list or one label per line.

    Raises
    ------
    FileMissingError, DataError
        The file is missing, is not UTF-8, or does not contain a list of labels.
    UsageError
        The list is empty.

    Examples
    --------
    >>> read_labels("ham, spam")
    ('ham', 'spam')
    """
    if spec.startswith("@"):
        labels = _labels_of_file(Path(spec[1:]))
    else:
        labels = tuple(label.strip() for label in spec.split(",") if label.strip())
    if not labels:
        raise UsageError(f"--labels {spec} contains no label", fix="write --labels A,B or --labels @FILE")
    return labels


def _labels_of_file(path: Path) -> tuple[Label, ...]:
    try:
        text = decode(load(path))
    except EvalreportError as error:
        raise error.with_location(f"--labels @{path}") from error
    if not text.lstrip().startswith("["):
        return tuple(line.strip() for line in text.splitlines() if line.strip())
    try:
        labels = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(
            "the label file is not valid JSON", where=str(path), fix="write a JSON list, or one label a line"
        ) from error
    for position, label in enumerate(labels):
        if not isinstance(label, (str, int)):
            raise DataError(
                f"label {position} of the list is {type(label).__name__}, not text or a whole number",
                where=str(path),
                fix="write a JSON list of names",
            )
    return tuple(labels)
