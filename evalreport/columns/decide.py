"""Which column is the label, the prediction and the scores: hypotheses, and the decision between them.

A hypothesis assigns all roles. Its weight is the sum of its evidence (`evidence.py`). The best hypothesis is
used if every hypothesis with another result has a far lower weight; otherwise the user must choose.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from evalreport.columns.column_request import Columns, list_names, several
from evalreport.columns.evidence import (
    MOST_LABELS,
    PAIRS,
    SCORES,
    Pair,
    Profile,
    RoleEvidence,
    Scored,
    confidence_of,
    mentions,
    name_evidence,
    pair_of,
    profiles_of,
    sets_agree,
    unlikely_values,
    weights_of_part,
)
from evalreport.columns.names import (
    INDEX,
    OR_NONE,
    PARTED,
    TEXT,
    Part,
    name_weights,
    named_part,
    named_scores,
    score_candidates,
)
from evalreport.columns.nested import name_places, split_lists
from evalreport.columns.plausible import PROVEN
from evalreport.core.errors import EvalreportError, UsageError
from evalreport.core.result import BY_NAME, ColumnDecision, ColumnReason

Array = npt.NDArray[Any]
NO_REASONS = ColumnDecision(())
MARGIN = 2.0
"""Least distance of the best hypothesis to every other one with another result."""
LEAST = 3.0
"""Least weight of a hypothesis that is used."""
LEAST_SCORE = 2.5
"""Least weight of scores."""
_COMPARED = 14
"""Most columns of labels that are compared with each other, those with the best names first."""
_BEST = 24
"""Most pairs of a label and a prediction for which scores are compared."""


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A complete assignment of roles, with its weight.

    Parameters
    ----------
    truth, pred, score : Part
        `pred` and `score` may be None.
    text : str or None
        The column of generated responses.
    """

    truth: Part
    pred: Part | None
    score: Part | None
    text: str | None
    weight: float
    decision: ColumnDecision = NO_REASONS
    same: bool = False
    """Whether the prediction is the label with the greatest score."""
    names: tuple[tuple[str, str], ...] = ()
    """Labels with their names in the predictions, if scores with the names of the labels prove them."""
    rivals: tuple[Part, ...] = ()
    """The scores that may be meant, the best first, if there are several."""

    @property
    def key(self) -> tuple[str, str]:
        """The columns of label and prediction."""
        answer = "" if self.pred is None else self.pred.display_name
        return self.truth.display_name, answer or self.text or ""

    @property
    def roles(self) -> tuple[tuple[str, str], ...]:
        """The roles with their columns."""
        parts = (("label", self.truth), ("prediction", self.pred), ("scores", self.score))
        found = [(role, part.display_name) for role, part in parts if part is not None]
        return (*found, *((("response", self.text),) if self.text is not None else ()))

    @property
    def options(self) -> dict[str, str]:
        """The options that choose this hypothesis."""
        found = {"truth": _option(self.truth)}
        if self.pred is not None:
            found["pred"] = _option(self.pred)
            both = [label for label in self.truth.labels if label in self.pred.labels]
            if self.pred.labels and len(both) < len(self.truth.labels) and "," not in "".join(both):
                found["labels"] = ",".join(both)
        elif self.text is not None:
            found["text"] = self.text
        return found

    def as_request(self, request: Columns) -> Columns:
        """Return the request that chooses this hypothesis."""
        found = self.options
        return replace(
            request,
            truth=found["truth"],
            pred=found.get("pred", request.pred),
            text=found.get("text", request.text),
        )


def _option(part: Part) -> str:
    return part.pattern.partition("[")[0] or part.columns[0]


class AmbiguousColumnsError(UsageError):
    """Several hypotheses about the columns have nearly the same weight."""

    def __init__(
        self, message: str, *, where: str = "", fix: str = "", best: Sequence[Hypothesis] = ()
    ) -> None:
        super().__init__(message, where=where, fix=fix)
        self.best = best

    def with_location(self, where: str) -> EvalreportError:
        """Return the same error with a location."""
        made = super().with_location(where)
        vars(made).update(best=self.best)
        return made


