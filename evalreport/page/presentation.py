"""One interface for every kind of result: its page, its summary, its figures, and what is logged of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Final, Generic, TypeVar

from evalreport.core.errors import UsageError
from evalreport.core.extensions import Extension, extensions
from evalreport.core.json_codec import dumps, encode
from evalreport.page.elements import Section
from evalreport.page.payload import (
    MOST_KEYS,
    PREFIX,
    Part,
    Payload,
    Series,
    content_digest,
    in_run,
    split_json,
)
from evalreport.page.summary import ResultSummary, markdown

R = TypeVar("R")
KINDS: Final = (
    Extension("page", "Evaluation", "evalreport.page.contents:EvaluationPresentation"),
    Extension("page", "Comparison", "evalreport.page.comparison.payload:ComparisonPresentation"),
    Extension("page", "ThresholdSelection", "evalreport.page.selection:SelectionPresentation"),
)
"""Class of a result, and its presentation. Features add theirs at the point ``results`` in the same form."""


@dataclass(frozen=True)
class Presentation(ABC, Generic[R]):
    """A result as it is shown, written and logged; each kind of result has a class of its own.

    Parameters
    ----------
    of : the result
    notes : str
        Markdown: a section of its own.
    extra : mapping
        What a command adds to the JSON, such as the rules that a comparison is held against.
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
