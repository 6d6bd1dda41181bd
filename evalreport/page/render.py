"""Values into HTML: the only jinja2. Everything is escaped; the page's policy names our script and style."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalreport import __version__
from evalreport.comparison.comparison import Comparison
from evalreport.core.result import Estimate
from evalreport.core.text import printable
from evalreport.evaluation.evaluation import Evaluation
from evalreport.evaluation.threshold_selection import ThresholdSelection
from evalreport.features.studies.study import Study
from evalreport.features.systems.result import SystemsComparison
from evalreport.page.elements import Section
from evalreport.page.sections.appendix import with_notes
from evalreport.page.sections.order import sections
from evalreport.page.sentences import say
from evalreport.page.summary import Concluded, brief, comparison_brief, markdown, summary_of

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment
    from markupsafe import Markup

METHODS = {"wilson": "Wilson for proportions", "delong": "DeLong for ROC AUC"}
"""Interval methods that the footer names."""
ONLY = re.compile(r"^// only (\w+)\n(.*?)^// always\n", re.MULTILINE | re.DOTALL)
"""A part of the script that a page needs for the data of one section."""
BREAKS = re.compile(r"(?<=[_\-./])(?=\w)(?<!\d[.](?=\d))|(?<=[a-z])(?=[A-Z])")
"""Places inside of names where a line may end; none is before the decimals of a number."""


@dataclass(frozen=True)
class Page:
    """What the page's template places.

    Parameters
    ----------
    policy : str
        Content security policy, with the hashes of style and script.
    titles : mapping from a section's id to its name in the contents list
    data : mapping
        What the script reads: by section.
    """

    title: str
    version: str
    policy: str
    style: str
    script: str
    sections: tuple[Section, ...]
    titles: Mapping[str, str]
    data: Mapping[str, Any]
    footer: str


def render(of: Concluded, *, title: str = "", notes: str = "") -> str:
    """Return the page of a result as one HTML file, with our style, script and policy.

    The same result gives the same bytes; nothing is read from the clock or the machine.

    Parameters
    ----------
    of : evaluation, comparison or sweep
    title : str
        Of the browser's tab; that of the result when empty.
    notes : str
        Markdown: intended use, limits, approval, as a section before the origin of the numbers.
    """
    told = say("Markdown: a click selects it.")
    made = with_notes(sections_of(of), notes)
    box = Section("summary", "Summary", "Summary to copy", "summary", told, markdown(summary_of(of)))
    script = asset("script.js", tuple(section.id for section in (*made, box) if section.data))
    style = asset("style.css")
    return whole_page(title or title_of(of), (*made, box), footer_of(of), style, script)


def render_brief(ev: Evaluation) -> str:
    """Return what a notebook shows of an evaluation, as a piece of HTML: escaped as the page is."""
    return environment().get_template("notebook.html.j2").render(brief=brief(ev))


def render_comparison_brief(comparison: Comparison) -> str:
    """Return what a notebook shows of a comparison, as a piece of HTML."""
    told = comparison_brief(comparison)
    return environment().get_template("notebook_comparison.html.j2").render(brief=told)


def render_summary(of: Concluded) -> str:
    """Return what a notebook shows of what a sweep found, as a piece of HTML: verdict, table, cautions."""
    return environment().get_template("notebook_summary.html.j2").render(summary=summary_of(of))


def whole_page(title: str, made: Sequence[Section], footer: str, style: str, script: str) -> str:
    """Return a page of sections with a style and a script, which its policy names."""
    page = Page(
        title=title,
        version=__version__,
        policy=policy(style, script),
        style=style,
        script=script,
        sections=tuple(made),
        titles={section.id: section.nav for section in made},
        data={section.id: section.data for section in made if section.data},
        footer=footer,
    )
    return environment().get_template("page.html.j2").render(page=page)


def sections_of(of: Concluded) -> Sequence[Section]:
    """Return the sections of the page of any result, the verdict first; panels of others are not imported."""
    match of:
        case Evaluation():
            return sections(of)
        case Study():
            from evalreport.features.studies import page_order as study

            return study.sections(of)
        case Comparison():
            from evalreport.page.comparison import order as comparison

            return [section for panel in comparison.PANELS if (section := panel(of)) is not None]
        case SystemsComparison():
            from evalreport.features.systems import page_order as systems

            return [panel(of) for panel in systems.PANELS]
        case ThresholdSelection():
            from evalreport.page.sections import selection_order as selection

            panels = (*selection.PANELS[of.evaluation.task], *selection.LAST)
            return [section for panel in panels if (section := panel(of)) is not None]


def title_of(of: Concluded) -> str:
    """Return the title of the page."""
    match of:
        case Evaluation():
            name = of.provenance.run_name or "Evaluation"
            return of.provenance.title or f"{name}: {of.provenance.dataset or of.task} evaluation"
        case Study():
            name = of.trials.study_name or of.provenance.run_name or "Sweep"
            return of.provenance.title or f"{name}: sweep of {of.objective.name}"
        case Comparison():
            names = of.names
            return f"Comparison of {' and '.join(names) if len(names) == 2 else f'{len(names)} runs'}"
        case SystemsComparison():
            return f"Comparison of {len(of.systems)} systems"
        case ThresholdSelection():
            p = of.evaluation.provenance
            return f"{p.title or p.run_name or 'Thresholds'}: thresholds"


def footer_of(of: Concluded) -> str:
    """Return the last line of the page."""
    return f"evalreport {__version__} · one file, no network requests{_intervals_of(of)}."


def _intervals_of(of: Concluded) -> str:
    match of:
        case Evaluation() if of.sampling.intervals:
            used = {result.method for result in of.metrics.values() if isinstance(result, Estimate)}
            named = ", ".join(words for method, words in METHODS.items() if method in used)
            rest = "the method of each stands in evaluation.json"
            how = f"{named}; {rest}" if named else rest
            return f" · intervals are {of.sampling.level * 100:.10g}%: {how}"
        case Comparison():
            return f" · intervals are {of.evaluations[0].sampling.level * 100:.10g}%"
        case SystemsComparison():
            return f" · intervals are {of.level * 100:.10g}%"
        case _:
            return ""


def templates() -> Path:
    """Return the folder of templates: inside an installed wheel, or beside the package in a checkout."""
    return templates_of(Path(__file__).parents[1])


def templates_of(package: Path) -> Path:
    """Return the folder of templates of a package's folder.

    Examples
    --------
    >>> templates_of(Path("/nowhere/evalreport")).as_posix()
    '/nowhere/templates'
    """
    inside = package / "templates"
    return inside if os.path.isdir(inside) else package.parent / "templates"


@lru_cache
def asset(name: str, data: tuple[str, ...] | None = None) -> str:
    """Return the text of our style or script, as it stands on the page: comments and indents stay here.

    A line is a comment as a whole or not at all, and no text of ours goes over lines.

    Parameters
    ----------
    name : str
    data : tuple of str, optional
        Sections with data for the script, which has the parts for these alone; every part without it.
    """
    written = (templates() / name).read_text(encoding="utf-8")
    if data is not None:
        written = ONLY.sub(lambda part: part[2] if part[1] in data else "", written)
    lines = (line.strip() for line in written.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith(("//", "/*")))


@lru_cache
def environment() -> Environment:
    """Return the one environment: everything is escaped, everything undefined is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(templates()),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_compiled(),
    )
    made.filters["breaks"] = breakable
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return made