@dataclass(frozen=True, eq=False)
class _Search:
    truths: Mapping[str, Profile]
    """Columns that may be labels."""
    profiles: Mapping[str, Profile]
    """Columns that may be predictions or scores."""
    cells: Mapping[str, Array]
    """The sample of these, with one column for each number of a vector."""
    request: Columns
    file: str
    apart: bool
    """Whether labels and predictions are in separate files."""

    @cached_property
    def assigned_names(self) -> frozenset[str]:
        """Columns to which the user gave a role, by name or by pattern."""
        found = set(self.request.assigned_columns)
        for pattern in (one for one in found.copy() if one.count("*") == 1):
            before, after = pattern.split("*")
            held = (*self.truths, *self.profiles)
            found |= {name for name in held if name.startswith(before) and name.endswith(after)}
            found |= {before.removesuffix("[")} if pattern.endswith("[*]") else set()
        return frozenset(found)

    @cached_property
    def lists(self) -> Mapping[Profile, Sequence[Sequence[Any]] | None]:
        """The lists of labels of each column, also of texts that a separator splits."""
        every = dict.fromkeys((*self.truths.values(), *self.profiles.values()))
        return {one: _lists_of(one, self.request.list_separator) for one in every}

    def find_scores(
        self, known: frozenset[str], taken: set[str], *, single: bool, several: bool
    ) -> Sequence[Part]:
        """Return the scores that the user named, or else the columns that may be scores of known labels."""
        if self.request.are_scores_named:
            return [named_scores(list(self.cells), self.request, known, self.file)]
        used = {*taken, *self.request.assigned_columns}
        free = [
            name
            for name, values in self.cells.items()
            if values.dtype.kind in "biuf" and used.isdisjoint((name, name.partition("[")[0]))
        ]
        return score_candidates(self.cells, free, known, single=single, several=several)


def decide(
    columns: Mapping[str, Array], request: Columns, file: str, truths: Mapping[str, Array] | None = None
) -> Hypothesis | None:
    """Return the hypothesis to use; None if no complete one has enough evidence.

    Parameters
    ----------
    columns : mapping from name to array
        All columns that may have a role.
    request : Columns
        The user's options, which constrain the search.
    file : str
        Name of the file in messages.
    truths : mapping from name to array, optional
        Columns that may be labels, if these are in another file.

    Raises
    ------
    AmbiguousColumnsError, UsageError
        Hypotheses with other results have nearly the same weight.
    ColumnNotFoundError
        A column that the user named does not exist.
    """
    profiles = profiles_of(columns)
    held = profiles if truths is None else profiles_of(truths)
    search = _Search(held, profiles, _cells(profiles, request), request, file, truths is not None)
    found = sorted(
        chain(_label_hypotheses(search), _text_hypotheses(search), _set_hypotheses(search)),
        key=lambda h: -h.weight,
    )
    if request.pred is not None and any(one.pred is not None for one in found):
        found = [one for one in found if one.pred is not None]
    if not found or not (found[0].weight >= LEAST or _is_named(found[0], request)):
        return None
    best = found[0]
    rivals = [
        other
        for other in found[1:]
        if (other.weight > best.weight - MARGIN or _is_named_alike(best, other, search))
        and not _has_same_result(best, other, search)
    ]
    if rivals:
        distinct = {one.key: one for one in reversed(rivals)}
        raise _ambiguous([best, *reversed(distinct.values())], request)
    second = next((one for one in found[1:] if not _has_same_result(best, one, search)), None)
    if second is None:
        return best
    margin = round(best.weight - second.weight, 2)
    return replace(best, decision=replace(best.decision, runner_up=second.roles, margin=margin))


def _is_named_alike(best: Hypothesis, other: Hypothesis, search: _Search) -> bool:
    """Return whether another column's name is equally strong evidence that it is the prediction's label."""
    if search.request.truth is not None or best.pred is None or other.pred != best.pred:
        return False
    mine, theirs = (name_weights(one.truth.columns[0])["label"] for one in (best, other))
    return other.weight >= LEAST and theirs >= 4 and theirs >= mine - 0.5


def _is_named(best: Hypothesis, request: Columns) -> bool:
    """Return whether the user named a role, or the names of both columns indicate their roles."""
    if request.truth is not None or request.pred is not None:
        return True
    sides = ((best.truth, "label"), (best.pred, "prediction"))
    return all(part is not None and name_weights(part.columns[0])[role] >= 2 for part, role in sides)


