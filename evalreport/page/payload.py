"""How a result is shown, and what is logged of it: every metric, file and tag, checked before it is written.

Names of classes and metrics become keys that MLflow takes.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, ClassVar, Final, Generic, Literal, TypeAlias, TypeVar, get_args

from evalreport.core.errors import UsageError
from evalreport.core.extensions import Extension, extensions
from evalreport.core.json_codec import dumps, encode
from evalreport.page.elements import Section
from evalreport.page.text_summary import ResultSummary, markdown

T = TypeVar("T")

Part: TypeAlias = Literal["evaluation", "sweep", "comparison", "site"]
"""The kinds of results in a run: each has a digest, a manifest and a block of the description."""

PAGE = "evalreport.html"
SWEEP_PAGE = "evalreport_sweep.html"
COMPARISON_PAGE = "evalreport_comparison.html"
PAGES = (PAGE, SWEEP_PAGE, COMPARISON_PAGE)
FIGURES = ("confusion_matrix.png", "roc_curve.png", "pr_curve.png")
"""Names in a folder; see `in_run` for those in a run."""
FOLDER = "evalreport"
"""Folder of everything else."""
EVALUATION = f"{FOLDER}/evaluation.json"
METRICS_TABLE = f"{FOLDER}/metrics.json"
CLASSES_TABLE = f"{FOLDER}/classes.json"
THRESHOLDS_TABLE = f"{FOLDER}/thresholds.json"
ROWS = f"{FOLDER}/rows.parquet"
"""Row by row how labels were read from text: id, truth, label, reason, digest of the text."""
SWEEP = f"{FOLDER}/sweep.json"
COMPARISON = f"{FOLDER}/comparison.json"
TRIALS_TABLE = f"{FOLDER}/trials.json"
OPTIMA_TABLE = f"{FOLDER}/optima.json"
SWEEP_POINTS = f"{FOLDER}/thresholds.parquet"
"""Every threshold with its counts: of the score, of each label, or of the confidence."""
SITE = "evalreport_site"
"""Folder of the site of an experiment."""
TABLES = (METRICS_TABLE, CLASSES_TABLE, THRESHOLDS_TABLE, TRIALS_TABLE, OPTIMA_TABLE)
MANIFEST = f"{FOLDER}/manifest.json"
"""Digests of the files that evalreport wrote, to distinguish them from others of the same name."""

STATE_TAG = "evalreport.state"
"""For us, not for people: the digest of what was logged, and the digest of what it was made of with the folder
of the predictions. A call on many runs skips those where these are still the same."""
SWEEP_TAGS = "evalreport.sweep."
"""Beginning of the tags of a sweep."""
GATE_TAGS = "evalreport.gate."
"""Beginning of the tags of a model that `check --model` has judged."""
UNIT_TAG = "evalreport.unit"
"""What a row is called, one and many."""
TABLE_TAG = "evalreport.table"
"""The table of Spark, or its Parquet or Delta path, that holds the predictions of a run: set by the user."""

PREFIX = "eval/"
"""Of metric keys, unless the user names another."""
MOST_CLASSES = 100
"""Classes with a metric of their own, those with most examples; all are in the table of classes."""
PASSING = ("made", "command", "tracking")
"""Parts of the provenance that differ from call to call without changing the meaning: one server has many
addresses."""
LONGEST_VERDICT = 250
"""Characters of a tag that the verdict may take: columns of a run list show no more."""
MOST_KEYS = 12
"""Metrics that are logged by default."""


def in_run(figure: str) -> str:
    """Return the path of a figure in a run.

    `FIGURES` stand at the artifact root, where MLflow's compare page pairs files of equal name, and bear our
    name, as `mlflow.models.evaluate` writes a ``confusion_matrix.png`` there, too.

    Examples
    --------
    >>> in_run("confusion_matrix.png"), in_run("lift.png")
    ('evalreport_confusion_matrix.png', 'evalreport/lift.png')
    """
    return f"evalreport_{figure}" if figure in FIGURES else f"{FOLDER}/{figure}"


def is_ours(path: str) -> bool:
    """Return whether an artifact has a name that evalreport gives, so it does not contain predictions.

    Examples
    --------
    >>> is_ours("evalreport/classes.json"), is_ours("evalreport/predictions.parquet")
    (True, False)
    """
    ours = {
        *PAGES,
        *map(in_run, FIGURES),
        EVALUATION,
        ROWS,
        SWEEP,
        SWEEP_POINTS,
        COMPARISON,
        *TABLES,
        *MANIFESTS,
    }
    return path in ours or path.startswith(("images/", f"{SITE}/"))


def manifest_of(part: Part) -> str:
    """Return the path of a part's manifest.

    Examples
    --------
    >>> manifest_of("evaluation"), manifest_of("sweep")
    ('evalreport/manifest.json', 'evalreport/sweep_manifest.json')
    """
    return MANIFEST if part == "evaluation" else f"{FOLDER}/{part}_manifest.json"


def state_tag(part: Part) -> str:
    """Return the name of the tag that contains the state of a part.

    Examples
    --------
    >>> state_tag("evaluation"), state_tag("sweep")
    ('evalreport.state', 'evalreport.sweep.state')
    """
    return STATE_TAG if part == "evaluation" else f"evalreport.{part}.state"


def digest_in(state: str) -> str:
    """Return the digest in the value of a state tag.

    Examples
    --------
    >>> digest_in("ab12 77fe predictions"), digest_in("ab12"), digest_in("")
    ('ab12', 'ab12', '')
    """
    return state.partition(" ")[0]


MANIFESTS = tuple(map(manifest_of, get_args(Part)))


LONGEST_KEY = 250
"""Characters of a metric key, prefix included."""
_FORBIDDEN = re.compile(r"[^\w.\- :]")
_FORBIDDEN_ON_WINDOWS = re.compile(r"[^\w.\- ]")
_MARK = 6
_LONGER_MARK = 16
"""Hexadecimal digits of a digest that distinguishes names which differ only in case."""


def metric_keys(names: Iterable[str], prefix: str = "", *, windows: bool | None = None) -> dict[str, str]:
    """Return a metric key for each name, all of them different also where upper and lower case are one.

    A name that MLflow takes stays as it is. Any other has its characters replaced and ends in a mark made
    from the name itself, so that a class has the same key in every run, whatever other classes there are.

    Parameters
    ----------
    names : iterable of str
        Distinct; a slash in one of them does not open a section.
    prefix : str
        Prefix of every key, such as ``eval/classes/f1/``.
    windows : bool, optional
        Whether a colon is forbidden; by the machine we run on, as MLflow does.

    Returns
    -------
    dict from name to key, in the order of the names

    Examples
    --------
    >>> metric_keys(["spam", "C++", "C#"], "eval/f1/")
    {'spam': 'eval/f1/spam', 'C++': 'eval/f1/C__-f1deb7', 'C#': 'eval/f1/C_-040228'}
    """
    forbidden = _FORBIDDEN_ON_WINDOWS if (os.name == "nt" if windows is None else windows) else _FORBIDDEN
    listed = list(dict.fromkeys(names))
    room = LONGEST_KEY - len(prefix)
    plain = {name: _plain(name, forbidden, room) for name in listed}
    twice = Counter(key.casefold() for key in plain.values())
    keys = {
        name: key if twice[key.casefold()] == 1 else _append_digest(name, key, _LONGER_MARK, room)
        for name, key in plain.items()
    }
    return {name: prefix + key for name, key in keys.items()}


def with_metric_keys(values: Mapping[str, T], prefix: str = "") -> dict[str, T]:
    """Return values under the metric keys of their names.

    Examples
    --------
    >>> with_metric_keys({"spam": 0.5, "C++": 0.25}, "f1/")
    {'f1/spam': 0.5, 'f1/C__-f1deb7': 0.25}
    """
    return {key: values[name] for name, key in metric_keys(values, prefix).items()}


def objective_keys(names: Iterable[str], prefix: str = "") -> dict[str, str]:
    """Return a metric key for each objective; bounds are written in words.

    Examples
    --------
    >>> objective_keys(["f1", "recall>=0.95", "fpr<=0.01"], "optima/")["fpr<=0.01"]
    'optima/fpr_at_most_0.01'
    """
    words = {name: _in_letters(name) for name in names}
    keys = metric_keys(words.values(), prefix)
    return {name: keys[word] for name, word in words.items()}


def _in_letters(name: str) -> str:
    """A bound's name without the signs that a metric key cannot hold."""
    signs = {">=": "_at_least_", "<=": "_at_most_", ">": "_above_", "<": "_below_"}
    for sign, word in signs.items():
        name = name.replace(sign, word)
    return name


