"""Values as JSON and back, by the type hints of their dataclasses: one codec, strict where it reads.

A dataclass is an object with a key for each field. What its fields do not say by themselves is said in one
of three ways: a number's range by `Between` within its hint, keys that are told twice or always null by
`KEYS`, and a form of its own by a pair of methods, `to_wire` and `from_wire`, between which another dataclass
(the hint of `from_wire`) is what stands in the file.
"""

from evalreport.codec.reading import decode, loads
from evalreport.codec.scalars import LARGEST, Between, Infinite, Mass, NullIsInfinite, Share, Whole
from evalreport.codec.writing import alike, differing, dumps, encode

__all__ = [
    "LARGEST",
    "Between",
    "Infinite",
    "Mass",
    "NullIsInfinite",
    "Share",
    "Whole",
    "alike",
    "decode",
    "differing",
    "dumps",
    "encode",
    "loads",
]