def _cells(profiles: Mapping[str, Profile], request: Columns) -> dict[str, Array]:
    cells: dict[str, Array] = {}
    for name, one in profiles.items():
        if one.vector is not None:
            found = name_places(one.vector, one.values, request.labels)
            cells |= {f"{name}[{key}]": column for key, column in found.items()}
        else:
            cells[name] = one.values if one.numbers is None else one.numbers
    return cells


# ---------------------------------------------------------------------------------- one label per row


def _label_hypotheses(search: _Search) -> Iterator[Hypothesis]:
    """Yield hypotheses with one label per row."""
    if search.request.task == "multilabel" or search.request.list_separator is not None:
        return
    pairs = sorted(_pairs(search), key=lambda found: -found[0])
    for weight, truth, pair, reasons in pairs[:_BEST]:
        yield from _with_scores(search, weight, truth, pair, reasons)
    for truth in _likely(search, "truth"):
        found = _evidence_of_label(truth)
        weight = sum(one.weight for one in found)
        yield from _with_scores(search, weight, truth, None, _reasons("label", truth.name, found))


def _evidence_of_label(truth: Profile) -> list[RoleEvidence]:
    """Return the evidence of a label without predictions; in few rows only its name shows that it is one."""
    bare = 3.0 * (1 - confidence_of(len(truth.values))) if truth.weights["label"] < 1 else 0.0
    return [
        name_evidence(truth.weights["label"]),
        RoleEvidence(-1.0 - bare, "no column of predictions"),
        unlikely_values(truth, 3.0),
    ]


def _is_allowed(search: _Search, name: str, role: str) -> bool:
    request = search.request
    named = request.truth if role == "truth" else request.pred
    if named is not None:
        return name == named
    return name not in INDEX and name not in search.assigned_names and name.lower() not in PARTED


def _likely(search: _Search, role: str) -> list[Profile]:
    named = search.request.truth if role == "truth" else search.request.pred
    weight = "label" if role == "truth" else "prediction"
    found = [
        one
        for name, one in (search.truths if role == "truth" else search.profiles).items()
        if one.labels is not None
        and len(one.labels)
        and _is_allowed(search, name, role)
        and (
            name == named
            or (one.weights[weight] > -2 and (len(one.labels) <= MOST_LABELS or one.weights[weight] >= 2))
        )
    ]
    found.sort(key=lambda one: -max(one.weights["label"], one.weights["prediction"]) + 4 * one.is_unique)
    return found[:_COMPARED]


def _pairs(search: _Search) -> Iterator[tuple[float, Profile, Pair, tuple[ColumnReason, ...]]]:
    request = search.request
    if request.text is not None and request.pred is None:
        return
    preds = _likely(search, "pred")
    for truth in _likely(search, "truth"):
        for pred in preds:
            if pred.name == truth.name and not search.apart:
                continue
            pair = pair_of(truth, pred)
            if pair is None:
                continue
            found = [evidence(pair) for evidence in PAIRS]
            weight = sum(one.weight for one in found)
            if _is_supported(weight, pair, search):
                yield weight, truth, pair, _reasons("prediction", pred.name, found, truth.name)


def _is_supported(weight: float, pair: Pair, search: _Search) -> bool:
    """Return whether there is evidence for both columns, not for one of them alone."""
    truth, pred = pair.truth.weights["label"], pair.pred.weights["prediction"]
    bare = 3.0 * (1 - confidence_of(pair.rows))
    is_label = truth >= 1 or weight - pred - bare >= 0.5 or search.request.truth is not None
    is_prediction = pred >= 3 or weight - truth > 0 or search.request.pred is not None
    return is_label and is_prediction


def _reasons(
    role: str, column: str, found: Sequence[RoleEvidence], label: str = ""
) -> tuple[ColumnReason, ...]:
    sides = {True: ("label", label), False: (role, column)}
    return tuple(
        ColumnReason(*sides[one.of_label], round(float(one.weight), 2), one.reason)
        for one in found
        if one.reason
    )


