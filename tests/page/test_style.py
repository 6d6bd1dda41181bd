"""Contrast of every pair of tokens, computed from the stylesheet (WCAG 2.2: 4.5 for text, 3 for the rest)."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from evalreport.page.render import asset

TEXT = 4.5
LINES = 3.0
TEXTS = (
    *(("ink", ground) for ground in ("bg", "surface", "blue-1", "error-1", "warn-bg")),
    *(("ink-2", ground) for ground in ("bg", "surface")),
    *(("blue", ground) for ground in ("bg", "surface", "blue-1")),
    *(("error", ground) for ground in ("bg", "surface", "warn-bg")),
    *(("warn", ground) for ground in ("bg", "warn-bg")),
)
GRAPHICS = (
    *(("line-strong", ground) for ground in ("bg", "surface")),
    *(("blue", ground) for ground in ("bg", "surface")),
    *(("blue-3", ground) for ground in ("bg",)),
    *(("error-3", ground) for ground in ("bg",)),
    *(("blue-4", ground) for ground in ("surface",)),
    *(("error-4", ground) for ground in ("surface",)),
    ("ink", "bg"),
    ("ink", "surface"),
)


def tokens(css: str) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Colours of the light and of the dark scheme."""
    light, dark = re.findall(r":root\{([^}]*--bg:[^}]*)\}", css)
    found = [dict(re.findall(r"--([\w-]+):(#[0-9a-f]{6})", block)) for block in (light, dark)]
    return found[0], {**found[0], **found[1]}


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_black_on_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_text_can_be_read(scheme: int) -> None:
    colours = tokens(asset("style.css"))[scheme]
    low = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in TEXTS}
    assert {pair: value for pair, value in low.items() if value < TEXT} == {}


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_lines_and_controls_can_be_seen(scheme: int) -> None:
    colours = tokens(asset("style.css"))[scheme]
    low = {pair: contrast(colours[pair[0]], colours[pair[1]]) for pair in GRAPHICS}
    assert {pair: value for pair, value in low.items() if value < LINES} == {}


def test_both_schemes_define_the_same_colours() -> None:
    css = asset("style.css")
    light, dark = re.findall(r":root\{([^}]*--bg:[^}]*)\}", css)
    names = [set(re.findall(r"--([\w-]+):#", block)) for block in (light, dark)]
    assert names[0] == names[1]


def test_lines_of_a_chart_differ_in_more_than_colour() -> None:
    """Two runs were both drawn solid under "One line style per run."."""
    css, names = asset("style.css"), ("line", *(f"line-{k}" for k in (2, 3, 4)))
    rules = [re.search(rf"\.chart \.{name}\{{([^}}]*)\}}", css) for name in names]
    dashes = [re.search(r"stroke-dasharray:([\d ]+)", rule[1] if rule else "") for rule in rules]
    assert len({found[1] if found else "" for found in dashes}) == 4


def test_colours_stand_in_the_tokens_alone() -> None:
    css = re.sub(r":root\{[^}]*\}", "", asset("style.css"))
    assert not re.findall(r"#[0-9a-f]{3,6}\b|rgb\(|hsl\(", css)


def test_no_text_is_smaller_than_twelve_pixels_on_a_page_of_its_own() -> None:
    css = asset("style.css").split("@media (max-width:420px)")[0]
    sizes = [float(size) for size in re.findall(r"font-size:(\.?\d+\.?\d*)rem", css)]
    assert min(sizes) >= 0.75


def test_the_rules_of_bars_add_up_to_every_per_cent() -> None:
    css = asset("style.css")
    rules = re.findall(r'td\[class([*$])="?(\w+)"?\]\{--([tu]):(\d+)\}', css)
    for share in range(1, 101):
        name, known = f"q b{share:02d}", {"t": 0, "u": 0}
        for how, part, digit, value in rules:
            if part in name if how == "*" else name.endswith(part):
                known[digit] = int(value)
        assert sum(known.values()) == share