def _compiled() -> BytecodeCache | None:
    """Compiled templates, where Python keeps its own if it does: to compile takes a tenth of a second."""
    from jinja2 import FileSystemBytecodeCache

    folder = Path(cache_from_source(str(templates() / "page.py"))).parent
    if sys.dont_write_bytecode:
        return None
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return FileSystemBytecodeCache(str(folder), "%s.jinja") if os.access(folder, os.W_OK) else None


def breakable(name: str) -> Markup:
    """Return a name that may go over lines after ``_ - . /`` and before a capital in the middle of a word.

    Examples
    --------
    >>> str(breakable("card_payment/feeCharged <b>")), str(breakable("v.2 at 0.51"))
    ('card_<wbr>payment/<wbr>fee<wbr>Charged &lt;b&gt;', 'v.<wbr>2 at 0.51')
    """
    from markupsafe import Markup

    return Markup("<wbr>").join(part for part in BREAKS.split(printable(name)) if part)


def _visible(value: Any) -> Any:
    """Control and bidirectional characters as escapes; what is already mark-up stays as it is."""
    return printable(value) if type(value) is str else value


def policy(style: str, script: str) -> str:
    """Return the content security policy of a page with this style and script.

    Examples
    --------
    >>> policy("", "").split("; ")[1]
    "script-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{digest(script)}'",
            f"style-src '{digest(style)}'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def digest(text: str) -> str:
    """Return the sha256 of a style or script as a policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
