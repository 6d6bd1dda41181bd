"""`evalreport check`: metrics and data against rules, for CI; its rules are options of `compare` too."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.types import StringParamType

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.cli.options import SectionCommand, engine
from evalreport.cli.parallel import each_run
from evalreport.cli.print_evaluation import as_run, column_line, title, warn_of
from evalreport.cli.requests import command_line, destination_of, request_of, selection_of, tracking_uri
from evalreport.cli.stdio import put_document
from evalreport.core.errors import EvalreportError, UsageError

if TYPE_CHECKING:
    from evalreport.features.gate.check import CheckedItem, GateRequest, ModelCandidate, RulesRequest
    from evalreport.features.gate.documents import CheckedRun
    from evalreport.workflow.compare import CompareRequest
    from evalreport.workflow.items import Item
    from evalreport.workflow.request import Destination, Request


class Sentences(StringParamType):
    """Texts with spaces in them; semicolons separate several in an environment variable."""

    envvar_list_splitter = ";"


rules = opt.combine_options(
    opt.gate(
        "--require",
        "RULE",
        "'recall >= 0.9', 'f1[spam] > 80%', 'recall[site=a] > 0.7'; against the baseline: 'recall drops "
        "<= 0.02', "
        "'log_loss rises <= 0.01'; repeat.",
        multiple=True,
        type=Sentences(),
    ),
    opt.gate(
        "--test-on",
        ("interval", "estimate"),
        "Test rules against the confidence interval or the point estimate.",
        default="interval",
    ),
    opt.gate("--inconclusive", ("fail", "pass"), "How to treat inconclusive rules.", default="fail"),
)


def rules_of(options: dict[str, Any]) -> RulesRequest:
    """Return the rules of the options.

    Raises
    ------
    UsageError
        A text that is not a rule.
    """
    from evalreport.core.bounds import Bound
    from evalreport.features.gate.check import RulesRequest

    bounds = tuple(map(Bound.parse, options["require"]))
    return RulesRequest(bounds, options["test_on"], options["inconclusive"] == "fail")


def _with_rules(asked: CompareRequest, options: dict[str, Any]) -> CompareRequest:
    if not options["require"]:
        opt.refuse_without(click.get_current_context(), "--require RULE", "test_on", "inconclusive")
        return asked
    return replace(asked, rules=rules_of(options))


compare_options = opt.AddedOptions(rules, extend=_with_rules)
STDOUT = "-"


_of_registry = opt.HelpSection("Model registry")
models = opt.combine_options(
    _of_registry(
        "--model",
        "URI",
        "Check a registered model version (uses its run) and write the result as tags on it.",
    ),
    _of_registry(
        "--promote",
        "ALIAS",
        "Set this alias to the version if all checks pass and the version has not changed.",
    ),
)
files_of_ci = opt.combine_options(
    opt.gate("--baseline", "RUN|FILE|MODEL", "Baseline for 'drops' / 'rises' rules."),
    opt.gate("--train", opt.FILE, "Training data; fails if test rows also appear in it (leakage check)."),
    opt.gate("--junit", opt.FILE, "Also write the results as JUnit XML."),
    opt.gate("--markdown", opt.FILE, "Also write a Markdown summary; - for stdout."),
)


@click.command(
    "check",
    cls=SectionCommand,
    shown="run-id model promote require baseline train test-on inconclusive truth pred score positive id "
    "slice junit "
    "markdown",
)
@click.argument("files", nargs=-1, metavar="[FILE]...", type=opt.FILE)
@rules
@files_of_ci
@opt.selection
@models
@opt.describe
@opt.evaluation
@engine
@opt.page
@opt.folder
@opt.force
@opt.jobs
@opt.fail_fast
@opt.jsonl
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> int:
    """Check metrics and data of runs or files against rules; exit 1 unless all pass.

    Without a rule only the data are checked. FILE may be - for stdin.
    """
    from evalreport.workflow.items import items_of

    console = ctx.ensure_object(Console)
    if (console.json or options["jsonl"]) and options["markdown"] == STDOUT:
        raise UsageError("--json and --markdown - both write to stdout", fix="name a file for --markdown")
    request = request_of(options, command_line())
    rules = rules_of(options)
    if not rules.bounds:
        opt.refuse_without(ctx, "--require RULE", "test_on", "inconclusive")
    candidate = _candidate(files, options, tracking_uri(ctx))
    if candidate is None:
        items = items_of(files, selection_of(options), tracking_uri(ctx), options["table"])
    else:
        items = (candidate.item,)
        options["baseline"] = candidate.baseline.model_uri if candidate.baseline else options["baseline"]
    _spare(items, request, options)
    wanted = _gate(options, rules, request, tracking_uri(ctx))
    return _check_items(console, items, request, wanted, options, candidate)


def _candidate(files: tuple[str, ...], options: dict[str, Any], uri: str | None) -> ModelCandidate | None:
    """Return the model to check; None when runs or files are checked."""
    from evalreport.features.gate.check import candidate_of

    if options["model"] is None:
        if options["promote"]:
            raise UsageError("--promote needs a model", fix="add --model models:/NAME/VERSION")
        return None
    if files or selection_of(options) is not None:
        raise UsageError("--model already names a run", fix="remove the other runs and files")
    return candidate_of(options["model"], options["baseline"], options["promote"], uri)


def _spare(items: tuple[Item, ...], request: Request, options: dict[str, Any]) -> None:
    """Refuse to write over an input."""
    from evalreport.workflow.deliver import files_read, refuse_inputs
    from evalreport.workflow.items import Item

    read = [Item(path=options[name]) for name in ("baseline", "train")]
    written = [options[name] for name in ("junit", "markdown") if options[name] not in (None, STDOUT)]
    refuse_inputs([Path(name) for name in written], files_read(request, [*items, *read]))


def _gate(options: dict[str, Any], rules: RulesRequest, request: Request, uri: str | None) -> GateRequest:
    from evalreport.features.gate.check import GateRequest, baseline_of, training_rows

    return GateRequest(
        **vars(rules),
        baseline=baseline_of(options["baseline"], rules.bounds, request, uri),
        train=training_rows(options["train"], request),
    )


def _check_items(
    console: Console,
    items: tuple[Item, ...],
    request: Request,
    wanted: GateRequest,
    options: dict[str, Any],
    candidate: ModelCandidate | None,
) -> int:
    from evalreport.core.json_codec import encode
    from evalreport.features.gate.documents import CheckedRun, as_dicts, github_annotations
    from evalreport.features.gate.rules import gate_passes

    where = destination_of(options, several=len(items) > 1)
    done: dict[str, CheckedRun] = {}
    checks: list[dict[str, Any]] = []
    strict = wanted.inconclusive_fails
    line = console.say if options["markdown"] == STDOUT else console.print_result

    def record_failure(item: Item, error: EvalreportError) -> None:
        done[item.display_name] = CheckedRun(item.display_name, error=error)

    def show(result: tuple[Item, CheckedItem]) -> dict[str, Any]:
        item, outcome = result
        run = done[item.display_name] = _run(item, outcome)
        results = as_dicts(run)
        checks.extend(results)
        taken = outcome.evaluation.provenance.columns
        console.say(column_line(taken))
        warn_of(console, outcome.evaluation)
        for text in _lines(outcome, several=len(items) > 1):
            line(text)
        if os.environ.get("GITHUB_ACTIONS") == "true":
            for text in github_annotations(item.name, outcome.results, strict=strict):
                click.echo(text, err=True)
        body = as_run(outcome.evaluation) | {"files": [str(path) for path in outcome.paths]}
        body |= {"checks": results} if options["jsonl"] else {}
        if outcome.against is not None:
            body["against"] = {**encode(outcome.against.verdicts[0]), "headline": outcome.verdict}
        if candidate is not None:
            body["model"] = _settle_model(console, candidate, outcome, strict=strict)
        return body | {"ok": gate_passes(outcome.results, inconclusive_fails=strict)}

    try:
        work = partial(_check, request=request, gate=wanted, where=where)
        return each_run(console, items, work, show, options, failed=record_failure, checks=checks)
    finally:
        _write(
            [done[item.display_name] for item in items if item.display_name in done], options, strict=strict
        )


def _check(item: Item, request: Request, gate: GateRequest, where: Destination) -> tuple[Item, CheckedItem]:
    from evalreport.features.gate.check import check_item

    return item, check_item(item, request, gate, where)


def _settle_model(
    console: Console, candidate: ModelCandidate, outcome: CheckedItem, *, strict: bool
) -> dict[str, object]:
    """Write the result on the model, promote it where all checks pass, and report both."""
    from evalreport.features.gate.check import settle

    settled = settle(candidate, outcome, inconclusive_fails=strict)
    state = "written" if settled["written"] else "unchanged"
    console.say(f"{settled['model']}  {settled['outcome']}  verdict {state}")
    if "alias" in settled:
        done = "is set" if settled["promoted"] else "is not set: a check failed or is inconclusive"
        console.say(f"{settled['model']}  @{settled['alias']} {done}")
    return settled


def _run(item: Item, outcome: CheckedItem) -> CheckedRun:
    from evalreport.features.gate.documents import CheckedRun

    ev = outcome.evaluation
    claims = [finding.claim for finding in ev.findings if finding.severity == "error"]
    verdict = [] if outcome.against is None else [outcome.verdict]
    begun = outcome.baseline_started
    age = None if begun is None else max(0, int((time.time() - begun / 1000) // 86_400))
    about = title(ev).partition("  ")[2]
    return CheckedRun(
        item.name, outcome.results, about, (*verdict, *claims), against=outcome.against, baseline_age=age
    )


def _lines(outcome: CheckedItem, *, several: bool) -> list[str]:
    from evalreport.features.gate.documents import result_lines
    from evalreport.features.gate.rules import count_outcomes

    head = [title(outcome.evaluation)] if several else []
    head += [] if outcome.against is None else [outcome.verdict]
    return [*head, *result_lines(outcome.results), count_outcomes(outcome.results)]


def _write(runs: list[CheckedRun], options: dict[str, Any], *, strict: bool) -> None:
    from evalreport.features.gate.documents import junit, markdown
    from evalreport.tracking.folder import write_file

    if options["junit"]:
        write_file(Path(options["junit"]), junit(runs, inconclusive_fails=strict).encode())
    if options["markdown"] == STDOUT:
        put_document(markdown(runs))
    elif options["markdown"]:
        write_file(Path(options["markdown"]), markdown(runs).encode())


opt.global_options(command)
