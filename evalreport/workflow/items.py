"""What is worked on: runs of a store, files, or both, each under one name."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from evalreport.core.errors import (
    ArtifactNotFoundError,
    EvalreportError,
    NotFoundError,
    ServerError,
    UsageError,
)
from evalreport.core.text import slug
from evalreport.data.predictions import Predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.large.collect import (
    CollectedFacts,
    MadeOfFacts,
    collect_run_rows,
    collect_stream,
    evaluated_facts,
    streams,
)
from evalreport.features.large.facts_file import are_facts, collect_shards, facts_like
from evalreport.features.spark.evaluate_table import collect_spark
from evalreport.features.spark.tables import SparkSource, logged_table, tagged_table
from evalreport.page.payload import TABLE_TAG
from evalreport.readers.data_sets import DataSet
from evalreport.readers.formats import accepted_suffixes
from evalreport.readers.limits import PACKED
from evalreport.tracking.client import Store, connect
from evalreport.tracking.runs import PARENT_TAG, RunInfo, Selection, select_runs
from evalreport.workflow.collect import (
    Collected,
    collect_file,
    collect_fold_files,
    collect_fold_runs,
    collect_run,
    is_hidden,
    run_origin,
    with_unit,
)
from evalreport.workflow.evaluate import evaluated
from evalreport.workflow.request import Request

T = TypeVar("T")
STDIN = "-"


@dataclass(frozen=True)
class Item:
    """A file, or a run of a store.

    `folds` are the files of a cross-validation, of which `path` is the first; with `children` the folds are
    the child runs of the run. `files` are those of one data set, of which `path` is the first. `table` is a
    table of Spark: by itself, or that of the run.
    """

    path: str | None = None
    run: RunInfo | None = None
    store: Store | None = None
    called: str = ""
    folds: tuple[str, ...] = ()
    children: bool = False
    files: tuple[str, ...] = ()
    table: str | None = None

    @property
    def shown(self) -> str:
        """How the item is named in messages."""
        if self.run is not None:
            return self.run.shown
        if self.table is not None:
            return self.table
        return "stdin" if self.path == STDIN else str(self.path)

    @property
    def name(self) -> str:
        """A name for files and tables: the run's, or the file's without its ending, unless it is `called`."""
        if self.called:
            return self.called
        if self.run is not None:
            return self.run.name or self.run.run_id[:8]
        return "stdin" if self.path == STDIN else _without_ending(Path(self.table or str(self.path)))

    @property
    def page(self) -> str:
        """A name for the page of the item, which of a run has the beginning of its id."""
        return self.name if self.run is None else f"{slug(self.name)[:60]}-{self.run.run_id[:8]}"

    @property
    def origin(self) -> str:
        """What the item is, however it is called: a run by its id, files by their full paths; "" of stdin."""
        if self.run is not None:
            return self.run.run_id
        paths = self.folds or self.files or (self.path,)
        known = [os.path.realpath(path) for path in paths if path not in (None, STDIN)]
        return "\n".join([*known, *([self.table] if self.table else [])])

    def collect(self, request: Request) -> Collected:
        """Read the predictions of the item."""
        if self.run is not None and self.children:
            return collect_fold_runs(self.opened, self.run, request)
        if self.folds:
            return collect_fold_files(list(map(Path, self.folds)), request)
        if self.run is not None:
            return collect_run(self.opened, self.run, request)
        return collect_file(sys.stdin.buffer if self.path == STDIN else Path(str(self.path)), request)

    def tuning_rows(self, request: Request) -> Predictions | None:
        """Read the rows that choose the threshold: another file, or another run of the same store."""
        if request.tune_on is None:
            return None
        plain = replace(request, artifact=None, truth_file=None, format=None)
        if os.path.exists(request.tune_on) or self.run is None:
            return collect_file(Path(request.tune_on), plain).predictions
        (other,) = select_runs(self.opened, Selection(run_ids=(request.tune_on,)))
        return collect_run(self.opened, other, plain).predictions

    def evaluate(self, request: Request) -> tuple[Evaluation, Collected | MadeOfFacts[Evaluation]]:
        """Evaluate the predictions of the item with the engine that is asked for, or fits.

        Returns
        -------
        The evaluation, and what was read for it.
        """
        read = self.read(request, partial(evaluated_facts, request=request))
        if isinstance(read, MadeOfFacts):
            return read.made, read
        return evaluated(read, request, self.tuning_rows(request)), read

    def read(
        self, request: Request, work: Callable[[CollectedFacts], T], sought: Sequence[str] | None = None
    ) -> Collected | MadeOfFacts[T]:
        """Read the predictions of the item, or do work on what is counted of them.

        Parameters
        ----------
        request : Request
        work : callable
            On facts, done where they were counted; it and its result can be pickled.
        sought : sequence of str, optional
            Objectives for which thresholds are sought, empty for those of the task.
        """
        if self.run is None and request.artifact is not None:
            raise UsageError(
                "--artifact names a file inside a run, and this is no run",
                where=f"{self.shown}, --artifact",
                fix="name a run with --run-id ID, or leave --artifact out",
            )
        if are_facts(self.files):
            return MadeOfFacts.of(collect_shards(self.files, request), work)
        source = self._source(request)
        if source is not None:
            return self._counted(source, request, work)
        data = self._streamed(request)
        if data is not None:
            return MadeOfFacts.of(collect_stream(data, request, sought), work)
        try:
            if self.run is None or self.children or request.engine not in ("auto", "stream"):
                return self.collect(request)
            read = collect_run_rows(self.opened, self.run, request, sought)
        except ArtifactNotFoundError:
            source = None if self.run is None else logged_table(self.run, remote=self.opened.remote)
            if source is None or request.engine != "auto":
                raise
            return self._counted(source, request, work)
        return MadeOfFacts.of(read, work) if isinstance(read, CollectedFacts) else read

    @property
    def tagged(self) -> SparkSource | None:
        """The table of Spark that the run names by its tag."""
        return None if self.run is None else tagged_table(self.run, remote=self.opened.remote)

    def _source(self, request: Request) -> SparkSource | None:
        """The table of Spark that holds the predictions of the item; None where other engines read it."""
        match request.engine:
            case "spark" if self.path not in (None, STDIN) and len(self.files) < 2:
                return SparkSource(str(self.path))
            case "spark" | "auto" if self.table is not None:
                return SparkSource(self.table)
            case "auto":
                return None if self.children or request.artifact else self.tagged
            case "spark":
                logged = None if self.run is None else logged_table(self.run, remote=self.opened.remote)
                found = self.tagged or logged
                if found is None:
                    raise UsageError(
                        f"{self.shown} names no table of Spark",
                        where="--engine spark",
                        fix=f"pass --table NAME, or set the tag {TABLE_TAG} of the run",
                    )
                return found
            case _ if self.table is not None:
                raise UsageError(
                    f"a table is read by Spark, not by the engine {request.engine}",
                    where=f"--table {self.table}",
                    fix="leave --engine out, or pass spark",
                )
        return None

    def _counted(
        self, source: SparkSource, request: Request, work: Callable[[CollectedFacts], T]
    ) -> MadeOfFacts[T]:
        if self.run is None:
            return collect_spark(source, request, work)
        request, origin = with_unit(request, self.run), run_origin(self.opened, self.run)
        return collect_spark(source, request, work, origin, sensitive=is_hidden(self.run))

    def _streamed(self, request: Request) -> DataSet | None:
        """The files of the item where they are streamed."""
        if self.path not in (None, STDIN) and not self.folds:
            return streams(self.files or (str(self.path),), request)
        if request.engine == "stream" and (self.run is None or self.children):
            raise UsageError(
                f"{self.shown} is read as a whole",
                where="--engine stream",
                fix="leave it out; of a cross-validation, each child run by itself is streamed",
            )
        return None

    @property
    def opened(self) -> Store:
        """The store of a run.

        Raises
        ------
        UsageError
            The item is a file.
        """
        if self.store is None:
            raise UsageError(f"{self.shown} is not a run", fix="name a file")
        return self.store


def open_runs(tracking_uri: str | None, selection: Selection) -> tuple[Store, tuple[RunInfo, ...]]:
    """Connect to the store and return it with the selected runs."""
    store = connect(tracking_uri)
    return store, select_runs(store, selection)


def items_of(
    files: Sequence[str], selection: Selection | None, tracking_uri: str | None, table: str | None = None
) -> tuple[Item, ...]:
    """Return the files, then the selected runs, each once and under a name of its own.

    Files of facts are one item: they add up. A table of Spark is an item, or that of the one run.

    A store is opened only for runs.

    Raises
    ------
    UsageError
        Nothing is named, or facts beside files of rows.
    """
    files = [one for path in files for one in facts_like(path)]
    once = {STDIN if path == STDIN else os.path.realpath(path): path for path in reversed(files)}
    paths = tuple(reversed(once.values()))
    items = [Item(path=paths[0], files=paths)] if are_facts(paths) else [Item(path=path) for path in paths]
    facts = tuple(path for path in paths if are_facts([path]))
    if facts and facts != paths:
        raise UsageError(
            "facts and files of rows do not add up",
            where=", ".join(paths[:5]),
            fix="count each file with `evalreport report FILE --facts x.facts`, then name facts alone",
        )
    if selection is not None:
        store, runs = open_runs(tracking_uri, selection)
        items += [Item(run=run, store=store) for run in runs]
    if table is not None:
        items = _of_table(items, table)
    if not items:
        raise UsageError("no file and no run is named", fix="pass a FILE, or --run-id ID")
    return _with_distinct_names(items)


def work_on_each(
    items: Sequence[Item], work: Callable[[Item], T]
) -> tuple[list[tuple[Item, T]], dict[str, EvalreportError]]:
    """Do work on every item; an item that fails does not stop the others.

    Returns
    -------
    The items with their results, and the errors of the others by how messages name them.

    Raises
    ------
    NotFoundError
        All items failed.
    ServerError
        At once: what a server does not answer says nothing of a run.
    """
    done: list[tuple[Item, T]] = []
    failed: dict[str, EvalreportError] = {}
    for item in items:
        try:
            done.append((item, work(item)))
        except ServerError:
            raise
        except EvalreportError as error:
            failed[item.shown] = error
    if done or not failed:
        return done, failed
    first = next(iter(failed.values()))
    if len({error.message for error in failed.values()}) == 1:
        raise first  # which knows the fix
    raise NotFoundError(
        f"none of the {len(failed)} runs can be evaluated",
        where="; ".join(f"{name}: {error.message}" for name, error in list(failed.items())[:5]),
        fix="`evalreport report --run-id ID` shows what one of them needs",
    )


def _of_table(items: Sequence[Item], table: str) -> list[Item]:
    if len(items) > 1 or any(item.path is not None for item in items):
        raise UsageError(
            "--table is beside other predictions",
            where=f"--table {table}",
            fix="name it alone, or with one --run-id",
        )
    return [replace(items[0], table=table)] if items else [Item(table=table)]


def folds_of(items: Sequence[Item], *, files: bool, children: bool) -> tuple[Item, ...]:
    """Return the files as the folds of one cross-validation, or each run as the parent of its own.

    A run whose parent is among them is one of its folds.

    Raises
    ------
    UsageError
        Files for `children`, runs or one file alone for `files`.
    """
    paths = tuple(str(item.path) for item in items if item.path is not None)
    if children and paths:
        raise UsageError("--children is of runs", where=paths[0], fix="pass --folds for one file per fold")
    if files and (len(paths) < 2 or len(paths) < len(items)):
        raise UsageError(
            "--folds takes one file for each fold, two or more",
            fix="name a file per fold, or pass --fold COLUMN for one file of all",
        )
    if files:
        return (Item(path=paths[0], called="cross-validation", folds=paths),)
    if not children:
        return tuple(items)
    parents = {item.run.run_id for item in items if item.run is not None}
    runs = (item for item in items if item.run and item.run.tags.get(PARENT_TAG) not in parents)
    return tuple(replace(item, children=True) for item in runs)


def _with_distinct_names(items: Sequence[Item]) -> tuple[Item, ...]:
    """Number the items whose names would give one file name."""
    taken: set[str] = set()
    apart = []
    for item in items:
        names = (item.name, *(f"{slug(item.name)[:60]}-{number}" for number in range(2, len(items) + 2)))
        name = next(name for name in names if slug(name).casefold() not in taken)
        taken.add(slug(name).casefold())
        apart.append(replace(item, called=name))
    return tuple(apart)


def _without_ending(path: Path) -> str:
    """The file's name without the endings of its format: other dots, as of a version, are part of it."""
    plain = path.with_suffix("") if path.suffix in PACKED else path
    return plain.stem if plain.suffix.lower() in accepted_suffixes() else plain.name