def _plain(name: str, forbidden: re.Pattern[str], room: int) -> str:
    clean = forbidden.sub("_", unicodedata.normalize("NFC", name))
    if clean == name and clean.strip(".") and clean == clean.strip() and len(clean) <= room:
        return name
    return _append_digest(name, clean.strip(". "), _MARK, room)


def _append_digest(name: str, clean: str, length: int, room: int) -> str:
    mark = "-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:length]
    return clean[: room - len(mark)] + mark


Series: TypeAlias = tuple[tuple[int, float], ...]
"""A curve on an integer grid: (step, value), steps ascending."""

MAX_STEPS = 101
LONGEST_TAG = 8000
"""Characters of a tag's value, which MLflow cuts silently."""
OUR_TAGS = "evalreport."
_KEY = re.compile(r"[\w.\- :]+(/[\w.\- :]+)*")
_IMAGE_KEY = re.compile(r"[\w\-. /]+", re.ASCII)


@dataclass(frozen=True, eq=False)
class Payload:
    """The whole of one logging, as values.

    A payload that MLflow would refuse half way cannot be made.

    Parameters
    ----------
    metrics : mapping from key to float
        Finite; undefined values are skipped.
    series : mapping from key to ((step, value), …)
        At most 101 integer steps, ascending: MLflow's charts overlay them run by run.
    tags : mapping from key to text
        Keys begin with ``evalreport.``.
    description : str
        Markdown of our block in the run's description.
    artifacts : mapping from path inside the run to bytes
    tables : mapping from path to JSON text in `log_table`'s form
    images : mapping from key to PNG
        For MLflow's image grid, at step 0.
    exports : mapping from path inside a folder to bytes
        The same for a person's folder: under bare names, the tables as CSV and Parquet. Empty where no
        folder is written, because the rows of large predictions are among them.
    model : str
        Id of the MLflow model of the metrics; empty if unknown.
    part : str
        What it is of; parts of a run are replaced one without the other.
    digest : str
        Of what the payload says, without the time at which it was made: equal digests mean that there is
        nothing to write.
    inputs : str
        Digest of what it was made of and the folder of the predictions; empty where they are not in the run.

    Examples
    --------
    >>> payload = Payload(metrics={"eval/f1": 0.75}, digest="ab12")
    >>> payload.metrics["eval/f1"]
    0.75
    >>> Payload(metrics={"f1@k": 0.75}, digest="ab12")
    Traceback (most recent call last):
    ValueError: MLflow refuses the metric key 'f1@k'
    """

    digest: str
    metrics: Mapping[str, float] = field(default_factory=dict)
    series: Mapping[str, Series] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    description: str = ""
    artifacts: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    tables: Mapping[str, str] = field(default_factory=dict, repr=False)
    images: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    exports: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    model: str = ""
    part: Part = "evaluation"
    inputs: str = ""

    def __post_init__(self) -> None:
        for name in ("metrics", "series", "tags", "artifacts", "tables", "images", "exports"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        if not self.digest:
            raise ValueError("a payload has a digest")
        for key in (*self.metrics, *self.series):
            _check_key(key)
        for key, value in self.metrics.items():
            _check_value(key, value)
        for key, points in self.series.items():
            _check_series(key, points)
        _check_names(self)

    @property
    def state(self) -> str:
        """The value of the state tag of a run that contains all of this."""
        return f"{self.digest} {self.inputs}".rstrip()

    @property
    def files(self) -> dict[str, bytes]:
        """Artifacts and tables together, as a run holds them: from path to bytes."""
        return {**self.artifacts, **{path: text.encode() for path, text in self.tables.items()}}


def _check_key(key: str) -> None:
    parts = key.split("/")
    if not _KEY.fullmatch(key) or len(key) > LONGEST_KEY or any(not part.strip(".") for part in parts):
        raise ValueError(f"MLflow refuses the metric key {key!r}")


def _check_value(key: str, value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"metric {key!r} is {value}; undefined values are skipped")


def _check_series(key: str, points: Series) -> None:
    steps = [step for step, _ in points]
    if not 1 <= len(points) <= MAX_STEPS or steps != sorted(set(steps)):
        raise ValueError(f"series {key!r} has {len(points)} steps; 1 to {MAX_STEPS}, ascending, are drawn")
    for _, value in points:
        _check_value(key, value)


def _check_names(payload: Payload) -> None:
    both = set(payload.metrics) & set(payload.series) | set(payload.artifacts) & set(payload.tables)
    if both:
        raise ValueError(f"{sorted(both)[0]!r} appears twice in the payload")
    for path in (*payload.artifacts, *payload.tables, *payload.exports):
        pure = PurePosixPath(path)
        if (
            pure.is_absolute()
            or ".." in pure.parts
            or str(pure) != path
            or not re.fullmatch(r"[\w./-]+", path)
        ):
            raise ValueError(f"{path!r} is not a path inside a run or a folder")
    for key in payload.images:
        if not _IMAGE_KEY.fullmatch(key):
            raise ValueError(f"MLflow refuses the image key {key!r}")
    for key, value in payload.tags.items():
        if not (_KEY.fullmatch(key) and key.startswith(OUR_TAGS)) or len(value) > LONGEST_TAG:
            raise ValueError(f"MLflow refuses the tag {key!r} of {len(value)} characters")


def content_digest(*parts: Any) -> str:
    """Return the sha256 of values as JSON, in a canonical form.

    Examples
    --------
    >>> content_digest({"b": 1, "a": 2}) == content_digest({"a": 2, "b": 1})
    True
    """
    text = json.dumps(
        encode(parts), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


def lasting(whole: Mapping[str, Any]) -> dict[str, Any]:
    """Return an encoded evaluation without what passes: the same for two calls that say the same."""
    provenance = {name: value for name, value in whole["provenance"].items() if name not in PASSING}
    return {**whole, "provenance": provenance}


def split_json(columns: Mapping[str, list[Any]]) -> str:
    """Return a table as the JSON that `log_table` writes: ``{"columns": […], "data": [[…], …]}``.

    MLflow shows every digit, so that no more than six stand here; `evaluation.json` has them all.

    Examples
    --------
    >>> split_json({"label": ["a", "b"], "f1": [0.123456789, None], "n": [1234567.0, 3]})
    '{"columns":["label","f1","n"],"data":[["a",0.123457,1234567.0],["b",null,3]]}'
    """
    rows = [list(map(_six_digits, row)) for row in zip(*columns.values(), strict=True)]
    table = {"columns": list(columns), "data": rows}
    return dumps(table)


def _six_digits(value: Any) -> Any:
    if not isinstance(value, float) or not value or not math.isfinite(value):
        return value
    return round(value, max(0, 5 - math.floor(math.log10(abs(value)))))


R = TypeVar("R")
KINDS: Final = (
    Extension("page", "Evaluation", "evalreport.page.contents:EvaluationPresentation"),
    Extension("page", "Comparison", "evalreport.page.comparison.sections:ComparisonPresentation"),
    Extension("page", "ThresholdSelection", "evalreport.page.selection:SelectionPresentation"),
)
"""Class of a result, and its presentation. Features add theirs at the point ``results`` in the same form."""


@dataclass(frozen=True)
class Presentation(ABC, Generic[R]):
    """The presentation of a result: shown, written and logged. Each kind of result has one subclass.

    Parameters
    ----------
    of : the result
    notes : str
        Markdown: a separate section.
    extra : mapping
        Additions of a command to the JSON, such as the results of rules.
    prefix : str
        Of the metric keys of an evaluation or a sweep.
    log_all : bool
        Whether every metric, interval, class and curve is logged, not only the headline metrics.
    """

    page_name: ClassVar[str]
    """Name of the page's file."""
    document: ClassVar[str]
    """Path of the JSON in a run; a folder holds it under its bare name."""
    noun: ClassVar[str]
    """What the page is called in the description of a run."""
    part: ClassVar[Part]
    cards: ClassVar[tuple[str, ...]]
    """Figures that are cards among MLflow's charts."""

    of: R
    notes: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    prefix: str = PREFIX
    log_all: bool = False

    @property
    @abstractmethod
    def title(self) -> str:
        """Title of the page."""

    @cached_property
    @abstractmethod
    def headline(self) -> str:
        """The verdict in one sentence, plain text."""

    @abstractmethod
    def sections(self) -> Sequence[Section]:
        """Return the sections of the page, the verdict first."""

    @abstractmethod
    def summary(self) -> ResultSummary:
        """Return the result in a few lines."""

    @property
    def intervals(self) -> str:
        """What the last line of the page says of the intervals."""
        return ""

    @cached_property
    def figures(self) -> Mapping[str, bytes]:
        """The figures that apply, as PNG by file name."""
        return {}

    @cached_property
    def encoded_result(self) -> dict[str, Any]:
        """The result as JSON holds it."""
        made: dict[str, Any] = encode(self.of)
        return made

    def content(self) -> dict[str, Any]:
        """Return the JSON."""
        return self.encoded_result

    def logged_content(self) -> dict[str, Any]:
        """Return the JSON of a run."""
        return self.content()

    @abstractmethod
    def lasting(self) -> tuple[Any, ...]:
        """Return what the digest is made of: the same for two calls that say the same."""

    @abstractmethod
    def metrics(self) -> dict[str, float]:
        """Return every number that can be logged, by key."""

    @abstractmethod
    def headline_metrics(self) -> dict[str, float]:
        """Return the numbers that are logged by default, by key, the most important first."""

    def series(self) -> dict[str, Series]:
        """Return the curves that can be logged, on integer steps."""
        return {}

    @abstractmethod
    def tags(self) -> dict[str, str]:
        """Return the tags of a run."""

    def artifacts(self) -> dict[str, bytes]:
        """Return the files of a run beside page, JSON, figures and tables."""
        return {}

    def tables(self) -> dict[str, dict[str, list[Any]]]:
        """Return the tables that MLflow shows, by their path."""
        return {}

    @abstractmethod
    def exports(self) -> dict[str, bytes]:
        """Return the files of a folder beside page, JSON and figures."""

    @property
    def description(self) -> str:
        """Our block of a run's description, Markdown."""
        short = markdown(replace(self.summary(), about=""))
        return f"{short}\n\nThe whole {self.noun} is the artifact `{self.page_name}`."

    @property
    def model(self) -> str:
        """Id of the MLflow model that the metrics are of as well."""
        return ""

    def payload(self, page: str) -> Payload:
        """Return everything that is logged, with the page as HTML."""
        headline = dict(islice(self.headline_metrics().items(), MOST_KEYS))
        return Payload(
            digest=content_digest(*self.lasting(), self.log_all),
            metrics=self.metrics() if self.log_all else headline,
            series=self.series() if self.log_all else {},
            tags=self.tags(),
            description=self.description,
            artifacts={
                self.page_name: page.encode(),
                self.document: dumps(self.logged_content()).encode(),
                **self.artifacts(),
                **{in_run(name): png for name, png in self.figures.items()},
            },
            tables={path: split_json(table) for path, table in self.tables().items()},
            images={
                f"{self.prefix}{name.removesuffix('.png')}": self.figures[name]
                for name in self.cards
                if name in self.figures
            },
            model=self.model,
            part=self.part,
        )

    def files(self, page: str) -> dict[str, bytes]:
        """Return the files of an output folder, all by their bare names."""
        document = {self.document.rpartition("/")[2]: dumps(self.content()).encode()}
        return {self.page_name: page.encode(), **document, **self.figures, **self.exports()}


def present(of: Any, **options: Any) -> Presentation[Any]:
    """Return the presentation of a result.

    Parameters
    ----------
    of : Evaluation, Comparison, ThresholdSelection, or a result of a feature
    options : notes, extra, prefix
        See `Presentation`.

    Raises
    ------
    UsageError
        Nothing knows how to present it.
    """
    known = {one.name: one for one in (*KINDS, *extensions("results"))}
    kind = next((known[cls.__name__] for cls in type(of).__mro__ if cls.__name__ in known), None)
    if kind is None:
        raise UsageError(f"{type(of).__name__} is not a result", fix=f"pass one of {', '.join(known)}")
    made: Presentation[Any] = kind.load()(of, **options)
    return made
