"""Options about columns that have no effect on the data at hand: refused, so that nobody trusts them."""

from __future__ import annotations

from collections.abc import Iterator

from evalreport.columns.request import Columns
from evalreport.core.errors import UsageError
from evalreport.data.labels import Binary, LabelSpace


def refuse_unused(request: Columns, space: LabelSpace, *, scores: bool, text: bool, weights: bool) -> None:
    """Refuse the first option that would be ignored.

    Parameters
    ----------
    request : Columns
        What was said.
    space : LabelSpace
        What was found.
    scores, text, weights : bool
        Whether there are any.

    Raises
    ------
    UsageError

    Examples
    --------
    >>> from evalreport.data.labels import Multiclass
    >>> refuse_unused(Columns(positive="a"), Multiclass("abc"), scores=True, text=False, weights=False)
    Traceback (most recent call last):
    evalreport.core.errors.UsageError: --positive names one of two classes: this is multiclass with 3 labels
    """
    for option, why in _find_unused_options(request, space, scores=scores, text=text, weights=weights):
        raise UsageError(why, where=option, fix=f"leave {option} out")


def _find_unused_options(
    request: Columns, space: LabelSpace, *, scores: bool, text: bool, weights: bool
) -> Iterator[tuple[str, str]]:
    kind = f"this is {space.task} with {len(space)} labels"
    if request.positive is not None and not isinstance(space, Binary):
        yield "--positive", f"--positive names one of two classes: {kind}"
    if request.text is not None and not text:
        yield "--response", f"--response gives one label for each row: {kind}"
    if request.score_kind is not None and not scores and not request.no_scores:
        yield "--score-kind", "--score-kind says what scores are, and there are none"
    if request.weight_kind != "sampling" and not weights:
        yield "--set weight_kind", "--set weight_kind says what weights are, and there are none"
