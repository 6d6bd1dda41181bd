"""The pages of one run of a site, as a process makes them: its report, and its comparison.

A static site of an experiment: each run's report, its comparison with the champion, and a front page.

The folder of a site: a manifest lists its files; stale ones are removed, other files are never touched.
Folder and manifest may come from an untrusted repository: a listed file counts only if it has the name of a
file of a site, is not a link and is not behind one.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from evalreport.comparison.all_pairs import (
    ContributionsOfRun,
    contributions_of_run,
    in_common_order,
    run_field,
)
from evalreport.comparison.changed_predictions import PredictedRows, count_agreement, predicted_rows
from evalreport.comparison.compare import MOST_RANKED, compare, distinct_names
from evalreport.comparison.comparison import Agreement
from evalreport.core.errors import (
    DataError,
    EvalreportError,
    NoPredictionsError,
    NotFoundError,
    UsageError,
    some_of,
)
from evalreport.core.json_codec import decode, dumps, loads
from evalreport.core.result import Undefined
from evalreport.core.text import slug
from evalreport.data.labels import Multilabel
from evalreport.data.predictions import Predictions
from evalreport.evaluation.evaluation import Evaluation
from evalreport.features.site.leaderboard import Board, BoardRun, FoundInRun, MissingRun, RunFacts, same_rows
from evalreport.features.site.page import board_headline, site_files, site_payload
from evalreport.metrics.catalogue import COMPARED, PRIMARY, find
from evalreport.page.render import render
from evalreport.page.sections.headline import headline
from evalreport.statistics.confusion import Array
from evalreport.tracking.client import Store
from evalreport.tracking.folder import (
    MANIFESTS,
    is_page,
    link_on_the_way,
    refuse_link,
    remove_file,
    write_file,
    write_files,
)
from evalreport.tracking.ownership import Manifest
from evalreport.tracking.runs import Logged, RunInfo, find_run, valid_time
from evalreport.workflow.deliver import Deliverable, inputs_of, same_inputs, sink_in
from evalreport.workflow.evaluate import evaluate_collected
from evalreport.workflow.items import Item
from evalreport.workflow.request import Destination, Request

RECORD = f"{MANIFESTS}/site.json"
KEPT = f"{MANIFESTS}/site"
"""Folder of what is kept of each run, so that it is evaluated once."""
_NAMES = re.compile(
    r"index\.html|runs\.(csv|json)|pairs\.csv|(runs|compare)/[^/]+\.(html|json)"
    rf"|{re.escape(KEPT)}/[^/]+\.(json|npy)"
)
"""All names that a site gives its files."""


@dataclass
class SiteFolder:
    """A folder that holds a site, or will.

    Parameters
    ----------
    folder : Path
    force : bool
        Whether to write over files that are not ours.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as place:
    ...     site = SiteFolder(Path(place))
    ...     SiteFolder(Path(place)).write({"index.html": b"new", "runs/old.html": b"old"})
    ...     site = SiteFolder(Path(place))
    ...     site.write({"index.html": b"new"}), site.finish(["index.html"])
    2
    (0, ['runs/old.html'])
    """

    folder: Path
    force: bool = False
    manifest: Manifest = field(init=False)

    def __post_init__(self) -> None:
        refuse_link(self.folder / RECORD, self.folder)
        self.manifest = Manifest()
        with suppress(OSError):
            known = Manifest.from_json_bytes((self.folder / RECORD).read_bytes())
            self.manifest = replace(
                known, files={path: one for path, one in known.files.items() if _NAMES.fullmatch(path)}
            )

    def is_unchanged(self, path: str) -> bool:
        """Tell whether a file is there as it was last written."""
        return self.manifest.is_unchanged(path, self.read_file(path) or b"")

    def read_file(self, path: str) -> bytes | None:
        """Return a file of the site; None where there is none, or a link on the way to it."""
        place = self.folder / path
        if link_on_the_way(place, self.folder) is not None:
            return None
        with suppress(OSError):
            return place.read_bytes()
        return None

    def check(self, paths: Collection[str]) -> None:
        """Refuse to replace files that are not ours.

        Raises
        ------
        DataError
        UsageError
            A place is a link.
        """
        for path in paths:
            refuse_link(self.folder / path, self.folder)
        theirs = [path for path in sorted(paths) if not self._ours(path)]
        if theirs and not self.force:
            raise DataError(
                f"evalreport did not write {some_of(theirs)}, so nothing is replaced",
                where=str(self.folder),
                fix="move them, name another folder, or pass --force to replace them",
            )

    def _ours(self, path: str) -> bool:
        place = self.folder / path
        if not os.path.exists(place):
            return True
        return is_page(place) or self.manifest.wrote(path, self.read_file(path) or b"")

    def write(self, files: Mapping[str, bytes]) -> int:
        """Write the files that are missing or changed, the manifest before them; return how many."""
        self.check(files)
        new = {path: data for path, data in files.items() if self.read_file(path) != data}
        present = {path: data for path in new if (data := self.read_file(path)) is not None}
        self.manifest = Manifest.from_files(files, [], self.manifest, present)
        self._note()
        write_files({self.folder / path: data for path, data in new.items()})
        return len(new)

    def finish(self, kept: Collection[str]) -> list[str]:
        """Remove files of earlier versions of the site, unless they were changed since.

        Raises
        ------
        UsageError
            One cannot be removed.
        """
        stale = sorted(path for path in self.manifest.files if path not in kept)
        gone = []
        for path in stale:
            data = self.read_file(path)
            if data is not None and self.manifest.wrote(path, data):
                remove_file(self.folder / path)
                gone.append(path)
        whole = {path: data for path in kept if (data := self.read_file(path)) is not None}
        self.manifest = Manifest.from_files(whole, [], Manifest(), {})
        self._note()
        return gone

    def _note(self) -> None:
        write_file(self.folder / RECORD, self.manifest.as_bytes())


def digest_of(*parts: object) -> str:
    """Return a digest of values that have a JSON.

    Examples
    --------
    >>> len(digest_of("a", 1))
    32
    """
    return hashlib.sha256(dumps(parts).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class SiteReference:
    """The run that the others are compared with."""

    name: str
    stem: str
    rows_key: str
    evaluation: Evaluation
    digest: str


@dataclass(frozen=True)
class SiteTask:
    """A run of a site, as a process takes it up; with the evaluation of its report, if current."""

    item: Item
    name: str
    stem: str
    stored: bytes = b""

    @property
    def display_name(self) -> str:
        """How it is named in messages."""
        return self.item.display_name


@dataclass(frozen=True)
class MadePages:
    """What was made of a run: what is kept of it, and its files."""

    facts: RunFacts
    files: Mapping[str, bytes]


def paths_of(stem: str) -> tuple[str, ...]:
    """Return the files of a run's report."""
    kept = (f"{KEPT}/{stem}.{end}" for end in ("json", "npy", "rows.npy"))
    return f"runs/{stem}.html", f"runs/{stem}.json", *kept


