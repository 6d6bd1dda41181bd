"""What click did not understand, told as one of our errors with a remedy that helps."""

from __future__ import annotations

import pytest

from tests.cli.running import run


@pytest.mark.parametrize(
    ("words", "message", "fix"),
    [
        ("plan x.csv", "missing option '--metric'", "--metric M: Metric to plan for"),
        (
            "sweep thresholds x.csv --set constraint_confidence=often",
            "invalid value for '--set constraint_confidence': 'often' is not a number",
            "--set constraint_confidence=P: Confidence level for a constraint such as recall>=0.95",
        ),
        (
            "report x.csv --trutk y",
            "no such option: --trutk",
            "Did you mean --truth, --set truth_file or --set unit?",
        ),
        (
            "sweep --trials 3",
            "no such option: --trials",
            "write the command before its options: evalreport sweep thresholds --trials",
        ),
        (
            "report x.csv --zzzzzzzz",
            "no such option: --zzzzzzzz",
            "evalreport report --help lists the options",
        ),
    ],
)
def test_remedy_names_what_helps(
    capsys: pytest.CaptureFixture[str], words: str, message: str, fix: str
) -> None:
    done = run(capsys, *words.split())
    assert done.code == 2
    assert done.err.splitlines()[0] == f"error: {message}"
    assert done.err.splitlines()[-1].split(maxsplit=1) == ["fix", fix]
