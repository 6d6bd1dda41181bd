"""A run held against what was logged into it, and mended where it lacks something."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import methodcaller
from typing import Any, get_args

from evalreport.core.errors import EvalreportError, NotFoundError, ServerError
from evalreport.core.json_codec import encode
from evalreport.evaluation.evaluation import Evaluation
from evalreport.page.payload import EVALUATION, Part, Payload
from evalreport.tracking.ownership import content, list_file_sizes
from evalreport.tracking.verify import CheckedPart, check_part
from evalreport.workflow.deliver import Deliverable, sink_in
from evalreport.workflow.items import Item
from evalreport.workflow.request import Destination, Request


@dataclass(frozen=True)
class VerifiedRuns:
    """What a run was found to hold of each of its parts.

    Parameters
    ----------
    item : Item
        The run.
    before : tuple of CheckedPart
        As it was found.
    after : tuple of CheckedPart
        As it is now; the same where nothing was repaired.
    repair : bool
        Whether it was to be repaired.
    """

    item: Item
    before: tuple[CheckedPart, ...]
    after: tuple[CheckedPart, ...]
    repair: bool = False

    @property
    def warnings(self) -> tuple[str, ...]:
        """What could not be repaired here."""
        parts = [checked.part for checked in self.after if self.repair and not checked.whole]
        return tuple(f"the command that logged the {part} sends it again" for part in parts)

    @property
    def whole(self) -> bool:
        """Whether the run holds all that was logged into it."""
        return all(checked.whole for checked in self.after)

    @property
    def lines(self) -> tuple[str, ...]:
        """What was found, as the command prints it."""
        mended = (
            f"{now.part}: repaired, it had {then.trouble}"
            for then, now in zip(self.before, self.after, strict=True)
            if now.whole and not then.whole
        )
        return (*mended, *(f"{checked.part}: {checked}" for checked in self.after))

    def to_wire(self) -> dict[str, Any]:
        """Return the run as an element of `runs` of the JSON."""
        run = self.item.run
        return {
            "run_id": None if run is None else run.run_id,
            "run_name": self.item.name,
            "source": self.item.display_name,
            "ok": self.whole,
            "verified": [
                encode(checked) | {"repaired": checked.whole and not then.whole}
                for then, checked in zip(self.before, self.after, strict=True)
            ],
        }


def verify_item(item: Item, request: Request, where: Destination, *, repair: bool = False) -> VerifiedRuns:
    """Hold a run against its manifests, and mend its evaluation where that is asked for.

    What is missing comes from the run's own `evaluation.json`, if that is whole; else it is evaluated again.

    Raises
    ------
    NotFoundError
        Nothing of evalreport's is in the run.
    EvalreportError
        Whatever keeps it from being evaluated, or written to.
    """
    found = _check_parts(item)
    broken = any(checked.part == "evaluation" and not checked.whole for checked in found)
    if not repair or not broken:
        return VerifiedRuns(item, found, found, repair)
    sink = sink_in(item.tracking_store, _run_id(item), where, repair=True)
    (evaluation,) = (checked for checked in found if checked.part == "evaluation")
    kept = _read_kept_evaluation(item, evaluation)
    made = None if kept is None else _logged_of(kept, evaluation, request, where)
    if made is None:
        ev, _ = item.evaluate(request)
        made = _logged_of(ev, evaluation, request, where)
    if made is None:
        made = Deliverable(ev, notes=request.notes).payload(where)
    sink.log(made)
    return VerifiedRuns(item, found, _check_parts(item), repair)


def _logged_of(ev: Evaluation, found: CheckedPart, request: Request, where: Destination) -> Payload | None:
    """Return the payload with the digest of what was logged, with or without `log_all`; else None."""
    for log_all in (where.log_all, not where.log_all):
        made = Deliverable(ev, notes=request.notes).payload(replace(where, log_all=log_all))
        if made.digest == found.digest:
            return made
    return None


def _run_id(item: Item) -> str:
    return "" if item.run is None else item.run.run_id


def _check_parts(item: Item) -> tuple[CheckedPart, ...]:
    store, where = item.tracking_store, item.display_name
    run = store.ask(methodcaller("get_run", _run_id(item)), where)
    checks = (check_part(store, run, part, where) for part in get_args(Part))
    found = tuple(checked for checked in checks if checked is not None)
    if not found:
        raise NotFoundError(
            "nothing of evalreport's is in this run", where=where, fix="log it with `evalreport log`"
        )
    return found


def _read_kept_evaluation(item: Item, evaluation: CheckedPart) -> Evaluation | None:
    """Return the evaluation that lies in the run, if it is not known to be another than was logged."""
    store, where = item.tracking_store, item.display_name
    sizes = list_file_sizes(store, _run_id(item), {EVALUATION}, where)
    if EVALUATION not in sizes or EVALUATION in evaluation.missing.files:
        return None
    try:
        return Evaluation.from_json(content(store, _run_id(item), EVALUATION, sizes, where))
    except ServerError:
        raise
    except EvalreportError:
        return None