def comparison_paths(stem: str) -> tuple[str, str]:
    """Return the files of a run's comparison with the reference."""
    return f"compare/{stem}.html", f"compare/{stem}.json"


def make_pages(
    task: SiteTask, request: Request, sort_by: str | None, reference: SiteReference | None
) -> MadePages:
    """Evaluate a run and return the pages of it: its report, and its comparison with the reference."""
    collected = task.item.collect(request)
    if task.stored:
        ev = replace(Evaluation.from_json(task.stored), predictions=collected.predictions)
    else:
        ev = evaluate_collected(collected, request)
    facts, arrays = _facts(ev, sort_by)
    facts = replace(facts, inputs=inputs_of(task.item, collected.artifact, request, Destination()))
    files: dict[str, bytes] = {}
    if reference is not None and reference.stem != task.stem and reference.rows_key == facts.rows_key:
        files |= _comparison(task, ev, reference)
        facts = replace(facts, against=reference.digest)
    if not task.stored:
        page, data, _, *kept = paths_of(task.stem)
        html = render(ev, notes=request.notes)
        files |= {page: html.encode(), data: ev.to_json().encode(), **dict(zip(kept, arrays, strict=True))}
    return MadePages(facts, files | {paths_of(task.stem)[2]: dumps(facts).encode()})