def _with_scores(
    search: _Search, weight: float, truth: Profile, pair: Pair | None, reasons: tuple[ColumnReason, ...]
) -> Iterator[Hypothesis]:
    """Yield the hypothesis with the best scores, or without scores where it has a prediction."""
    right = Part((truth.name,))
    pred = None if pair is None else Part((pair.pred.name,))
    found = sorted(_scores(search, truth, pair), key=lambda one: -one[0])
    strong = [one for one in found if pair is None and one[1].weights["score"] >= 3]
    found = found if found and found[0][0] >= LEAST_SCORE else strong or found
    if found and (found[0][0] >= LEAST_SCORE or strong or search.request.are_scores_named):
        added, scored, why = found[0]
        rivals = () if search.request.are_scores_named else _rival_scores(found)
        same = pair is not None and scored.agreement(pair.pred_codes) >= PROVEN
        names = pair.names if same and pair is not None and scored.is_named else ()
        decision = ColumnDecision((*reasons, *_reasons("scores", scored.part.display_name, why)))
        yield Hypothesis(right, pred, scored.part, None, weight + added, decision, same, names, rivals)
    elif pred is not None:
        yield Hypothesis(right, pred, None, None, weight, ColumnDecision(reasons))


def _rival_scores(found: Sequence[tuple[float, Scored, list[RoleEvidence]]]) -> tuple[Part, ...]:
    """Return the scores with nearly the weight of the best ones and other values, the best first."""
    best = found[0]
    close = [
        one.part
        for weight, one, _ in found[1:]
        if weight >= LEAST_SCORE
        and weight > best[0] - (MARGIN if _is_free(one) or _is_free(best[1]) else 2 * MARGIN)
        and not set(one.part.columns) & set(best[1].part.columns)
    ]
    return (best[1].part, *close) if close else ()


def _is_free(scored: Scored) -> bool:
    """Return whether the name does not say that the column contains scores."""
    return scored.weights["score"] < 3


def _scores(
    search: _Search, truth: Profile, pair: Pair | None
) -> Iterator[tuple[float, Scored, list[RoleEvidence]]]:
    request = search.request
    if request.no_scores or (request.text is not None and request.pred is None):
        return
    pred = None if pair is None else pair.pred
    known = _known_labels(truth, pred, request)
    taken = {*(() if search.apart else (truth.name,)), *(() if pred is None else (pred.name,))}
    many = len(Scored(Part(()), (), truth, pair, {}).labels) > 2
    for part in search.find_scores(known, taken, single=True, several=many):
        columns = [search.cells[name] for name in part.columns]
        if any(column.dtype.kind not in "biuf" for column in columns):
            continue
        scored = Scored(part, columns, truth, pair, weights_of_part(part))
        found = [evidence(scored) for evidence in SCORES]
        yield sum(one.weight for one in found), scored, found


def _known_labels(truth: Profile, pred: Profile | None, request: Columns) -> frozenset[str]:
    found = {str(label) for label in request.labels or ()}
    declared = bool(found)
    for side in (truth, pred):
        if side is not None and side.labels is not None and not declared:
            found |= {_text(value) for value in side.labels.values}
    return frozenset(found | {name for _, name in request.label_names})


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


# ------------------------------------------------------------------------------------ generated text


def _text_hypotheses(search: _Search) -> Iterator[Hypothesis]:
    """Yield hypotheses with a generated response from which the label is still to be read."""
    request = search.request
    if request.task == "multilabel" or request.list_separator is not None:
        return
    if request.pred is not None and request.text is None:
        return
    for name, one in search.profiles.items():
        is_text = one.labels is not None and one.numbers is None
        if request.text is not None:
            if name != request.text:
                continue
        elif not is_text or name not in TEXT:
            continue
        for truth in _likely(search, "truth"):
            if truth.name == name and not search.apart:
                continue
            found = [
                name_evidence(truth.weights["label"], of_label=True),
                unlikely_values(truth, 3.0)._replace(of_label=True),
                RoleEvidence(max(3.0, one.weights["text"]) + 1.0, f"{BY_NAME}, and texts"),
                mentions(one, truth),
            ]
            weight = sum(each.weight for each in found)
            decision = ColumnDecision(_reasons("response", name, found, truth.name))
            yield Hypothesis(Part((truth.name,)), None, None, name, weight, decision)


# ------------------------------------------------------------------------------- any number of labels


