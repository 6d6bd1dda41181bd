"""The places of a source where one small fault can be put."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

SWAPS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "/"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
}


class Site(NamedTuple):
    """A piece of a source, in bytes from its start, and what takes its place."""

    line: int
    start: int
    end: int
    after: str

    def put(self, source: bytes) -> bytes:
        """Return the source with the fault in it."""
        return source[: self.start] + self.after.encode() + source[self.end :]


def sites(source: bytes) -> list[Site]:
    """Return every place for a fault, in the order of the source; types are left alone: nothing runs them.

    >>> source = b"def f(x: int | None) -> bool:\\n    return not x and 2 <= 3\\n"
    >>> [site.put(source).decode().splitlines()[1].strip() for site in sites(source)]
    ['return None', 'return x and 2 <= 3', 'return not x or 2 <= 3', 'return not x and 3 <= 3',
     'return not x and 2 < 3', 'return not x and 2 <= 4']
    """
    starts = [0]
    for text in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(text))

    def first(node: ast.expr | ast.stmt) -> int:
        return starts[node.lineno - 1] + node.col_offset

    def last(node: ast.expr | ast.stmt) -> int:
        return starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def swapped(left: ast.expr, op: ast.AST, right: ast.expr) -> Iterator[Site]:
        if type(op) in SWAPS:
            before, after = SWAPS[type(op)]
            found = source.find(before.encode(), last(left), first(right))
            if found >= 0:
                yield Site(source.count(b"\n", 0, found) + 1, found, found + len(before), after)

    def of(node: ast.AST) -> Iterator[Site]:
        match node:
            case ast.Compare(left, ops, comparators):
                for a, op, b in zip([left, *comparators], ops, comparators, strict=False):
                    yield from swapped(a, op, b)
            case ast.BoolOp(op, values):
                for a, b in pairwise(values):
                    yield from swapped(a, op, b)
            case ast.BinOp(left, op, right):
                yield from swapped(left, op, right)
            case ast.UnaryOp(ast.Not(), operand):
                yield Site(node.lineno, first(node), first(operand), "")
            case ast.Constant(bool(value)):
                yield Site(node.lineno, first(node), last(node), str(not value))
            case ast.Constant(int() | float() as value):
                yield Site(node.lineno, first(node), last(node), str(value + 1))
            case ast.Return(ast.expr() as value) if ast.unparse(value) != "None":
                yield Site(node.lineno, first(node), last(node), "return None")

    found = [site for node in _run(ast.parse(source)) for site in of(node)]
    return sorted(found, key=lambda site: (site.start, -site.end))


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk what runs: no annotations, decorators or `strict=True`, and nothing for a type checker."""
    yield tree
    for name, value in ast.iter_fields(tree):
        if name in {"annotation", "returns", "decorator_list"} or getattr(tree, "arg", "") == "strict":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                continue
            if isinstance(child, ast.AST):
                yield from _run(child)