def _facts(ev: Evaluation, sort_by: str | None) -> tuple[RunFacts, tuple[bytes, bytes]]:
    """What the front page needs of an evaluation, and the files of contributions and predictions."""
    p = ev.predictions
    if p is None:
        raise DataError("the predictions are not at hand", fix="log them into the run")
    names = (find(sort_by, ev.task).name,) if sort_by else PRIMARY[ev.task]
    found = {name: contributions_of_run(find(name, ev.task), p) for name in names}
    known = {name: one for name, one in found.items() if isinstance(one, ContributionsOfRun)}
    why = [one.reason for one in found.values() if isinstance(one, Undefined)]
    stack = [row for one in known.values() for row in (one.strata.astype(np.float32), one.parts)]
    voted = None if p.y_pred is None else predicted_rows(in_common_order(p))
    wanted = dict.fromkeys((*names, *COMPARED[ev.task], *ev.metrics))
    facts = RunFacts(
        task=ev.task,
        rows=ev.rows,
        rows_key=_rows_key(p),
        digest=ev.label_digest[:12],
        headline=headline(ev).text,
        metrics={name: ev.metrics[name] for name in wanted if name in ev.metrics},
        contributions={name: (one.value, one.spread) for name, one in known.items()},
        findings=tuple(FoundInRun(one.rule, one.claim, one.action) for one in ev.findings),
        unit=ev.provenance.unit,
        reason="" if known else why[0],
        sort_by=sort_by or "",
        labels=() if voted is None else voted.names,
    )
    parts = np.stack(stack) if stack else np.zeros((0, 0), dtype=np.float32)
    return facts, (_array_file(parts), _array_file(_signed_codes(voted)))