@dataclass(frozen=True, eq=False)
class _Sets:
    """Indicators, of a column of lists or of one column per label."""

    part: Part
    flags: Array
    weights: Mapping[str, float]
    names: tuple[str, ...]
    """The label of each indicator."""


def _set_hypotheses(search: _Search) -> Iterator[Hypothesis]:
    """Yield hypotheses with any number of labels per row."""
    request = search.request
    preds = [*_lists(search, search.profiles), *_families(search, search.profiles)]
    truths = [*_lists(search, search.truths), *_families(search, search.truths)] if search.apart else preds
    for truth in truths:
        if not _is_allowed_set(search, truth.part, "truth"):
            continue
        for pred in preds:
            if not search.apart and set(pred.part.columns) & set(truth.part.columns):
                continue
            if not _is_allowed_set(search, pred.part, "pred"):
                continue
            common = _common(truth, pred)
            if common is None:
                continue
            found = [
                name_evidence(truth.weights["label"], of_label=True),
                name_evidence(pred.weights["prediction"]),
                RoleEvidence(2.0 + min(1.5, 0.5 * common[0].shape[1]), "the labels of the true labels"),
                sets_agree(*common),
            ]
            weight = sum(one.weight for one in found)
            why = _reasons("prediction", pred.part.display_name, found, truth.part.display_name)
            made = Hypothesis(truth.part, pred.part, None, None, weight, ColumnDecision(why))
            yield from _with_set_scores(search, made, truth)
        if request.pred is None:
            name = name_evidence(truth.weights["label"])
            why = _reasons("label", truth.part.display_name, [name])
            alone = Hypothesis(truth.part, None, None, None, name.weight, ColumnDecision(why))
            yield from (made for made in _with_set_scores(search, alone, truth) if made.score is not None)


def _is_allowed_set(search: _Search, part: Part, role: str) -> bool:
    named = search.request.truth if role == "truth" else search.request.pred
    if named is not None:
        return named in (part.pattern, part.pattern.removesuffix("[*]"), *part.columns[:1])
    return not {part.pattern, part.pattern.partition("[")[0]} & {*search.request.assigned_columns}


def _common(truth: _Sets, pred: _Sets) -> tuple[Array, Array] | None:
    """Return the indicators of the labels that both have, in one order."""
    place = {label: index for index, label in enumerate(pred.names)}
    both = [label for label in truth.names if label in place]
    if not both:
        return None
    mine = [truth.names.index(label) for label in both]
    return truth.flags[:, mine], pred.flags[:, [place[label] for label in both]]


def _lists(search: _Search, profiles: Mapping[str, Profile]) -> list[_Sets]:
    """Columns of lists of labels, and columns of lists of 0 and 1."""
    known: dict[Any, int] = {}
    for lists in search.lists.values():
        for row in lists or ():
            for label in row:
                known.setdefault(label, len(known))
    found = []
    held = [one for one in profiles.values() if search.lists[one] is not None and one.label_set is None]
    for one in held if len(known) <= MOST_LABELS else ():
        flags = np.zeros((len(one.values), max(1, len(known))), dtype=np.int64)
        for place, labels in enumerate(search.lists[one] or ()):
            flags[place, [known[label] for label in labels]] = 1
        found.append(_Sets(Part((one.name,)), flags, one.weights, tuple(map(str, known)) or ("",)))
    for one in profiles.values():
        if one.flags is not None:
            places = tuple(str(place) for place in range(one.flags.shape[1]))
            part = Part(tuple(f"{one.name}[{place}]" for place in places), places, None, f"{one.name}[*]")
            found.append(_Sets(part, one.flags, one.weights, places))
    return found


def _lists_of(one: Profile, separator: str | None) -> Sequence[Sequence[Any]] | None:
    """Return the lists of a column, also those that a separator was named for."""
    if separator is None or one.lists is not None or one.labels is None or one.numbers is not None:
        return one.lists
    lists: list[list[Any]] = split_lists(one.values, separator).tolist()
    return lists if len({label for row in lists for label in row}) <= MOST_LABELS else None  # not a text


_USUAL = ("true_", "pred_")
"""Beginnings of names that say that a column has the indicators of a label, whatever it contains."""
_SEPARATED = re.compile(r"[_.:/\- ]+")


