"""Our block in a run's description: the verdict, the headline numbers, and what to beware of, in Markdown."""

from __future__ import annotations

import re

from evalreport.estimates import interval, valued
from evalreport.evaluation.model import Evaluation
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import DESCRIBED
from evalreport.metrics.record import Metric
from evalreport.report.names import PAGE
from evalreport.values import Estimate

MOST_FINDINGS = 3
_LINKED = re.compile(r"(?<=@)(?=\S)|(?<=:)(?=//)|(?<=www)(?=\.)", re.IGNORECASE)
"""Places in what Markdown makes a mention or a link of without a mark: ``@name``, ``http://``, ``www.``."""
_MARKDOWN = re.compile(r"([\\`*_\[\]#|~$])")


def description(ev: Evaluation, verdict: str) -> str:
    """Return the block for a run's description.

    Parameters
    ----------
    ev : Evaluation
    verdict : str
        One sentence, plain text.

    Returns
    -------
    str
        Markdown; names of strangers stand in it as text.
    """
    rows = [f"**{as_text(verdict)}**", ""]
    shown = [(name, ev.metrics.get(name)) for name in DESCRIBED[ev.task]]
    known = [(name, result) for name, result in shown if isinstance(result, Estimate)]
    if known:
        rows += [f"| Metric | Estimate | {ev.sampling.level * 100:g}% interval |", "|---|---|---|"]
        rows += [_row(find(name, ev.task), result) for name, result in known]
        rows.append("")
    weighty = [finding for finding in ev.findings if finding.severity != "note"]
    rows += [f"- {as_text(finding.claim)}" for finding in weighty[:MOST_FINDINGS]]
    rows += ["", f"The whole report is the artifact `{PAGE}`."]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(rows))


def _row(metric: Metric, result: Estimate) -> str:
    return f"| {metric.title} | {valued(result, metric.style)} | {interval(result, metric.style)} |"


def as_text(text: str) -> str:
    """Return text that Markdown shows as it is, on one line; no link and no mention arises from it.

    Addresses and names after ``@`` are broken by a space of no width.

    Examples
    --------
    >>> as_text("a*b <script>")
    'a\\\\*b &lt;script&gt;'
    >>> as_text("@ada http://x.org").replace("\\u200b", "|")
    '@|ada http:|//x.org'
    """
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MARKDOWN.sub(r"\\\1", _LINKED.sub("\u200b", plain))