def _array_file(values: npt.NDArray[Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def _signed_codes(rows: PredictedRows | None) -> npt.NDArray[np.integer]:
    """The predictions in the smallest type: code + 1, negative where it is wrong; 0 without a prediction."""
    if rows is None:
        return np.zeros(0, dtype=np.int8)
    codes = np.asarray(rows.codes, dtype=np.int64) + 1
    signed: npt.NDArray[np.integer] = np.where(rows.right, codes, -codes)
    return signed.astype(np.min_scalar_type(-1 - len(rows.names)))


def _rows_key(p: Predictions) -> str:
    """Digest of the rows in their common order: ids, truth by its names, weights, clusters."""
    rows = in_common_order(p)
    names = np.asarray(rows.space.names)
    truth = rows.y_true.tolist() if isinstance(rows.space, Multilabel) else names[rows.y_true].tolist()
    ids = [] if rows.ids is None else rows.ids.tolist()
    weights = (rows.weights / rows.weights.mean()).round(9).tolist() if rows.weighted else []
    return digest_of(
        rows.space.task, ids, truth, weights, [] if rows.groups is None else rows.groups.codes.tolist()
    )


def _comparison(task: SiteTask, ev: Evaluation, reference: SiteReference) -> dict[str, bytes]:
    """Return the files of a comparison of two runs: they contain nothing of the field."""
    found = compare([reference.evaluation, ev], 0, names=(reference.name, task.name))
    document = Deliverable(found, extra={"checks": []})
    made = (document.html.encode(), dumps(document.result_presentation.content()).encode())
    return dict(zip(comparison_paths(task.stem), made, strict=True))


NO = ("", "0", "false", "no")
Doing: TypeAlias = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[tuple[Any, Any]]]
"""Does work on items, and yields each with its result or its error, in order."""


@dataclass(frozen=True)
class SiteRequest:
    """What is asked of a site.

    Parameters
    ----------
    sort_by : str or None
        Metric of the leaderboard; else the first headline metric that all runs have.
    columns : tuple of str
        Metrics, parameters and tags that are columns; a tag without a value is a mark of the run.
    champion : str
        Tag of the runs that are, or were, the champion; its value may be the day since when.
    """

    sort_by: str | None = None
    columns: tuple[str, ...] = ()
    champion: str = "champion"


@dataclass(frozen=True)
class MadeSite:
    """A site in its folder.

    Parameters
    ----------
    board : Board
    made : int
        Runs that were evaluated.
    written, removed : int
        Files.
    paths : tuple of str
        All of the site's files, the front page first.
    folder : Path
    warnings : tuple of str
        What of single runs was ignored.
    """

    board: Board
    made: int
    written: int
    removed: int
    paths: tuple[str, ...] = ()
    folder: Path = Path()
    warnings: tuple[str, ...] = ()


@dataclass
class _Site:
    """A site while it is made."""

    folder: SiteFolder
    request: Request
    wanted: SiteRequest
    tasks: Mapping[str, SiteTask]
    do: Doing
    facts: dict[str, RunFacts] = field(default_factory=dict)
    failed: dict[str, EvalreportError] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)
    written: int = 0

    def is_current(self, task: SiteTask) -> bool:
        """Whether the report of a run is there and made of what the run holds now; takes its facts up."""
        facts = self.stored_facts(task.stem)
        whole = facts is not None and all(map(self.folder.is_unchanged, paths_of(task.stem)))
        if facts is None or not whole or self.stack(task.stem, facts) is None:
            return False
        if self.predicted(task.stem, facts) is None:
            return False
        if facts.sort_by != (self.wanted.sort_by or ""):
            return False
        if not same_inputs(task.item, facts.inputs, self.request, Destination()):
            return False
        self.facts[task.name] = facts
        return True

    def stored_facts(self, stem: str) -> RunFacts | None:
        """Return what is kept of a run's evaluation."""
        try:
            found: RunFacts = decode(RunFacts, loads(self.folder.read_file(f"{KEPT}/{stem}.json") or b""))
        except DataError:
            return None
        return found

    def stack(self, stem: str, facts: RunFacts) -> Array | None:
        """Return what is kept of the rows of a run, two lines for each metric; None of any other file."""
        found = self._array(paths_of(stem)[3], "f")
        if found is None or found.ndim != 2 or len(found) != 2 * len(facts.contributions):
            return None
        return found if np.isfinite(found).all() else None

    def predicted(self, stem: str, facts: RunFacts) -> PredictedRows | None:
        """Return the predictions that are kept of a run, which may be none; None of any other file."""
        found = self._array(paths_of(stem)[4], "i")
        if found is None or found.ndim != 1 or len(found) not in (0, facts.rows):
            return None
        codes = np.abs(found.astype(np.int64)) - 1
        known = codes.max(initial=-1) < max(len(facts.labels), 1)
        return PredictedRows(found > 0, facts.labels, codes) if known else None

    def _array(self, path: str, kind: str) -> npt.NDArray[Any] | None:
        try:
            found: Any = np.load(io.BytesIO(self.folder.read_file(path) or b""), allow_pickle=False)
        except (ValueError, OSError, EOFError):
            return None
        return found if found.dtype.kind == kind else None

    def make(self, tasks: Sequence[SiteTask], reference: SiteReference | None) -> None:
        """Make the pages of runs, and write them as they come."""
        work = partial(make_pages, request=self.request, sort_by=self.wanted.sort_by, reference=reference)
        for task, outcome in self.do(work, tasks) if tasks else ():
            if isinstance(outcome, EvalreportError):
                self.failed[task.name] = outcome
                continue
            self.facts[task.name] = outcome.facts
            if not task.stored:
                self.made.add(task.name)
            self.written += self.folder.write(outcome.files)