def _families(search: _Search, profiles: Mapping[str, Profile]) -> list[_Sets]:
    """Columns of 0 and 1 with a common beginning or end, named after one label each."""
    binary = {
        name: one.numbers
        for name, one in profiles.items()
        if one.numbers is not None and _are_indicators(name, one.numbers)
    }
    groups: dict[tuple[str, str], dict[str, str]] = {}
    for name in binary:
        for affix, stem in _name_parts(name):
            groups.setdefault(affix, {})[stem] = name
    for pattern in (search.request.truth, search.request.pred):
        if pattern is not None and pattern.count("*") == 1:
            before, after = pattern.split("*")
            part = named_part(list(profiles), pattern, "--truth", search.file)
            groups[before, after] = {
                label: name for label, name in zip(part.labels, part.columns, strict=True) if name in binary
            }
    weights = {affix: name_weights(" ".join(affix)) for affix in groups}
    stems = {
        stem for affix, held in groups.items() for stem in held if _says(weights[affix]) and stem in binary
    }
    for name in search.cells:  # toxic beside toxic_pred, a score
        if name not in binary and name in profiles and profiles[name].numbers is not None:
            stems |= {
                stem for affix, stem in _name_parts(name) if stem in binary and _is_score(" ".join(affix))
            }
    if len(stems) > 1:
        groups["", ""] = {stem: stem for stem in binary if stem in stems}
        weights["", ""] = {**name_weights(""), "label": 1.0}
    found = []
    for affix, held in groups.items():
        is_asked = "*".join(affix) in (search.request.truth, search.request.pred)
        least = 1 if affix in (("true_", ""), ("pred_", "")) else 2
        if (len(held) >= least and (_says(weights[affix]) or affix == ("", ""))) or (held and is_asked):
            part = Part(tuple(held.values()), tuple(held), None, "*".join(affix))
            found.append(
                _Sets(part, np.column_stack([binary[n] for n in held.values()]), weights[affix], tuple(held))
            )
    return found


def _are_indicators(name: str, numbers: Array) -> bool:
    """Return whether a column has 0 and 1, or is named as if it had; predictions in between are scores."""
    inside = bool(((numbers >= 0) & (numbers <= 1)).all())
    if not inside or name.startswith("true_"):
        return name.startswith(_USUAL)
    return bool(((numbers == 0) | (numbers == 1)).all())


