"""What every result has in Python: the same methods."""

from __future__ import annotations

from typing import Any

from evalreport.core.json_codec import dumps, loads
from evalreport.page.payload import present
from evalreport.page.render import render
from evalreport.page.text_summary import markdown


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
