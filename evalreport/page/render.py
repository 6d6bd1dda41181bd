"""Values into HTML: the only jinja2. Everything is escaped; the page's policy names our script and style.

What every result has in Python, the same methods, is here too.
"""

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
from evalreport.core.json_codec import dumps, loads
from evalreport.core.sentences import NOTHING
from evalreport.core.text import printable
from evalreport.page.elements import Section
from evalreport.page.payload import Presentation, present
from evalreport.page.sections.appendix import with_notes
from evalreport.page.text_summary import brief, comparison_brief, markdown

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment
    from markupsafe import Markup


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


def render(of: Any, *, title: str = "", **options: Any) -> str:
    """Return the page of a result as one HTML file.

    Parameters
    ----------
    of : evaluation, comparison, or what a sweep found
    title : str
        Of the browser's tab; that of the result when empty.
    options : notes, extra
        See `Presentation`.
    """
    return render_page(present(of, **options), title)


def render_page(shown: Presentation[Any], title: str = "") -> str:
    """Return the page of a result that is presented, with our style, script and policy.

    The same result gives the same bytes; nothing is read from the clock or the machine.
    """
    made = with_notes(shown.sections(), shown.notes)
    box = Section("files", "Data", "Data", "files", NOTHING, markdown(shown.summary()))
    script = asset("script.js", tuple(section.id for section in (*made, box) if section.data))
    footer = f"evalreport {__version__} · one file, no network requests{shown.intervals}."
    return whole_page(title or shown.title, (*made, box), footer, asset("style.css"), script)


def render_brief(ev: Any) -> str:
    """Return what a notebook shows of an evaluation, as a piece of HTML: escaped as the page is."""
    return environment().get_template("notebook.html.j2").render(brief=brief(ev))


def render_comparison_brief(comparison: Any) -> str:
    """Return what a notebook shows of a comparison, as a piece of HTML."""
    return (
        environment().get_template("notebook_comparison.html.j2").render(brief=comparison_brief(comparison))
    )


def render_summary(of: Any) -> str:
    """Return what a notebook shows of what a sweep found, as a piece of HTML: verdict, table, cautions."""
    return environment().get_template("notebook_summary.html.j2").render(summary=present(of).summary())


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
    """Return the text of the style or script for the page, without comments and indentation.

    Only whole lines are comments, and no string spans lines.

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
        bytecode_cache=_template_cache(),
    )
    made.filters["breaks"] = breakable
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}
    return made


def _template_cache() -> BytecodeCache | None:
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
