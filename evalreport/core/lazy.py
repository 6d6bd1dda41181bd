"""Values that are made once, when they are first asked for: fields, entries of a mapping, shared sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class LazyField(Generic[T]):
    """A field of a dataclass whose value may be a function without arguments, called at the first reading.

    ``vars(value)`` holds what was given; `dataclasses.replace` reads, and so makes, every field.

    Parameters
    ----------
    default
        Of the field, where it is not given.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Page:
    ...     words: LazyField[int] = LazyField(0)
    >>> page = Page(lambda: print("counted") or 7)
    >>> page.words, page.words, Page().words
    counted
    (7, 7, 0)
    """

    def __init__(self, default: T | Callable[[], T]) -> None:
        self.default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, value: Any, owner: type | None = None) -> T:
        if value is None:
            return self.default  # type: ignore[return-value]  # to `dataclass`, which gives it to instances
        known: T | Callable[[], T] = vars(value)[self.name]
        if callable(known):
            known = vars(value)[self.name] = known()
        return known

    def __set__(self, value: Any, known: T | Callable[[], T]) -> None:
        vars(value)[self.name] = known


class LazyMapping(Mapping[str, T]):
    """A mapping whose entries are made one by one, each when it is first read.

    Parameters
    ----------
    names : iterable of str
    make : callable
        From a name to its entry.

    Examples
    --------
    >>> lengths = LazyMapping(["one", "three"], len)
    >>> lengths["three"], list(lengths), "two" in lengths
    (5, ['one', 'three'], False)
    """

    def __init__(self, names: Iterable[str], make: Callable[[str], T]) -> None:
        self._names, self._make = dict.fromkeys(names), make
        self._made: dict[str, T] = {}

    def __getitem__(self, name: str) -> T:
        if name not in self._made:
            if name not in self._names:
                raise KeyError(name)
            self._made[name] = self._make(name)
        return self._made[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


_STACK: ContextVar[ExitStack | None] = ContextVar("shared", default=None)


@contextmanager
def sharing() -> Iterator[None]:
    """Keep what is started inside for one item until the block ends.

    Examples
    --------
    >>> with sharing():
    ...     _ = current_stack().callback(print, "session ended")
    ...     print("next item")
    next item
    session ended
    """
    with ExitStack() as stack:
        before = _STACK.set(stack)
        try:
            yield
        finally:
            _STACK.reset(before)


def current_stack() -> ExitStack | None:
    """Return what ends with the block of `sharing`; None outside of one."""
    return _STACK.get()
