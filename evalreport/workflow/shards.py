"""Facts as files: written of one set of predictions, and added up to a report of all of them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from glob import glob
from pathlib import Path

from evalreport.engines.memory import summarise
from evalreport.engines.stream import decided_at
from evalreport.errors import UsageError
from evalreport.evaluation.observed import Observed
from evalreport.evaluation.row_facts import table_facts
from evalreport.facts import ScoreTable, Summary
from evalreport.facts.binned import BinnedTable
from evalreport.facts.summary import merge
from evalreport.facts.wire import KEY, from_bytes, to_bytes
from evalreport.intervals.sampling import by_rows
from evalreport.labels import Binary, LabelSpace, renamed
from evalreport.predictions import Predictions, Threshold
from evalreport.provenance import Provenance
from evalreport.scores import on_scale
from evalreport.sinks.folder import write_file
from evalreport.sources.datasets import is_several
from evalreport.sources.readers.content import in_file
from evalreport.sources.readers.limits import load
from evalreport.sources.request import Columns
from evalreport.thresholds.sweep import Sweep
from evalreport.workflow.collect import Collected
from evalreport.workflow.request import Request
from evalreport.workflow.stream import CollectedFacts, MadeOfFacts, binned_note, table_in
from evalreport.workflow.thresholds import chosen_on, decided, number_of

ENDING = ".facts"
ALONE = "made of facts alone: no rows to show, no slices, and no intervals by cluster or weight"


def are_facts(paths: Sequence[str]) -> bool:
    """Return whether all files hold facts, by their names.

    Examples
    --------
    >>> are_facts(["a.facts", "b.facts"]), are_facts(["a.csv"])
    (True, False)
    """
    return bool(paths) and all(path.endswith(ENDING) for path in paths)


def facts_like(path: str) -> list[str]:
    """Return the files of facts that a pattern names, which a shell could not list; else the path.

    Examples
    --------
    >>> facts_like("part-0.facts"), facts_like("nowhere/*.facts"), facts_like("parts/*.parquet")
    (['part-0.facts'], ['nowhere/*.facts'], ['parts/*.parquet'])
    """
    return (sorted(glob(path)) if are_facts([path]) and is_several(path) else []) or [path]  # noqa: PTH207


def collect_shards(paths: Sequence[str], request: Request) -> CollectedFacts:
    """Read the facts of several files and add them up.

    Raises
    ------
    DataError
        A file that holds no facts, or facts that do not add up; names the file.
    """
    _refuse(request)
    digest, shards, known, told = hashlib.sha256(), [], dict[bytes, str](), [ALONE]
    for path in paths:
        with in_file(path):
            data = load(Path(path))
            shards.append(from_bytes(data))
        digest.update(data)
        same = known.setdefault(hashlib.sha256(data).digest(), path)
        if same != path:
            told.append(f"{same} and {path} hold the same facts, and both are counted")
    with in_file(", ".join(paths[:5])):
        summary = merge(shards)
    _check_labels(summary.space, request.columns)
    summary = replace(summary, space=renamed(summary.space, dict(request.label_names)))
    if isinstance(summary.scores, BinnedTable):
        told.append(binned_note(summary.scores))
    seen = Observed(summary, facts=_facts(summary), notes=tuple(told))
    seen, sweep = _decided(seen, request)
    first, more = Path(paths[0]), f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    taken = (("facts", f"{len(paths)} file{'s' if len(paths) > 1 else ''}"),)
    origin = Provenance(
        run_name=first.name.removesuffix(ENDING) + more,
        source=first.name + more,
        sha256=digest.hexdigest(),
        columns=taken,
        **request.origin(),
    )
    return CollectedFacts(seen, taken, origin, sweep)


COLUMNS = (
    *("weight", "group", "fold", "where", "truth", "pred", "score", "scores", "text", "id", "slices"),
    *("example_text", "score_kind", "list_separator", "task", "batch_axis", "no_scores", "missing"),
)
"""What is said about columns; of labels, those of the facts can be named."""
REQUEST = ("truth_file", "tune_on", "artifact", "format", "fuzzy", "ordered", "approximate")
"""What is said about rows beside their columns."""


def _refuse(request: Request) -> None:
    """Refuse what is about rows: they are counted already, and it would have no effect."""
    columns = request.columns
    given = [name for name in COLUMNS if getattr(columns, name)]
    given += ["weight_kind"] if columns.weight_kind != "sampling" else []
    given += ["answers"] if columns.several_answers else []
    given += [name for name in REQUEST if getattr(request, name)]
    given += ["parse"] if request.parse != "auto" else []
    given += ["engine"] if request.engine in ("stream", "spark") else []
    for name in given:
        option = "--slice" if name == "slices" else f"--{name.replace('_', '-')}"
        raise UsageError(
            "facts hold no rows to read, weigh, group or choose",
            where=option,
            fix=f"leave {option} out, or name the files that the facts were made of",
        )


def _check_labels(space: LabelSpace, columns: Columns) -> None:
    """Refuse labels that are not those of the facts."""
    positive = space.texts[1:] if isinstance(space, Binary) else ()
    for option, given, known in (
        ("--positive", () if columns.positive is None else (columns.positive,), positive),
        ("--labels", columns.labels or (), space.texts),
    ):
        if given and {*map(str, given)} != {*known}:
            raise UsageError(
                f"the facts were made with {option} {','.join(known)}"
                if known
                else "the facts are not of two labels",
                where=f"{option} {','.join(map(str, given))}",
                fix=f"leave {option} out, or make the facts anew",
            )


def _decided(seen: Observed, request: Request) -> tuple[Observed, Sweep | None]:
    """What was observed, decided at the threshold that is asked for."""
    if request.threshold is None:
        return seen, None
    if not isinstance(seen.summary.space, Binary):
        raise UsageError(
            f"facts of {len(seen.summary.space)} labels are decided already",
            where="--threshold",
            fix="pass it where the facts are made",
        )
    number, sweep = number_of(request.threshold), None
    if number is None:
        point, sweep = chosen_on(table_in(seen), request.threshold, request.sampling)
    else:
        (value,) = on_scale([number], probabilities=seen.summary.score_kind == "probability")
        point = Threshold(value, "given")
    return replace(seen, summary=decided_at(seen.summary, point)), sweep


def _facts(summary: Summary) -> dict[str, float]:
    if not isinstance(summary.scores, ScoreTable) or isinstance(summary.scores, BinnedTable):
        return {}
    return table_facts(summary.scores, None, probabilities=summary.score_kind != "decision")


def packed_facts(counted: CollectedFacts) -> bytes:
    """Return the facts of what was counted as bytes."""
    return to_bytes(counted.seen.summary)


def check_place(path: str, *, force: bool) -> None:
    """Refuse a file that facts cannot be written to, before rows are counted.

    Raises
    ------
    UsageError
        A name that is not of facts, or a file that holds something else.
    """
    place = Path(path)
    if not path.endswith(ENDING):
        raise UsageError(f"{place.name} does not end with {ENDING}", where="--facts", fix=f"write x{ENDING}")
    if not force and os.path.isfile(place) and KEY not in place.read_bytes():
        raise UsageError(f"{place.name} holds no facts", where=path, fix="name another file, or pass --force")


def write_facts(
    read: Collected | MadeOfFacts[bytes], path: str, request: Request, tune_on: Predictions | None
) -> None:
    """Write the facts of what was read, of rows in memory decided as it is asked for.

    Raises
    ------
    UsageError
        Rows that weigh or belong together, which facts do not know.
    """
    place = Path(path)
    if isinstance(read, MadeOfFacts):
        write_file(place, read.made)
        return
    if by_rows(read.predictions):
        raise UsageError(
            "facts do not know which rows weigh more or belong together",
            where="--facts",
            fix="leave --weight and --group out",
        )
    decision = decided(read.predictions, request.threshold, tune_on, request.sampling)
    write_file(place, to_bytes(summarise(decision.rows)))