def make_site(
    items: Sequence[Item], request: Request, wanted: SiteRequest, folder: SiteFolder, do: Doing
) -> MadeSite:
    """Make a site of the runs of an experiment in a folder, or bring it up to date.

    Raises
    ------
    NotFoundError
        No run can be ranked.
    DataError
        The folder holds others' files where ours would be.
    UsageError
        More than 200 runs, an unknown metric.
    """
    if len(items) > MOST_RANKED:
        raise UsageError(
            f"{len(items)} runs are too many for one leaderboard", fix=f"choose {MOST_RANKED} with --latest"
        )
    request = replace(request, made="", command="")
    runs = [item for item in items if item.run is not None]
    names = distinct_names([item.name for item in runs])
    ended = [(name, item) for name, item in zip(names, runs, strict=True) if _run(item).status == "FINISHED"]
    tasks = {name: SiteTask(item, name, _stem(_run(item))) for name, item in ended}
    compared = [path for task in tasks.values() for path in comparison_paths(task.stem)]
    folder.check(["index.html", "runs.csv", "pairs.csv", "runs.json", *_all_paths(tasks.values()), *compared])
    site = _Site(folder, request, wanted, tasks, do)
    reference = _champion_first(site)
    site.make(
        [
            task
            for task in tasks.values()
            if task.name not in site.facts and not site.is_current(task) and task.name not in site.failed
        ],
        reference,
    )
    board = _board(site, dict(zip(names, runs, strict=True)))
    board = _compare_with_reference(site, board, reference)
    made = (run.stem for run in board.runs if folder.read_file(comparison_paths(run.stem)[0]) is not None)
    board = replace(board, compared=frozenset(made) - {board.by_name[board.reference].stem})
    files = site_files(board)
    site.written += folder.write(files)
    kept = [*files, *_all_paths([tasks[name] for name in site.facts])]
    kept += [path for stem in sorted(board.compared) for path in comparison_paths(stem)]
    gone = folder.finish(kept)
    warnings = _warnings([_run(item) for item in runs], wanted.champion)
    return MadeSite(board, len(site.made), site.written, len(gone), tuple(kept), folder.folder, warnings)


def _all_paths(tasks: Iterable[SiteTask]) -> list[str]:
    return [path for task in tasks for path in paths_of(task.stem)]


def _run(item: Item) -> RunInfo:
    if item.run is None:
        raise UsageError("a site is of runs", where=item.display_name, fix="leave the file out")
    return item.run


def _stem(run: RunInfo) -> str:
    return f"{slug(run.name)[:24]}-{slug(run.run_id)[:8]}"


def champion_since(run: RunInfo, tag: str) -> int | None:
    """Return since when a run is the champion, in milliseconds; None where its tag does not say so.

    A tag without a day means since the start of the run.
    """
    value = run.tags.get(tag)
    if value is None or (value.strip().lower() in NO and value != ""):
        return None
    known = valid_time(_milliseconds(value))
    return (run.started or 0) if known is None else int(known)


def _milliseconds(text: str) -> float | None:
    """Return the time of a day in ISO 8601, without a zone in UTC; None of any other text."""
    try:
        day = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (day if day.tzinfo else day.replace(tzinfo=UTC)).timestamp() * 1000


def _warnings(runs: Sequence[RunInfo], champion: str) -> tuple[str, ...]:
    """Return what of the runs was ignored: start times and days of the champion that are not dates."""
    found = [f"{run.display_name}: {remark}" for run in runs for remark in run.remarks]
    for run in runs:
        at = _milliseconds(run.tags.get(champion, ""))
        if at is not None and valid_time(at) is None:
            found.append(
                f"{run.display_name}: the day in its tag {champion} is not from 1970 to 9999 and is ignored"
            )
    return tuple(found)


