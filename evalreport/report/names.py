"""What our own things are called in a run, and names of classes and metrics as keys that MLflow takes."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias, TypeVar, get_args

T = TypeVar("T")

Part: TypeAlias = Literal["evaluation", "sweep", "comparison", "site"]
"""What is logged into a run by itself: each has a digest, a manifest and a block of the description."""

PAGE = "evalreport.html"
SWEEP_PAGE = "evalreport_sweep.html"
COMPARISON_PAGE = "evalreport_comparison.html"
PAGES = (PAGE, SWEEP_PAGE, COMPARISON_PAGE)
FIGURES = ("confusion_matrix.png", "roc_curve.png", "pr_curve.png")
"""Names in a folder; see `in_run` for those in a run."""
FOLDER = "evalreport"
"""Folder of everything else."""
EVALUATION = f"{FOLDER}/evaluation.json"
METRICS_TABLE = f"{FOLDER}/metrics.json"
CLASSES_TABLE = f"{FOLDER}/classes.json"
THRESHOLDS_TABLE = f"{FOLDER}/thresholds.json"
ROWS = f"{FOLDER}/rows.parquet"
"""Row by row how labels were read from text: id, truth, label, reason, digest of the text."""
SWEEP = f"{FOLDER}/sweep.json"
COMPARISON = f"{FOLDER}/comparison.json"
TRIALS_TABLE = f"{FOLDER}/trials.json"
OPTIMA_TABLE = f"{FOLDER}/optima.json"
SWEEP_POINTS = f"{FOLDER}/thresholds.parquet"
"""Every threshold with its counts: of the score, of each label, or of the confidence."""
SITE = "evalreport_site"
"""Folder of the site of an experiment."""
TABLES = (METRICS_TABLE, CLASSES_TABLE, THRESHOLDS_TABLE, TRIALS_TABLE, OPTIMA_TABLE)
MANIFEST = f"{FOLDER}/manifest.json"
"""Digests of what was written, by which our files are told from others of the same name."""

DIGEST_TAG = "evalreport.digest"
VERSION_TAG = "evalreport.version"
SWEEP_TAGS = "evalreport.sweep."
"""Beginning of the tags of a sweep."""
GATE_TAGS = "evalreport.gate."
"""Beginning of the tags of a model that `check --model` has judged."""
UNIT_TAG = "evalreport.unit"
"""What a row is called, one and many."""
TABLE_TAG = "evalreport.table"
"""The table of Spark, or its Parquet or Delta path, that holds the predictions of a run: set by the user."""

INPUTS_TAG = "evalreport.inputs"
"""Digest of what an evaluation is made of, and the folder of its predictions: a call on many runs passes over
those where it is still the same."""


def in_run(figure: str) -> str:
    """Return where a figure stands in a run.

    `FIGURES` stand at the artifact root, where MLflow's compare page pairs files of equal name, and bear our
    name, as `mlflow.models.evaluate` writes a ``confusion_matrix.png`` there, too.

    Examples
    --------
    >>> in_run("confusion_matrix.png"), in_run("lift.png")
    ('evalreport_confusion_matrix.png', 'evalreport/lift.png')
    """
    return f"evalreport_{figure}" if figure in FIGURES else f"{FOLDER}/{figure}"


def is_ours(path: str) -> bool:
    """Tell whether an artifact bears a name that evalreport gives, and so holds no predictions.

    Examples
    --------
    >>> is_ours("evalreport/classes.json"), is_ours("evalreport/predictions.parquet")
    (True, False)
    """
    ours = {
        *PAGES,
        *map(in_run, FIGURES),
        EVALUATION,
        ROWS,
        SWEEP,
        SWEEP_POINTS,
        COMPARISON,
        *TABLES,
        *MANIFESTS,
    }
    return path in ours or path.startswith(("images/", f"{SITE}/"))


def manifest_of(part: Part) -> str:
    """Return the path of a part's manifest.

    Examples
    --------
    >>> manifest_of("evaluation"), manifest_of("sweep")
    ('evalreport/manifest.json', 'evalreport/sweep_manifest.json')
    """
    return MANIFEST if part == "evaluation" else f"{FOLDER}/{part}_manifest.json"


def digest_tag(part: Part) -> str:
    """Return the tag that holds a part's digest.

    Examples
    --------
    >>> digest_tag("evaluation"), digest_tag("sweep")
    ('evalreport.digest', 'evalreport.sweep.digest')
    """
    return DIGEST_TAG if part == "evaluation" else f"evalreport.{part}.digest"


MANIFESTS = tuple(map(manifest_of, get_args(Part)))


LONGEST_KEY = 250
"""Characters of a metric key, prefix included."""
_FORBIDDEN = re.compile(r"[^\w.\- :]")
_FORBIDDEN_ON_WINDOWS = re.compile(r"[^\w.\- ]")
_MARK = 6
_LONGER_MARK = 16
"""Hexadecimal digits of a digest by which names that differ in case alone are told apart."""


def metric_keys(names: Iterable[str], prefix: str = "", *, windows: bool | None = None) -> dict[str, str]:
    """Return a metric key for each name, all of them different also where upper and lower case are one.

    A name that MLflow takes stays as it is. Any other has its characters replaced and ends in a mark made
    from the name itself, so that a class has the same key in every run, whatever other classes there are.

    Parameters
    ----------
    names : iterable of str
        Distinct; a slash in one of them does not open a section.
    prefix : str
        What stands before every key, such as ``eval/classes/f1/``.
    windows : bool, optional
        Whether a colon is forbidden; by the machine we run on, as MLflow does.

    Returns
    -------
    dict from name to key, in the order of the names

    Examples
    --------
    >>> metric_keys(["spam", "C++", "C#"], "eval/f1/")
    {'spam': 'eval/f1/spam', 'C++': 'eval/f1/C__-f1deb7', 'C#': 'eval/f1/C_-040228'}
    """
    forbidden = _FORBIDDEN_ON_WINDOWS if (os.name == "nt" if windows is None else windows) else _FORBIDDEN
    listed = list(dict.fromkeys(names))
    room = LONGEST_KEY - len(prefix)
    plain = {name: _plain(name, forbidden, room) for name in listed}
    twice = Counter(key.casefold() for key in plain.values())
    keys = {
        name: key if twice[key.casefold()] == 1 else _marked(name, key, _LONGER_MARK, room)
        for name, key in plain.items()
    }
    return {name: prefix + key for name, key in keys.items()}


def keyed(values: Mapping[str, T], prefix: str = "") -> dict[str, T]:
    """Return values under the metric keys of their names.

    Examples
    --------
    >>> keyed({"spam": 0.5, "C++": 0.25}, "f1/")
    {'f1/spam': 0.5, 'f1/C__-f1deb7': 0.25}
    """
    return {key: values[name] for name, key in metric_keys(values, prefix).items()}


def objective_keys(names: Iterable[str], prefix: str = "") -> dict[str, str]:
    """Return a metric key for each objective; bounds are written in words.

    Examples
    --------
    >>> objective_keys(["f1", "recall>=0.95", "fpr<=0.01"], "optima/")["fpr<=0.01"]
    'optima/fpr_at_most_0.01'
    """
    words = {name: _in_letters(name) for name in names}
    keys = metric_keys(words.values(), prefix)
    return {name: keys[word] for name, word in words.items()}


def _in_letters(name: str) -> str:
    """A bound's name without the signs that a metric key cannot hold."""
    signs = {">=": "_at_least_", "<=": "_at_most_", ">": "_above_", "<": "_below_"}
    for sign, word in signs.items():
        name = name.replace(sign, word)
    return name


def _plain(name: str, forbidden: re.Pattern[str], room: int) -> str:
    clean = forbidden.sub("_", unicodedata.normalize("NFC", name))
    if clean == name and clean.strip(".") and clean == clean.strip() and len(clean) <= room:
        return name
    return _marked(name, clean.strip(". "), _MARK, room)


def _marked(name: str, clean: str, length: int, room: int) -> str:
    mark = "-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:length]
    return clean[: room - len(mark)] + mark
