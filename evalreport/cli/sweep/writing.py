"""Where the sub-commands of `evalreport sweep` write to: a page, a folder, the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalreport.cli import options as opt
from evalreport.errors import UsageError

if TYPE_CHECKING:
    from evalreport.workflow.request import Destination

_WRITE = "Write"
writing = opt.together(
    [
        opt.option(_WRITE, "-o", "--output", type=opt.FILE, help="HTML page; - for stdout."),
        opt.pdf,
        opt.out,
        opt.summary,
        opt.option(
            _WRITE, "--log", is_flag=True, envvar=None, help="Log into the run: page, table, best, series."
        ),
        opt.prefix,
        opt.force,
        opt.allow_running,
        opt.dry_run,
        opt.fail_fast,
        opt.jsonl,
    ]
)
"""Options of all three."""


def destination_of(options: dict[str, Any], count: int) -> Destination:
    """Return where so many sweeps go.

    Raises
    ------
    UsageError
        One file for several pages.
    """
    from evalreport.workflow.request import Destination

    if options["output"] and count > 1:
        raise UsageError("-o names one file for several pages", fix="use --out DIR")
    names = ("output", "pdf", "out", "log", "prefix", "force", "allow_running", "dry_run")
    return Destination(several=count > 1, **{name: options[name] for name in names})
