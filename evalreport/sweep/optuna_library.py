"""The one door to Optuna: imported late, and never heard."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evalreport.errors import MissingExtraError


@contextmanager
def quiet_optuna() -> Iterator[Any]:
    """Give the `optuna` module for a while, its log lines and warnings kept from the user.

    Raises
    ------
    MissingExtraError
        Optuna is not installed.

    Examples
    --------
    >>> with quiet_optuna() as optuna:
    ...     study = optuna.create_study(direction="maximize")
    >>> study.direction.name
    'MAXIMIZE'
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import optuna
        except ImportError:
            raise MissingExtraError(
                "optuna is not installed", fix="pip install 'evalreport[optuna]'"
            ) from None
        before = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.CRITICAL + 1)
        try:
            yield optuna
        finally:
            optuna.logging.set_verbosity(before)
