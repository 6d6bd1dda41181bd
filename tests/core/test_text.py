"""Nothing secret, nothing that moves the cursor, nothing that leaves its folder."""

from __future__ import annotations

import unicodedata
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalreport.core.text import HIDDEN, printable, redact, redact_uri, slug

CANARY = "c4n4ry-v4lue"


@pytest.mark.parametrize(
    "uri",
    [
        f"https://ada:{CANARY}@host:5000/path",
        f"https://{CANARY}@host/",
        f"https://host/x?token={CANARY}",
        f"https://host/x#{CANARY}",
        f"postgresql+psycopg://ada:{CANARY}@host/db",
        f"https://ada:p@{CANARY}@host/",
        f"sqlite:///file.db?key={CANARY}",
        f"http://[bad:{CANARY}@host/",
    ],
)
def test_no_uri_keeps_its_secret(uri: str) -> None:
    assert CANARY not in redact_uri(uri)
    assert CANARY not in redact(f"failed: {uri}, again '{uri}' ({uri})", {})


@pytest.mark.parametrize(
    "name",
    [
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION",
        "MLFLOW_TRACKING_TOKEN",
        "MLFLOW_TRACKING_PASSWORD",
        "MY_API_KEY",
    ],
)
def test_secrets_of_the_environment_are_hidden(name: str) -> None:
    assert redact(f"server said {CANARY}!", {name: CANARY}) == f"server said {HIDDEN}!"


def test_other_variables_and_short_values_stay() -> None:
    assert redact("the home of ada1234 1 2", {"HOME": "ada1234", "ONE_KEY": "1"}) == "the home of ada1234 1 2"


def test_the_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", CANARY)
    assert CANARY not in redact(f"header {CANARY}")


@pytest.mark.parametrize("word", ["Basic", "Bearer", "bearer"])
def test_authorization_headers_are_hidden(word: str) -> None:
    for text in (
        f"Authorization: {word} {CANARY}",
        f"{{'Authorization': '{word} {CANARY}'}}",
        f"{word} {CANARY}",
    ):
        assert CANARY not in redact(text, {})


@given(st.text())
def test_printable_text_is_one_quiet_line(text: str) -> None:
    quiet = printable(text)
    assert not {unicodedata.category(char) for char in quiet} & {"Cc", "Cs", "Zl", "Zp"}
    assert not set(quiet) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    assert quiet.splitlines() in ([quiet], [])
    quiet.encode("utf-8")


@given(st.text())
def test_a_slug_is_one_path_component(text: str) -> None:
    name = slug(text)
    assert 1 <= len(name) <= 90
    assert PurePosixPath(name).parts == (name,)
    assert PureWindowsPath(name).parts == (name,)
    assert not name.startswith((".", "-"))
    assert slug(name) == name


@pytest.mark.parametrize("name", ["CON", "nul.txt", "lpt1", "Aux", "com9.log"])
def test_names_that_windows_reserves_are_changed(name: str) -> None:
    assert slug(name) != name
    assert slug("console") == "console"
