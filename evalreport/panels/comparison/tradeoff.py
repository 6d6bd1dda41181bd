"""A trade-off in words: what a run gains, and what it gives up, in counts where rows are counted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evalreport.comparison.values import Comparison, Movement, PairVerdict
from evalreport.findings.words import spoken
from evalreport.format import plural
from evalreport.labels import Binary, Multilabel
from evalreport.metrics.catalogue import find
from evalreport.metrics.named_sets import ERROR_KINDS
from evalreport.panels.words import Sentence, listed, quoted, say, shortened

_CLASS = re.compile(r"recall\[(.*)\]", re.DOTALL)


def both_sides(comparison: Comparison, verdict: PairVerdict) -> Sentence:
    """Return both sides of a trade-off, each in counts.

    Examples
    --------
    >>> import evalreport as er
    >>> truth = [1] * 100 + [0] * 100
    >>> careful, eager = [1] * 60 + [0] * 140, [1] * 140 + [0] * 60
    >>> found = er.compare([er.evaluate(truth, answers) for answers in (careful, eager)])
    >>> both_sides(found, found.verdicts[0]).text
    'run 2 finds 40 more “1” but raises 40 more false alarms than run 1.'
    """
    pair = (verdict.run, verdict.baseline)
    moved = next((entry for entry in comparison.movement if (entry.run, entry.baseline) == pair), None)
    sides = [
        listed(list(_phrases(comparison, metrics, moved, gain=gain)))
        for metrics, gain in ((verdict.better, True), (verdict.worse, False))
    ]
    called = {"run": shortened(verdict.run), "base": shortened(verdict.baseline)}
    return say("{run} {gains} but {losses} than {base}.", called, gains=sides[0], losses=sides[1])


def _phrases(
    comparison: Comparison, metrics: Sequence[str], moved: Movement | None, *, gain: bool
) -> Iterator[Sentence]:
    space = comparison.evaluations[0].space
    labels = [match[1] for name in metrics if (match := _CLASS.fullmatch(name))]
    counted = moved is not None and not isinstance(space, Multilabel)
    mark = "*" if gain else "_"
    if labels:
        yield _of_classes(labels, moved if counted else None, mark, gain=gain)
    plain = [name for name in metrics if not _CLASS.fullmatch(name)]
    if isinstance(space, Binary) and moved is not None:
        for name in (name for name in plain if name in ERROR_KINDS["binary"]):
            yield _of_kind(space, name, moved, mark, gain=gain)
        plain = [name for name in plain if name not in ERROR_KINDS["binary"]]
    if plain:
        titles = listed([say("{title}", title=spoken(find(name, space.task).title)) for name in plain])
        yield say(f"has the {mark}{'better' if gain else 'worse'}{mark} {{titles}}", titles=titles)


def _of_kind(space: Binary, name: str, moved: Movement, mark: str, *, gain: bool) -> Sentence:
    """Positives that are found, or false alarms: the net of what was fixed and broken in that class."""
    label = space.names[1] if name == "recall" else space.names[0]
    fixed, broken, _ = moved.by_class.get(label, (0, 0, 0))
    rows = abs(fixed - broken)
    if name == "recall":
        word = "more" if gain else "fewer"
        return say(f"finds {mark}{{rows:count}} {word}{mark} {{label}}", rows=rows, label=quoted(label))
    word = "fewer" if gain else "more"
    alarms = plural(rows, ("false alarm", "false alarms"))
    return say(f"raises {mark}{{rows:count}} {word}{mark} {{alarms}}", rows=rows, alarms=alarms)


def _of_classes(labels: Sequence[str], moved: Movement | None, mark: str, *, gain: bool) -> Sentence:
    """The net of all classes whose recall differs; of labels of a set, which share rows, their number."""
    classes = quoted(labels[0]) if len(labels) == 1 else f"{len(labels)} classes"
    if moved is None:
        word = "better" if gain else "worse"
        return say(f"has the {mark}{word}{mark} recall of {{classes}}", classes=classes)
    nets = [moved.by_class.get(label, (0, 0, 0)) for label in labels]
    rows = abs(sum(fixed - broken for fixed, broken, _ in nets))
    word = "more" if gain else "fewer"
    of = "{classes}" if len(labels) == 1 else "of {classes}"
    return say(f"finds {mark}{{rows:count}} {word}{mark} {of}", rows=rows, classes=classes)
