"""What every result has in Python: the same methods, and figures in a namespace `plot`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from evalreport.core.json_codec import dumps, loads
from evalreport.figures.plots import drawing_on
from evalreport.page.payload import present
from evalreport.page.render import render
from evalreport.page.text_summary import markdown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

T = TypeVar("T")


class Result:
    """Methods of an evaluation, a comparison, a choice of thresholds and a study.

    Examples
    --------
    >>> import evalreport as er
    >>> ev = er.evaluate(["a", "b", "b"], ["a", "b", "a"])
    >>> ev.to_dict()["metrics"]["accuracy"]["value"], ev.to_markdown()[:2]
    (0.6666666666666666, '**')
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON has it: text, numbers, lists and dicts."""
        found: dict[str, Any] = loads(dumps(present(self).content()))
        return found

    def to_markdown(self) -> str:
        """Return the result in a few lines of Markdown, as `--markdown` writes them."""
        return markdown(present(self).summary())

    def to_html(self) -> str:
        """Return the page."""
        return render(self)


def draw(function: Callable[[T], Figure], result: T, ax: Axes | None) -> Figure:
    """Return the figure of a result, drawn on given axes where there are any.

    Raises
    ------
    UsageError
        The figure has several charts, and axes are given.
    """
    if ax is None:
        return function(result)
    with drawing_on(ax):
        return function(result)