def _champion_first(site: _Site) -> SiteReference | None:
    """Return the champion as the run to compare with, evaluated where pages have to be made."""
    known = [
        (day, task)
        for task in site.tasks.values()
        if (day := champion_since(_run(task.item), site.wanted.champion)) is not None
    ]
    if not known:
        return None
    task = max(known, key=lambda entry: entry[0])[1]
    is_current = site.is_current(task)
    if is_current and all(
        site.is_current(other) and _same_reference(site, other, task) for other in site.tasks.values()
    ):
        return None
    if not is_current:
        site.make([task], None)
    return _reference(site, task)


def _same_reference(site: _Site, task: SiteTask, reference: SiteTask) -> bool:
    return task is reference or site.facts[task.name].against == _against(site, reference)


def _against(site: _Site, task: SiteTask) -> str:
    """What a comparison with a run is made of."""
    return digest_of(task.stem, task.name, site.facts[task.name].inputs)


def _reference(site: _Site, task: SiteTask) -> SiteReference | None:
    if task.name not in site.facts:
        return None
    facts = site.facts[task.name]
    try:
        ev = evaluate_collected(task.item.collect(site.request), site.request)
    except EvalreportError as error:
        site.failed[task.name] = error
        return None
    return SiteReference(task.name, task.stem, facts.rows_key, ev, _against(site, task))


def _compare_with_reference(site: _Site, board: Board, done: SiteReference | None) -> Board:
    """Compare the runs of the board with the champion, or without one with the best, where that lacks."""
    chosen = board.champion or board.best
    task = site.tasks[chosen.name]
    digest = _against(site, task)
    lacking = [
        replace(site.tasks[run.name], stored=site.folder.read_file(paths_of(run.stem)[1]) or b"")
        for run in board.runs
        if run.name != chosen.name
        and (
            site.facts[run.name].against != digest
            or not all(map(site.folder.is_unchanged, comparison_paths(run.stem)))
        )
    ]
    if lacking:
        reference = done if done is not None and done.digest == digest else _reference(site, task)
        site.make(lacking, reference)
    return replace(board, reference=chosen.name)


def _board(site: _Site, runs: Mapping[str, Item]) -> Board:
    """Rank the runs that hold the same rows; say of the others why they are not ranked."""
    newest_first = same_rows({name: site.facts[name].rows_key for name in site.tasks if name in site.facts})
    chosen = newest_first[::-1]
    if not chosen:
        raise NotFoundError(
            "no run of the experiment holds predictions that can be evaluated",
            where="; ".join(f"{name}: {error.message}" for name, error in list(site.failed.items())[:5]),
            fix="log predictions into the runs; `evalreport report --run-id ID` says what a run lacks",
        )
    first = site.facts[chosen[0]]
    metric_name = _metric(site, chosen)
    measured = [name for name in chosen if metric_name in site.facts[name].contributions]
    parts = _contributions(site, measured, metric_name)
    ranked = list(parts)
    metric = find(metric_name, first.task)
    level = site.request.sampling.level
    others = {
        name: _missing_run(site, name, runs, chosen, metric.title) for name in runs if name not in ranked
    }
    board = Board(
        experiment=", ".join(dict.fromkeys(_run(runs[name]).experiment for name in ranked)),
        metric=metric,
        level=level,
        runs=tuple(_board_run(site, name, _run(runs[name])) for name in ranked),
        field=run_field(metric, list(parts.items()), level),
        missing=tuple(others.values()),
        columns=site.wanted.columns,
        champion_tag=site.wanted.champion,
    )
    return replace(board, agreement=_agreement(site, board))


def _agreement(site: _Site, board: Board) -> Agreement | None:
    """How often the best runs are right for the same rows; None where one of them has no predictions."""
    rows = [site.predicted(board.by_name[name].stem, board.by_name[name].facts) for name in board.agreeing]
    known = [one for one in rows if one is not None and len(one.right)]
    if len(known) < max(len(rows), 2):
        return None
    return count_agreement(board.agreeing, known)