def _name_parts(name: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the beginnings and the ends of a name at its separators, with the rest of it."""
    for match in _SEPARATED.finditer(name):
        for affix, stem in (
            ((name[: match.end()], ""), name[match.end() :]),
            (("", name[match.start() :]), name[: match.start()]),
        ):
            if stem and any(affix):
                yield affix, stem


def _is_score(affix: str) -> bool:
    weights = name_weights(affix)
    return max(weights["prediction"], weights["score"]) >= 2


def _says(weights: Mapping[str, float]) -> bool:
    return max(weights["label"], weights["prediction"]) >= 2


def _with_set_scores(search: _Search, made: Hypothesis, truth: _Sets) -> Iterator[Hypothesis]:
    request = search.request
    if not request.no_scores:
        known = frozenset({*truth.part.labels, *map(str, request.labels or ())})
        if not truth.part.labels:
            held = search.truths[truth.part.columns[0]].lists or ()
            known |= {str(label) for row in held for label in row}
        taken = {
            *(() if search.apart else truth.part.columns),
            *(() if made.pred is None else made.pred.columns),
        }
        parts = search.find_scores(known, taken, single=False, several=True)
        numbers = [[search.cells[name] for name in part.columns] for part in parts]
        weights = [
            _weight_of_set_scores(part, values, alone=made.pred is None)
            for part, values in zip(parts, numbers, strict=True)
        ]
        least = -np.inf if request.are_scores_named else LEAST_SCORE
        found = [(weight, part) for weight, part in zip(weights, parts, strict=True) if weight >= least]
        if found:
            weight, part = max(found, key=lambda one: one[0])
            close = [other for value, other in found if value > weight - MARGIN]
            why = _reasons("scores", part.display_name, [RoleEvidence(weight, f"{BY_NAME} and the range")])
            decision = ColumnDecision((*made.decision.reasons, *why))
            rivals = tuple(close) if len(close) > 1 else ()
            yield replace(made, score=part, weight=made.weight + weight, decision=decision, rivals=rivals)
            return
    if made.pred is not None:
        yield made


def _weight_of_set_scores(part: Part, held: Sequence[Array], *, alone: bool) -> float:
    """Return the evidence of the name and of values from 0 to 1; alone, fractions may be the prediction."""
    weights = weights_of_part(part)
    weight = weights["score"] + 2.0 * all(((values >= 0) & (values <= 1)).all() for values in held)
    is_whole = all((values == np.rint(values)).all() for values in held)
    return weight + (max(0.0, weights["prediction"] - 1.0) if alone and not is_whole else 0.0)


# ------------------------------------------------------------------------------------------- decision


def _has_same_result(best: Hypothesis, other: Hypothesis, search: _Search) -> bool:
    """Return whether two hypotheses give the same evaluation."""
    if best.key == other.key:
        return True
    if best.truth.columns == other.truth.columns:
        if None in (best.pred, other.pred) and (best.same or other.same) and best.text == other.text:
            return True
        if {best.key[1]} == {other.key[1]}:
            return True
    pairs = [(best.truth, other.truth), (best.pred, other.pred)]
    return all((one is None and two is None) or _is_copy(search, one, two) for one, two in pairs)


def _is_copy(search: _Search, one: Part | None, other: Part | None) -> bool:
    """Return whether two columns contain the same labels in every row, or codes of them."""
    if one is None or other is None or len(one.columns) > 1 or len(other.columns) > 1:
        return False
    held = {**search.truths, **search.profiles}
    first, second = (
        held[part.columns[0]].labels if part.columns[0] in held else None for part in (one, other)
    )
    if first is None or second is None or len(first) != len(second):
        return False
    if (first.codes < 0).any() or (second.codes < 0).any():
        return False
    crossed = np.unique(first.codes * len(second) + second.codes)
    if crossed.size != len(first):
        return False
    if set(first.texts) & set(second.texts):
        return all(
            first.texts[pair // len(second)] == second.texts[pair % len(second)] for pair in crossed.tolist()
        )
    return True


_OFFERED = 6
"""Assignments that a question offers: all of three columns with the same labels."""
_OPTIONS = {"truth": "truth", "pred": "pred", "text": "response", "labels": "labels"}
_ROLES = {"truth": "truth", "pred": "prediction", "text": "response"}


def _ambiguous(found: Sequence[Hypothesis], request: Columns) -> AmbiguousColumnsError:
    """Return the refusal of hypotheses with nearly the same weight."""
    some = list(found[:_OFFERED])
    options = [one.options for one in some]
    fix = fix_of(options, request)
    for role, other in (("truth", "pred"), ("pred", "truth"), ("text", "truth")):
        names = list(dict.fromkeys(each[role] for each in options if role in each))
        if len(names) > 1 and len({each.get(other) for each in options} - {None}) <= 1:
            message = f"{len(names)} columns could be the {_ROLES[role]}: {list_names(names)}"
            return AmbiguousColumnsError(message, fix=fix, best=some)
    where = "; ".join(f"label {one.key[0]!r} and prediction {one.key[1]!r}" for one in some)
    message = f"{len(some)} assignments of the columns are about as likely"
    return AmbiguousColumnsError(message, where=where, fix=fix, best=some)


def fix_of(ways: Sequence[Mapping[str, str]], request: Columns) -> str:
    """Return the fix that names options: those of each hypothesis that the request does not have."""
    shown = [
        " ".join(
            f"--{_OPTIONS[name]} {shlex.quote(value)}"
            for name, value in way.items()
            if getattr(request, name) != value and (name != "labels" or request.labels is None)
        )
        for way in ways
    ]
    return f"name the columns, as in {'; or '.join(dict.fromkeys(filter(None, shown)))}"


def refuse_doubtful(found: Hypothesis) -> None:
    """Refuse scores of which several columns may be meant.

    Raises
    ------
    UsageError
    """
    if not found.rivals:
        return
    shown = [part.display_name for part in found.rivals]
    more = "" if found.pred is None and found.text is None else OR_NONE
    if any(part.pattern for part in found.rivals):
        example = f"'{found.rivals[0].pattern}'"
        raise several(shown, "sets of scores could be meant", "--scores", example, more)
    raise several(shown, "columns could be the score", "--score", more=more)
