"""The names of the package stay what they are, whatever of it was imported before."""

from __future__ import annotations

import importlib
from types import ModuleType

import pytest

import evalreport as er


@pytest.mark.parametrize("name", ["report"])
def test_a_subpackage_of_the_same_name_does_not_hide_a_function(name: str) -> None:
    part = importlib.import_module(f"evalreport.{name}")
    assert isinstance(part, ModuleType)
    assert callable(getattr(er, name))
    assert importlib.reload(part) is part
    assert callable(getattr(er, name))


def test_every_name_is_there() -> None:
    for name in er.__all__:
        assert getattr(er, name) is not None
    assert dir(er) == er.__all__