def _metric(site: _Site, names: Sequence[str]) -> str:
    """The metric of the leaderboard: the one asked for, else the first headline one that most runs have."""
    task = site.facts[names[0]].task
    if site.wanted.sort_by:
        wanted = find(site.wanted.sort_by, task).name
        if not any(wanted in site.facts[name].contributions for name in names):
            why = site.facts[names[0]].reason
            raise UsageError(
                f"no leaderboard can be made by {wanted}: {why}",
                where="--sort-by",
                fix=f"choose another, such as {PRIMARY[task][-1]}",
            )
        return wanted
    known = {name: sum(name in site.facts[run].contributions for run in names) for name in PRIMARY[task]}
    return max(known, key=lambda name: known[name])


def _contributions(site: _Site, names: Sequence[str], metric: str) -> dict[str, ContributionsOfRun]:
    """Return what the rows of each run contribute; a run whose kept file has other rows has failed."""
    found: dict[str, ContributionsOfRun] = {}
    for name in names:
        facts, stem = site.facts[name], site.tasks[name].stem
        stack = site.stack(stem, facts)
        if stack is None or (found and stack.shape[1] != len(next(iter(found.values())).parts)):
            kept = f"{KEPT}/{stem}.npy"
            site.failed[name] = DataError("what is kept of its rows is damaged", fix=f"remove {kept}")
            continue
        place = list(facts.contributions).index(metric)
        value, spread = facts.contributions[metric]
        strata = stack[2 * place].astype(np.int32)
        found[name] = ContributionsOfRun(value, stack[2 * place + 1], strata, spread)
    return found


def _board_run(site: _Site, name: str, run: RunInfo) -> BoardRun:
    known = {**run.params, **run.tags}
    shown = {column: known[column] for column in site.wanted.columns if column in known}
    return BoardRun(
        name,
        run.run_id,
        site.tasks[name].stem,
        run.started,
        shown,
        champion_since(run, site.wanted.champion),
        site.facts[name],
    )


def _missing_run(
    site: _Site, name: str, runs: Mapping[str, Item], chosen: Sequence[str], metric: str
) -> MissingRun:
    run = _run(runs[name])
    if run.running:
        return MissingRun(name, run.started, "Still running.", "Make the site again when it has ended.")
    if run.status != "FINISHED":
        return MissingRun(name, run.started, "The run failed or was stopped.", "")
    if name in site.failed:
        error = site.failed[name]
        reason = f"{error.message[:1].upper()}{error.message[1:]}."
        known = not isinstance(error, NoPredictionsError)
        return MissingRun(name, run.started, reason, error.fix, has_predictions=known)
    facts, first, stem = site.facts[name], site.facts[chosen[0]], site.tasks[name].stem
    if name not in chosen:
        what = "Another task" if facts.task != first.task else "Other rows"
        reason = f"{what}: {facts.rows:,} {facts.unit[1]}, other than the {first.rows:,} of the board."
        fix = f"Compare it with one of them: evalreport compare --run-id {run.run_id[:8]} --run-id …"
        return MissingRun(name, run.started, reason, fix, stem)
    return MissingRun(
        name, run.started, f"It has no {metric}: {facts.reason}.", "Choose another --sort-by.", stem
    )


def log_site(done: MadeSite, store: Store, run_id: str | None, where: Destination) -> Logged:
    """Put a site into a run: the one that is named, else the champion, else the best.

    What `.evalreport` keeps stays in the folder.

    Raises
    ------
    EvalreportError
        The run is not there or has not ended, or holds others' files of these names.
    """
    chosen = done.board.champion or done.board.best
    home = find_run(store, run_id).run_id if run_id else chosen.run_id
    sink = sink_in(store, home, where)
    paths = (path for path in done.paths if not path.startswith(MANIFESTS))
    files = {path: (done.folder / path).read_bytes() for path in paths}
    payload = site_payload(files, board_headline(done.board).text)
    return sink.log(payload)
