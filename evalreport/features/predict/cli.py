"""`evalreport log --predict-on FILE`: the model of a run predicts a file, and the predictions are logged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalreport.cli import options as opt
from evalreport.cli.console import Console
from evalreport.core.errors import UsageError
from evalreport.core.progress import report_progress

if TYPE_CHECKING:
    from evalreport.workflow.items import Item
    from evalreport.workflow.request import Request

PREDICTIONS = "predictions.parquet"
"""Artifact of the predictions, which the next command finds by its name."""
TAG = "evalreport.predicted_on"
"""Tag of a run whose predictions were made here: the name and the digest of the file."""


def work_with_predictions(work: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    """Return the work on a run that lets its model predict first, where --predict-on is given."""
    if options["predict_on"] is None:
        return work
    if options["children"] or options["table"]:
        other = "--children" if options["children"] else "--set table"
        raise UsageError(
            f"--predict-on and {other} both name the predictions",
            where="--predict-on",
            fix="pass one of them",
        )
    return partial(predict_first, work=work, path=options["predict_on"])


def announce(console: Console, items: Sequence[Item], options: dict[str, Any]) -> None:
    """Report, before it happens, that the code of a model runs."""
    if options["predict_on"] is not None:
        for item in items:
            console.say(f"loads the model of {item.display_name}, which runs its code")


def predict_first(item: Item, *, work: Any, path: str) -> Any:
    """Predict the rows of a file by the model of a run, log the predictions, and do the work on the run.

    Parameters
    ----------
    item : Item
        A run.
    work : functools.partial
        With the keywords `request` and `where`.
    path : str
        The file.

    Raises
    ------
    EvalreportError
        The model or the file cannot be used, or the run has other predictions already.
    """
    from tempfile import TemporaryDirectory

    from evalreport.workflow.collect import collect_file
    from evalreport.workflow.deliver import run_of
    from evalreport.workflow.items import Item as FileItem

    request, where = work.keywords["request"], work.keywords["where"]
    run_of(item, where)  # a run that is deleted or goes on is refused before anything is loaded
    refuse_other_predictions(item, force=where.force)
    report_progress("predicting")
    with TemporaryDirectory() as folder:
        place = Path(folder) / PREDICTIONS
        digest, request = write_predictions(item, path, request, place)
        collect_file(place, request)  # columns and labels are checked before anything is logged
        if where.dry_run:
            return work(FileItem(path=str(place), called=item.name), request=request, where=where)
        item.tracking_store.ask(methodcaller("log_artifacts", item.run.run_id, folder), item.display_name)  # type: ignore[union-attr]
        tag = f"{Path(path).name} sha256:{digest}"
        item.tracking_store.ask(methodcaller("set_tag", item.run.run_id, TAG, tag), item.display_name)  # type: ignore[union-attr]
    return work(item, request=replace(request, artifact=PREDICTIONS), where=where)


def refuse_other_predictions(item: Item, *, force: bool) -> None:
    """Refuse to replace predictions that were not made by --predict-on."""
    from evalreport.tracking.artifacts import find_artifact

    if item.run is None:
        raise UsageError(
            f"{item.display_name} is not a run", where="--predict-on", fix="name a run with --run-id ID"
        )
    if TAG in item.run.tags or force or find_artifact(item.tracking_store, item.run, PREDICTIONS) is None:
        return
    raise UsageError(
        f"the run already has {PREDICTIONS}",
        where=item.display_name,
        fix="remove --predict-on to evaluate it, or pass --force to replace it",
    )


def write_predictions(item: Item, path: str, request: Request, place: Path) -> tuple[str, Request]:
    """Write labels, predictions and what goes with the rows as Parquet.

    Returns
    -------
    Digest of the file that was predicted, and the request for what was written.
    """
    import hashlib

    import pandas as pd

    from evalreport.features.predict.model import label_column, loaded_model, model_rows, predictions_of
    from evalreport.readers.formats import read_table

    assert item.run is not None  # noqa: S101  refused before
    table = read_table(Path(path), format=request.format)
    columns, name = table.columns, Path(path).name
    wanted = request.columns
    with loaded_model(item.tracking_store, item.run, request.artifact) as loaded:
        truth = label_column([*columns], loaded, wanted.truth, name)
        beside = [wanted.id, wanted.weight, wanted.fold, wanted.example_text, *wanted.groups, *wanted.slices]
        named = [one for one in beside if one is not None and one in columns and one != truth]
        kept = [truth, *dict.fromkeys(named)]
        made = predictions_of(loaded, model_rows(columns, loaded, kept, name), name)
    clash = sorted(set(made) & set(kept))
    if clash:
        raise UsageError(
            f'the column "{clash[0]}" of {name} has the name of a prediction', where=name, fix="rename it"
        )
    frame = pd.DataFrame({one: columns[one] for one in kept} | dict(made))
    frame.to_parquet(place, index=False)
    kind = "decision" if "score" in made and "y_pred" in made else wanted.score_kind
    asked = replace(wanted, truth=truth, score_kind=kind)
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return digest, replace(request, columns=asked, artifact=None, format=None)


log_options = opt.AddedOptions(
    opt.runs(
        "--predict-on",
        "FILE",
        "Predict FILE with the run's model (runs its code).",
        type=opt.FILE,
        envvar=None,
    ),
    extend=work_with_predictions,
    announce=announce,
)
