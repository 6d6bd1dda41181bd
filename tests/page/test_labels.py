"""The label table: the best threshold of each label, judged by brute force."""

from __future__ import annotations

import numpy as np
import pytest

from evalreport.page.sections.classes import classes_section
from tests.page.made import made, multilabel


def test_the_best_threshold_of_a_label_is_the_best() -> None:
    ev, p = made("multilabel"), multilabel()
    scores = np.asarray(getattr(p.scores, "values"))  # noqa: B009
    for code, entry in enumerate(ev.classes):
        truth = np.asarray(p.y_true)[:, code].astype(bool)
        f1 = []
        for threshold in np.unique(scores[:, code]):
            flagged = scores[:, code] >= threshold
            f1.append(2 * (truth & flagged).sum() / (truth.sum() + flagged.sum()))
        assert entry.best is not None
        at, value = entry.best
        assert value == pytest.approx(max(f1), abs=1e-12)
        flagged = scores[:, code] >= at
        assert 2 * (truth & flagged).sum() / (truth.sum() + flagged.sum()) == pytest.approx(value)


def test_labels_without_scores_have_no_best_threshold() -> None:
    assert all(entry.best is None for entry in made("multilabel-labels").classes)
    section = classes_section(made("multilabel-labels"))
    assert section is not None
    assert "Best at" not in [column.title for column in section.body[0].columns]
