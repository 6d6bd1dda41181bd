"""What is worked on: runs of a store, files, or both, each under one name."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from glob import glob
from pathlib import Path
from typing import Any, TypeVar

from evalreport.core.errors import (
    ArtifactNotFoundError,
    EvalreportError,
    NotFoundError,
    ServerError,
    UsageError,
)
from evalreport.core.extensions import load_extensions
from evalreport.core.progress import report_progress
from evalreport.core.text import slug
from evalreport.data.predictions import Predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.metrics.own import is_own, not_in_memory
from evalreport.page.payload import TABLE_TAG
from evalreport.readers.content import in_file
from evalreport.readers.data_sets import STREAMED, is_several
from evalreport.readers.formats import accepted_suffixes
from evalreport.readers.limits import PACKED
from evalreport.tracking.client import Store, connect
from evalreport.tracking.find_predictions import RunFileReader, RunTable, read_run
from evalreport.tracking.runs import PARENT_TAG, RunInfo, Selection, select_runs
from evalreport.workflow.collect import (
    Collected,
    collect_file,
    collect_fold_files,
    collect_fold_runs,
    collect_run,
    collect_run_table,
    is_hidden,
    make_run_request,
    run_origin,
    with_unit,
)
from evalreport.workflow.evaluate import evaluate_collected, evaluated_facts
from evalreport.workflow.request import (
    ENDING,
    MEMORY,
    CollectedFacts,
    Counting,
    MadeOfFacts,
    Request,
    is_streamed,
    open_with,
)

T = TypeVar("T")
STDIN = "-"


@dataclass(frozen=True)
class Item:
    """A file, or a run of a store.

    `folds` are the files of a cross-validation, of which `path` is the first; with `children` the folds are
    the child runs of the run. `files` are those of one data set, of which `path` is the first. `table` is the
    name of a Spark table, with or without a run, or a Spark DataFrame.
    """

    path: str | None = None
    run: RunInfo | None = None
    store: Store | None = None
    called: str = ""
    folds: tuple[str, ...] = ()
    children: bool = False
    files: tuple[str, ...] = ()
    table: Any = None

    @property
    def display_name(self) -> str:
        """How the item is named in messages."""
        if self.run is not None:
            return self.run.display_name
        if self.table is not None:
            return str(self.table)
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
            return collect_fold_runs(self.tracking_store, self.run, request)
        if self.folds:
            return collect_fold_files(list(map(Path, self.folds)), request)
        if self.run is not None:
            return collect_run(self.tracking_store, self.run, request)
        return collect_file(sys.stdin.buffer if self.path == STDIN else Path(str(self.path)), request)

    def tuning_rows(self, request: Request) -> Predictions | None:
        """Read the rows that choose the threshold: another file, or another run of the same store."""
        if request.tune_on is None:
            return None
        plain = replace(request, artifact=None, truth_file=None, format=None)
        if os.path.exists(request.tune_on) or self.run is None:
            return collect_file(Path(request.tune_on), plain).predictions
        (other,) = select_runs(self.tracking_store, Selection(run_ids=(request.tune_on,)))
        return collect_run(self.tracking_store, other, plain).predictions

    def evaluate(self, request: Request) -> tuple[Evaluation, Collected | MadeOfFacts[Evaluation]]:
        """Evaluate the predictions of the item with the engine that is asked for, or fits.

        Returns
        -------
        The evaluation, and what was read for it.
        """
        read = self.read_predictions(request, partial(evaluated_facts, request=request))
        if isinstance(read, MadeOfFacts):
            return read.made, read
        return evaluate_collected(read, request, self.tuning_rows(request)), read

    def read_predictions(
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
                "--artifact names a file inside a run, and this is not a run",
                where=f"{self.display_name}, --artifact",
                fix="name a run with --run-id ID, or leave --artifact out",
            )
        request = request if self.run is None else with_unit(request, self.run)
        counting = self._counting(request)
        if counting is None:
            if self.run is None or self.children:
                return self.collect(request)
            try:
                return self._of_run(self.run, request, work, sought)
            except ArtifactNotFoundError:
                sources = load_extensions("run_sources") if request.engine == "auto" else ()
                counting = next(filter(None, (source(self, request) for source in sources)), None)
                if counting is None:
                    raise
        own = [*request.extra_metrics, *filter(is_own, (*request.metrics, *request.points))]
        if own:
            raise not_in_memory(own[0], f"{self.display_name}, {own[0]}", MEMORY)
        if self.run is None:
            return counting.run_on_counts(work, sought=sought)
        origin = run_origin(self.tracking_store, self.run)
        return counting.run_on_counts(work, origin, sought=sought, sensitive=is_hidden(self.run))

    @property
    def is_tagged(self) -> bool:
        """Whether the run names a table of Spark by its tag."""
        return self.run is not None and bool(self.run.tags.get(TABLE_TAG, "").strip())

    def _counting(self, request: Request) -> Counting | None:
        """What an engine opened; None where memory holds it, or the files of a run are looked at first."""
        if are_facts(self.files):
            return open_with(ENDING, self, request)
        tagged = request.engine == "auto" and self.is_tagged and not (self.children or request.artifact)
        if self.table is not None or tagged or request.engine == "spark":
            counting = open_with("spark", self, request)
            if counting is not None:
                return counting
        if self.path not in (None, STDIN) and not self.folds:
            streamed = is_streamed(self.files or (str(self.path),), request)
            return open_with("stream", self, request) if streamed else None
        if request.engine == "stream" and (self.run is None or self.children):
            raise UsageError(
                f"{self.display_name} is read as a whole",
                where="--set engine=stream",
                fix="leave it out; in a cross-validation, stream each child run separately",
            )
        return None

    def _of_run(
        self,
        run: RunInfo,
        request: Request,
        work: Callable[[CollectedFacts], T],
        sought: Sequence[str] | None,
    ) -> Collected | MadeOfFacts[T]:
        """Read the files of a run, or count them where they are a stream; copies of them are removed."""
        report_progress("reading the predictions")

        def open_path_stream(path: str) -> Counting | None:
            return open_with("stream", Item(path=path), request) if is_streamed((path,), request) else None

        with RunFileReader(open_path_stream).keeping() as reader:
            found = read_run(self.tracking_store, run, make_run_request(request), reader)
            if isinstance(found, RunTable):
                if request.engine == "stream":
                    raise UsageError(
                        f"{found.taken} is read as a whole",
                        where=f"{run.display_name}, --set engine=stream",
                        fix=f"log the predictions as one of {', '.join(STREAMED)}, or leave the engine out",
                    )
                return collect_run_table(found, self.tracking_store, run, request)
            origin = run_origin(self.tracking_store, run)
            origin = replace(origin, notes=(*origin.notes, *found.notes))
            with in_file(run.display_name):
                counted = found.stream.run_on_counts(_itself, origin, sought=sought, sensitive=is_hidden(run))
        return MadeOfFacts(work(counted.made), (("source", found.taken), *counted.taken), found.artifact)

    @property
    def tracking_store(self) -> Store:
        """The store of a run.

        Raises
        ------
        UsageError
            The item is a file.
        """
        if self.store is None:
            raise UsageError(f"{self.display_name} is not a run", fix="name a file")
        return self.store


def _itself(counted: CollectedFacts) -> CollectedFacts:
    return counted


def are_facts(paths: Sequence[str]) -> bool:
    """Return whether all files are statistics files, by their names.

    Examples
    --------
    >>> are_facts(["a.stats", "b.stats"]), are_facts(["a.csv"])
    (True, False)
    """
    return bool(paths) and all(path.endswith(ENDING) for path in paths)


def facts_like(path: str) -> list[str]:
    """Return the files of facts that a pattern names, which a shell could not list; else the path.

    Examples
    --------
    >>> facts_like("part-0.stats"), facts_like("nowhere/*.stats"), facts_like("parts/*.parquet")
    (['part-0.stats'], ['nowhere/*.stats'], ['parts/*.parquet'])
    """
    return (sorted(glob(path)) if are_facts([path]) and is_several(path) else []) or [path]  # noqa: PTH207


def open_runs(tracking_uri: str | None, selection: Selection) -> tuple[Store, tuple[RunInfo, ...]]:
    """Connect to the store and return it with the selected runs."""
    store = connect(tracking_uri)
    return store, select_runs(store, selection)


def items_of(
    files: Sequence[str], selection: Selection | None, tracking_uri: str | None, table: str | None = None
) -> tuple[Item, ...]:
    """Return the files, then the selected runs, each once and under a unique name.

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
            "statistics files and prediction files cannot be combined",
            where=", ".join(paths[:5]),
            fix="count each file with `evalreport report FILE --save-statistics x.stats`, then name "
            "only statistics files",
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
            failed[item.display_name] = error
    if done or not failed:
        return done, failed
    first = next(iter(failed.values()))
    if len({error.message for error in failed.values()}) == 1:
        raise first  # which knows the fix
    raise NotFoundError(
        f"none of the {len(failed)} runs can be evaluated",
        where="; ".join(f"{name}: {error.message}" for name, error in list(failed.items())[:5]),
        fix="`evalreport report --run-id ID` shows the error of one run",
    )


def _of_table(items: Sequence[Item], table: str) -> list[Item]:
    if len(items) > 1 or any(item.path is not None for item in items):
        raise UsageError(
            "--set table and other predictions are given",
            where=f"--set table={table}",
            fix="pass only the table, or one --run-id with it",
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
        raise UsageError(
            "--children applies only to runs", where=paths[0], fix="pass --folds for one file per fold"
        )
    if files and (len(paths) < 2 or len(paths) < len(items)):
        raise UsageError(
            "--folds takes one file for each fold, two or more",
            fix="name a file per fold, or pass --set fold=COLUMN for one file of all",
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
    return plain.stem if plain.suffix.lower() in (*accepted_suffixes(), ENDING) else plain.name
