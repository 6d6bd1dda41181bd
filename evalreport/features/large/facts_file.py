"""Statistics as bytes: one row of an Arrow IPC file, a list for each array, so that any tool can read it.

Other values are JSON in the schema's metadata, with a version and the digest of the labels. Bytes
are untrusted and checked: lengths, ranges, order, totals and the digest.

Statistics files: written for one set of predictions, and added up for a report of all of them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import Columns
from evalreport.core.errors import DataError, EvalreportError, UsageError
from evalreport.core.result import Provenance
from evalreport.data.arrays import BINS
from evalreport.data.labels import Binary, LabelSpace, Multiclass, Multilabel, rename_labels
from evalreport.data.predictions import Origin, Threshold
from evalreport.data.scores import ScoreKind, on_scale
from evalreport.evaluation.data_checks import table_facts
from evalreport.evaluation.evaluate import Observed
from evalreport.features.large.collect_batches import binned_note, table_in
from evalreport.features.large.second_pass import LabelTables
from evalreport.intervals.interval_settings import by_rows
from evalreport.readers.content import in_file
from evalreport.readers.limits import load
from evalreport.statistics.class_scores import ClassBins, ClassScores
from evalreport.statistics.confusion import BinaryCounts, Counts
from evalreport.statistics.score_table import BinnedTable, ScoreTable, bins_of, edges_of
from evalreport.statistics.summary import LabelMoments, RowSums, Summary, decide_at, merge, summarise
from evalreport.thresholds.sweep import Sweep
from evalreport.tracking.folder import write_file
from evalreport.workflow.evaluate import choose_threshold, decide_rows, number_of
from evalreport.workflow.items import Item
from evalreport.workflow.request import ENDING, CollectedFacts, MadeOfFacts, Request

VERSION = 2
"""Version of the file format; other versions are refused."""
KEY = b"evalreport.facts"
"""Of the metadata."""
SEAL = b"evalreport.facts.sha256"
"""Digest of the rest: a file that was cut off, or edited by hand, is not believed."""
CLOSE = 1e-9
"""Share by which sums of weights may differ from their total by rounding."""

Arrays = dict[str, npt.NDArray[Any]]
ARRAYS: Mapping[type, tuple[str, ...]] = {
    Counts: ("cells", "weight"),
    BinaryCounts: ("tp", "fp", "fn", "tn", "unread", "threshold", "unread_positive"),
    ScoreTable: ("scores", "pos", "neg"),
    BinnedTable: ("scores", "pos", "neg"),
    ClassScores: ("scores", "truth", "weights"),
    ClassBins: ("weight", "probability", "positives"),
    RowSums: ("sums", "squares"),
    LabelMoments: ("sums", "products"),
    LabelTables: (
        *("scores", "pos", "neg", "lengths", "always"),
        *("shards", "kept_rows", "kept_scores", "kept_truth"),
    ),
}
"""The arrays of each kind of statistics."""
KINDS = {kind.__name__: kind for kind in ARRAYS}
PARTS = ("tally", "counts", "scores", "confidence", "bins", "cardinality", "together")


def to_bytes(summary: Summary) -> bytes:
    """Return the statistics of a set of predictions as an Arrow IPC file of one row.

    Examples
    --------
    >>> one = Summary(Binary(0, 1), rows=2, weight=2.0, tally=RowSums.from_rows({}, np.ones(2)))
    >>> from_bytes(to_bytes(one)).rows
    2
    """
    import pyarrow as pa

    arrays: Arrays = {}
    parts: dict[str, Any] = {}
    point = summary.threshold
    for name in PARTS:
        fact = getattr(summary, name)
        if fact is None:
            continue
        held = _fact_arrays(fact)
        arrays |= {f"{name}.{key}": array for key, array in held.items()}
        shapes = {key: array.shape for key, array in held.items()}
        parts[name] = {"kind": type(fact).__name__, "shapes": shapes, **_fact_fields(fact)}
    head = {
        "version": VERSION,
        "labels_sha256": _digest(summary.space),
        **_space(summary.space),
        "rows": summary.rows,
        "weight": summary.weight,
        "score_kind": summary.score_kind,
        "threshold": None if point is None else [point.value, point.origin],
        "parts": parts,
    }
    header = json.dumps(head).encode()
    schema = {KEY: header, SEAL: _seal(header, arrays)}
    lists = [_list(pa, array.ravel()) for array in arrays.values()]
    table = pa.table(dict(zip(arrays, lists, strict=True))).replace_schema_metadata(schema)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    found: bytes = sink.getvalue().to_pybytes()
    return found


def from_bytes(data: bytes) -> Summary:
    """Return the statistics in the bytes of a file.

    Raises
    ------
    DataError
        They are not a statistics file, of another version, or inconsistent.
    """
    import pyarrow as pa

    try:
        with pa.ipc.open_file(pa.BufferReader(data)) as reader:
            if KEY not in (reader.schema.metadata or {}) or reader.num_record_batches != 1:
                raise _no_facts("they were not written by evalreport")
            header, seal = (reader.schema.metadata.get(key, b"") for key in (KEY, SEAL))
            head = json.loads(header)
            _check_version(head)
            batch = reader.get_batch(0)
            batch.validate(full=True)
            arrays = {name: _array(batch.column(name)) for name in reader.schema.names}
            if _seal(header, arrays) != seal:
                raise _no_facts("they were changed")
            made = _summary(head, arrays)
    except EvalreportError:
        raise
    except (
        *(pa.ArrowException, ValueError, KeyError, TypeError, IndexError, AttributeError, OSError),
        *(RecursionError, OverflowError, MemoryError),
    ) as error:
        raise _no_facts(" ".join(str(error).split())[:120] or type(error).__name__) from error
    return made


def _seal(header: bytes, arrays: Arrays) -> bytes:
    digest = hashlib.sha256(header)
    for name, array in arrays.items():
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest().encode()


def _no_facts(why: str) -> DataError:
    return DataError(f"this is not a statistics file: {why}", fix="create it again from the predictions")


def _check_version(head: Any) -> None:
    version = head.get("version") if isinstance(head, dict) else None
    if version != VERSION:
        raise DataError(
            f"the statistics file has version {version!a:.20}; this evalreport reads {VERSION}",
            fix="create it again from the predictions",
        )


def _fact_arrays(fact: Any) -> Arrays:
    """The arrays of one kind of statistics; those of counts have equal lengths."""
    if isinstance(fact, LabelTables):
        return fact.arrays()
    held = {
        key: np.asarray(getattr(fact, key)) for key in ARRAYS[type(fact)] if getattr(fact, key) is not None
    }
    if isinstance(fact, BinaryCounts):
        return {key: np.broadcast_to(array, np.shape(fact.tp)) for key, array in held.items()}
    return held


def _fact_fields(fact: Any) -> dict[str, Any]:
    """The values of one kind of statistics other than its arrays."""
    match fact:
        case Counts():
            return {"size": fact.size}
        case RowSums():
            return {"names": fact.names, "weight": fact.weight}
        case LabelMoments():
            return {"rows": fact.rows}
        case _:
            return {}


def _list(pa: Any, values: npt.NDArray[Any]) -> Any:
    flat = pa.array(np.ascontiguousarray(values))
    return pa.LargeListArray.from_arrays(pa.array([0, len(flat)], pa.int64()), flat)


def _array(column: Any) -> npt.NDArray[Any]:
    """The numbers of a list, as they are stored."""
    flat = column.flatten()
    if len(column) != 1 or column.null_count or flat.null_count:
        raise ValueError("a list with missing values")
    found: npt.NDArray[Any] = flat.to_numpy(zero_copy_only=False)
    return found


def _space(space: LabelSpace) -> dict[str, Any]:
    ordered = isinstance(space, Multiclass) and space.ordered
    return {"task": space.task, "labels": space.labels, "ordered": ordered}


def _digest(space: LabelSpace) -> str:
    return hashlib.sha256(json.dumps(_space(space)).encode()).hexdigest()


def _labels(head: Mapping[str, Any]) -> LabelSpace:
    labels = tuple(head["labels"])
    if not all(isinstance(label, (str, int)) for label in labels):
        raise ValueError("invalid labels")
    makers: Mapping[str, Callable[[], LabelSpace]] = {
        "binary": lambda: Binary(*labels),
        "multiclass": lambda: Multiclass(labels, ordered=bool(head["ordered"])),
        "multilabel": lambda: Multilabel(labels),
    }
    space = makers[head["task"]]()
    if _digest(space) != head["labels_sha256"]:
        raise ValueError("the labels do not match their digest")
    return space


def _summary(head: Mapping[str, Any], arrays: Arrays) -> Summary:
    space, rows, weight = _labels(head), head["rows"], float(head["weight"])
    if not (isinstance(rows, int) and rows >= 0 and np.isfinite(weight) and weight >= 0):
        raise ValueError("an invalid number of rows or weight")
    if head["score_kind"] not in (None, *get_args(ScoreKind)):
        raise ValueError("an unknown kind of scores")
    parts = {name: _fact(name, part, arrays) for name, part in head["parts"].items()}
    if not parts.keys() <= {*PARTS} or not isinstance(parts.get("tally"), RowSums):
        raise ValueError("unknown parts, or no row sums")
    made = Summary(
        space=space,
        rows=rows,
        weight=weight,
        score_kind=head["score_kind"],
        threshold=_threshold(head["threshold"]),
        **parts,
    )
    _check_together(made)
    return made


def _threshold(stored: Any) -> Threshold | None:
    if stored is None:
        return None
    value, origin = stored
    if origin not in get_args(Origin):
        raise ValueError("a threshold of unknown origin")
    return Threshold(tuple(map(float, value)) if isinstance(value, list) else float(value), origin)


def _fact(name: str, part: Mapping[str, Any], arrays: Arrays) -> Any:
    kind = KINDS[part["kind"]]
    held = {key: arrays[f"{name}.{key}"].reshape(shape) for key, shape in part["shapes"].items()}
    needed = {*ARRAYS[kind]} - ({"weights"} if kind is ClassScores else set())
    if not needed <= held.keys() <= {*ARRAYS[kind]}:
        raise ValueError(f"{name} lacks an array")
    for key, array in held.items():
        if array.dtype.kind not in "biuf" or (key != "threshold" and not np.isfinite(array).all()):
            raise ValueError(f"{name}.{key} has a value that is not a number")
    if kind is Counts:
        return _counts(Counts(int(part["size"]), **held))
    if kind is LabelMoments:
        return _moments(LabelMoments(float(part["rows"]), **held))
    if kind is LabelTables:
        return _label_tables(held)
    if kind is RowSums:
        return _row_sums(RowSums(tuple(map(str, part["names"])), **held, weight=float(part["weight"])))
    made = kind(**{"weights": None, **held} if kind is ClassScores else held)
    if len({array.shape for key, array in held.items() if kind is not ClassScores}) > 1:
        raise ValueError(f"arrays of {name} have several lengths")
    if isinstance(made, ScoreTable):
        _check_table(made)
    if isinstance(made, BinnedTable) and (edges_of(bins_of(made.scores)) != made.scores).any():
        raise ValueError("scores that are not edges of bins")
    return made


def _moments(moments: LabelMoments) -> LabelMoments:
    size = len(moments.sums)
    if moments.products.shape != (size, size) or (moments.products.diagonal() != moments.sums).any():
        raise ValueError("sums and products of different flags")
    return moments


def _label_tables(held: Arrays) -> LabelTables:
    found = LabelTables.of_arrays(held)
    for table in found.tables:
        _check_table(table)
    rows, width = len(found), found.size
    if any(table.total != rows for table in found.tables[:-1]) or held["kept_scores"].shape[1] != width:
        raise ValueError("tables of different rows or labels")
    if held["shards"][0].sum() != rows or held["kept_truth"].shape != held["kept_scores"].shape:
        raise ValueError("rows of different shards")
    return found


def _check_table(table: ScoreTable) -> None:
    if table.scores.ndim != 1 or (np.diff(table.scores) <= 0).any():
        raise ValueError("scores that do not ascend")
    if (table.pos < 0).any() or (table.neg < 0).any():
        raise ValueError("weights below zero")


def _counts(counts: Counts) -> Counts:
    cells = counts.cells
    if counts.size < 1 or cells.shape != counts.weight.shape or cells.ndim != 1 or cells.dtype.kind != "i":
        raise ValueError("negative cells")
    inside = len(cells) == 0 or (cells[0] >= 0 and cells[-1] < counts.size * (counts.size + 1))
    if not inside or (np.diff(cells) <= 0).any() or (counts.weight < 0).any():
        raise ValueError("cells outside of the matrix")
    return counts


def _row_sums(row_sums: RowSums) -> RowSums:
    shapes = {row_sums.sums.shape, row_sums.squares.shape}
    if shapes != {(len(row_sums.names),)} or not np.isfinite(row_sums.weight):
        raise ValueError("row sums with unequal numbers of names and sums")
    return row_sums


def _is_of(fact: Any, made: Summary) -> bool:
    """Whether what holds its own number of rows and labels has those of the whole."""
    match fact:
        case ClassScores() | LabelTables():
            return (len(fact), fact.size) == (made.rows, len(made.space))
        case LabelMoments():
            return (fact.rows, len(fact.sums)) == (made.rows, 3 * len(made.space))
        case _:
            return True


def _check_together(made: Summary) -> None:
    """The parts are of one set of predictions: their totals are its weight, their labels its labels."""
    totals = {"tally": made.tally.weight}
    for name in PARTS[1:]:
        fact = getattr(made, name)
        if isinstance(fact, (Counts, ScoreTable)):
            totals[name] = fact.total
        elif isinstance(fact, BinaryCounts) and not np.allclose(fact.total, made.weight, rtol=CLOSE):
            raise ValueError(f"{name} does not add up to the weight")
        elif not _is_of(fact, made):
            raise ValueError(f"{name} has different rows or labels")
    wrong = [name for name, total in totals.items() if abs(total - made.weight) > CLOSE * max(made.weight, 1)]
    if wrong:
        raise ValueError(f"{wrong[0]} does not add up to the weight")
    size = len(made.space)
    if isinstance(made.counts, Counts) and made.counts.size != size:
        raise ValueError("counts of different labels")
    if made.together is not None and len(made.together.sums) != 3 * size:
        raise ValueError("moments of different labels")
    if isinstance(made.space, Binary) != isinstance(made.scores, ScoreTable) and made.scores is not None:
        raise ValueError("scores of another task")


T = TypeVar("T")
ALONE = "from statistics files: no rows to show, no slices, and no intervals by cluster or weight"


@dataclass(frozen=True, eq=False)
class Shards:
    """Statistics files that are added up; a `Counting`."""

    paths: Sequence[str]
    request: Request

    def run_on_counts(self, work: Callable[[CollectedFacts], T], *_: Any, **_more: Any) -> MadeOfFacts[T]:
        """Read the statistics of all files, add them up, and do work on the sum.

        Raises
        ------
        DataError
            A file that is not a statistics file, or files that cannot be added up; names the file.
        """
        paths, request = self.paths, self.request
        digest, shards, known, notes = hashlib.sha256(), [], dict[bytes, str](), [ALONE]
        for path in paths:
            with in_file(path):
                data = load(Path(path))
                shards.append(from_bytes(data))
            digest.update(data)
            same = known.setdefault(hashlib.sha256(data).digest(), path)
            if same != path:
                notes.append(f"{same} and {path} have the same statistics, and both are counted")
        with in_file(", ".join(paths[:5])):
            summary = merge(shards)
        _check_labels(summary.space, request.columns)
        summary = replace(summary, space=rename_labels(summary.space, dict(request.label_names)))
        if isinstance(summary.scores, BinnedTable):
            notes.append(binned_note(summary.scores))
        seen = Observed(summary, data_checks=_facts(summary), notes=tuple(notes))
        seen, sweep = _apply_threshold(seen, request)
        first, more = Path(paths[0]), f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        taken = (("facts", f"{len(paths)} file{'s' if len(paths) > 1 else ''}"),)
        origin = Provenance(
            run_name=first.name.removesuffix(ENDING) + more,
            source=first.name + more,
            sha256=digest.hexdigest(),
            columns=taken,
            **request.origin(),
        )
        return MadeOfFacts.from_collected(CollectedFacts(seen, taken, origin, sweep), work)


def open_shards(item: Item, request: Request) -> Shards:
    """Return the statistics files of an item; an `Engine`.

    Raises
    ------
    UsageError
        Options about rows, which are already counted.
    """
    _refuse(request)
    return Shards(item.files, request)


COLUMNS = (
    *("weight", "group", "fold", "where", "truth", "pred", "score", "scores", "text", "id", "slices"),
    *("example_text", "score_kind", "list_separator", "task", "batch_axis", "no_scores", "missing"),
)
"""Options about columns; labels may be named if they are those of the file."""
REQUEST = ("truth_file", "tune_on", "artifact", "format", "fuzzy", "ordered", "approximate")
"""Options about rows other than their columns."""


OPTIONS = {name: name for name in ("truth", "pred", "score", "scores", "id", "artifact", "where")}
OPTIONS |= {"slices": "slice", "text": "response", "answers": "repeats", "score_kind": "score-kind"}
OPTIONS |= {"tune_on": "tune-on"}
"""Fields of a request that are options; the others are settings."""
KEYS = {"example_text": "show_text"}


def _refuse(request: Request) -> None:
    """Refuse what is about rows: they are counted already, and it would have no effect."""
    columns = request.columns
    given = [name for name in COLUMNS if getattr(columns, name)]
    given += ["slice_bins"] if columns.slice_bins != BINS else []
    given += ["weight_kind"] if columns.weight_kind != "sampling" else []
    given += ["answers"] if columns.several_answers else []
    given += [name for name in REQUEST if getattr(request, name)]
    given += ["parse"] if request.parse != "auto" else []
    given += ["engine"] if request.engine in ("stream", "spark") else []
    for name in given:
        option = f"--{OPTIONS[name]}" if name in OPTIONS else f"--set {KEYS.get(name, name)}"
        raise UsageError(
            "a statistics file has no rows to read, weight, group or choose from",
            where=option,
            fix=f"leave {option} out, or name the prediction files",
        )


def _check_labels(space: LabelSpace, columns: Columns) -> None:
    """Refuse labels that differ from those of the file."""
    positive = space.texts[1:] if isinstance(space, Binary) else ()
    for option, given, known in (
        ("--positive", () if columns.positive is None else (columns.positive,), positive),
        ("--labels", columns.labels or (), space.texts),
    ):
        if given and {*map(str, given)} != {*known}:
            raise UsageError(
                f"the statistics file was created with {option} {','.join(known)}"
                if known
                else "the statistics file is not for two labels",
                where=f"{option} {','.join(map(str, given))}",
                fix=f"leave {option} out, or create the file again",
            )


def _apply_threshold(seen: Observed, request: Request) -> tuple[Observed, Sweep | None]:
    """The observed rows, decided at the given threshold."""
    if request.threshold is None:
        return seen, None
    if not isinstance(seen.summary.space, Binary):
        raise UsageError(
            f"a statistics file of {len(seen.summary.space)} labels has fixed thresholds",
            where="--threshold",
            fix="pass it when the file is created",
        )
    number, sweep = number_of(request.threshold), None
    if number is None:
        point, sweep = choose_threshold(table_in(seen), request.threshold, request.sampling)
    else:
        (value,) = on_scale([number], probabilities=seen.summary.score_kind == "probability")
        point = Threshold(value, "given")
    return replace(seen, summary=decide_at(seen.summary, point)), sweep


def _facts(summary: Summary) -> dict[str, float]:
    if not isinstance(summary.scores, ScoreTable) or isinstance(summary.scores, BinnedTable):
        return {}
    return table_facts(summary.scores, None, probabilities=summary.score_kind != "decision")


def write_item_facts(item: Item, path: str, request: Request, *, force: bool) -> None:
    """Count one item, and write what was counted as a file; rows in memory are decided as it is asked for.

    Parameters
    ----------
    item : Item
    path : str
    request : Request
    force : bool
        Whether to write over a file that holds something else.

    Raises
    ------
    UsageError
        A name without the ending of statistics files, another existing file, weighted or grouped rows.
    """
    place, request = Path(path), replace(request, for_facts=True)
    if not path.endswith(ENDING):
        raise UsageError(
            f"{place.name} does not end with {ENDING}", where="--save-statistics", fix=f"write x{ENDING}"
        )
    if not force and os.path.isfile(place) and KEY not in place.read_bytes():
        raise UsageError(
            f"{place.name} is not a statistics file", where=path, fix="name another file, or pass --force"
        )
    read = item.read_predictions(request, _pack_facts)
    if isinstance(read, MadeOfFacts):
        write_file(place, read.made)
        return
    if by_rows(read.predictions):
        raise UsageError(
            "a statistics file does not support weights and groups",
            where="--save-statistics",
            fix="leave --set weight and --set group out",
        )
    decision = decide_rows(read.predictions, request.threshold, item.tuning_rows(request), request.sampling)
    write_file(place, to_bytes(summarise(decision.rows)))


def _pack_facts(counted: CollectedFacts) -> bytes:
    return to_bytes(counted.seen.summary)
