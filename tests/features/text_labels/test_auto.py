"""What the parser `auto` reads from answers, and what it does not, and why."""

from __future__ import annotations

import itertools
import json
import random
import string
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalreport.core.errors import DataError
from evalreport.features.text_labels.parser import make_parser, parse_all
from tests.features.text_labels.answers import BANK, answers, generations, label_sets, queries, read_one

ANSWERS = answers()
LABEL_SETS = label_sets()


@pytest.mark.parametrize("labels", sorted({row["labels"] for row in ANSWERS}))
def test_an_answer_gives_its_label_or_the_reason_why_it_has_none(labels: str) -> None:
    parser = make_parser("auto", LABEL_SETS[labels])
    asked = [row for row in ANSWERS if row["labels"] == labels]
    read = {row["text"]: read_one(row["text"], parser) for row in asked}
    found = {text: (label, reason) for text, (label, reason, _) in read.items()}
    assert found == {row["text"]: (row.get("label", ""), row.get("reason", "")) for row in asked}
    assert all(bool(dress) == bool(label) for label, _, dress in read.values())


def test_the_answers_are_many_and_none_stands_twice() -> None:
    assert len({(row["labels"], row["text"]) for row in ANSWERS}) == len(ANSWERS) > 500
    assert {row["reason"] for row in ANSWERS if "reason" in row} == {
        *("refusal", "empty", "unknown_label", "ambiguous", "no_label")
    }


def test_auto_agrees_with_the_key_of_banking77() -> None:
    rows, key, labels = generations()
    parser = make_parser("auto", labels)
    codes = parse_all([row["generation"] for row in rows], parser).codes
    found = ["" if code < 0 else labels[code] for code in codes]
    agree = np.mean([label == item["intended_label"] for label, item in zip(found, key, strict=True)])
    right = np.mean([label == row["label"] for label, row in zip(found, rows, strict=True)])
    assert agree >= 0.995
    assert round(float(right), 4) == 0.8393


def test_auto_reads_banking77_with_other_labels_in_the_set() -> None:
    """Three thousand labels more, each near to a true one, change nothing."""
    rows, _, labels = generations()
    texts = [row["generation"] for row in rows]
    more = [f"{label.strip('?')}_{number}_x" for label in labels for number in range(39)]
    few = parse_all(texts, make_parser("auto", labels)).codes
    many = parse_all(texts, make_parser("auto", [*labels, *more])).codes
    np.testing.assert_array_equal(few, many)


FORMAT_CASES = (
    ("card_arrival", "bare"),
    ("Card arrival", "spaced"),
    ("'card_arrival'", "quoted"),
    ("**card_arrival**", "markdown"),
    ("```\ncard_arrival\n```", "code_fence"),
    ('{"intent": "card_arrival"}', "json"),
    ("{'intent': 'card_arrival'}", "json"),
    ("<intent>card_arrival</intent>", "xml"),
    ("Intent: card_arrival", "prefix"),
    ("I think that this is card_arrival.", "sentence"),
    ("It may be age_limit.\nFinal answer: card_arrival", "final_answer"),
    ("It is not age_limit; it is card_arrival.", "negated"),
)


@pytest.mark.parametrize(("text", "dress"), FORMAT_CASES)
def test_auto_names_the_format(text: str, dress: str) -> None:
    assert read_one(text, make_parser("auto", BANK)) == ("card_arrival", "", dress)


NAMES = st.lists(
    st.text(string.ascii_letters + string.digits, min_size=2, max_size=9), min_size=1, max_size=4
).map("_".join)
WRAPPERS: tuple[Callable[[str], str], ...] = (
    str,
    str.upper,
    lambda label: f"  {label}\n",
    lambda label: f"{label}.",
    lambda label: f'"{label}"',
    lambda label: f"„{label}“",
    lambda label: f"`{label}`",
    lambda label: f"**{label}**",
    lambda label: f"Intent: {label}",
    lambda label: f"**Answer:** {label}.",
    lambda label: json.dumps({"label": label, "confidence": 0.91}),
    lambda label: json.dumps({"reason": "it says so", "label": label}, indent=1),
    lambda label: f"```json\n{json.dumps({'label': label})}\n```",
    lambda label: f"<label>{label}</label>",
    lambda label: f"The label is {label}.",
    lambda label: f"<think>Let me see.</think>\n{label}",
    lambda label: f"After some thought.\n\nFinal answer: {label}",
    lambda label: rf"\boxed{{{label}}}",
    lambda label: f"1. {label}",
)


def distinct(labels: list[str]) -> bool:
    try:
        make_parser("auto", labels)
    except DataError:
        return False
    return True


@settings(max_examples=150)
@given(st.lists(NAMES, min_size=2, max_size=6, unique=True).filter(distinct), st.data())
def test_any_label_in_any_dress_is_read(labels: list[str], data: st.DataObject) -> None:
    label = data.draw(st.sampled_from(labels))
    wrapper = data.draw(st.sampled_from(WRAPPERS))
    assert read_one(wrapper(label), make_parser("auto", labels))[0] == label


@settings(max_examples=150)
@given(
    st.lists(st.text(min_size=1, max_size=12), min_size=2, max_size=5, unique=True).filter(distinct),
    st.data(),
)
def test_any_label_at_all_is_read_bare_and_from_json(labels: list[str], data: st.DataObject) -> None:
    label = data.draw(st.sampled_from(labels))
    parser = make_parser("auto", labels)
    assert read_one(label, parser)[0] == label
    assert read_one(json.dumps({"label": label}), parser)[0] == label


@settings(max_examples=200)
@given(st.text(max_size=300))
def test_any_text_has_a_label_or_a_reason(text: str) -> None:
    label, reason, dress = read_one(text, make_parser("auto", BANK))
    assert bool(label) == bool(dress) == (not reason)


# The customer's own words stand beside the answer, and name other labels in plain words.
TEMPLATES = (
    'The customer says: "{text}"\n\nIntent: {label}',
    "{text} -> {label}",
    "Message: {text}\nIntent: {label}",
    "The user is asking: {text} So the label is {label}.",
    'Take the message "{text}". It might look like {other}, but it is not the same. I\'d go with {label}.',
    "{{'text': '{text}', 'intent': '{label}'}}",
    "<query>{text}</query>\n<intent>{label}</intent>",
    '{label}\n\nReason: the customer writes "{text}".',
    "{label} ({text})",
    "**{label}** – the customer writes: {text}",
    'Considering {other} and {third}, neither fits. The message "{text}" is best described as {label}.',
    "1. {other}: no.\n2. {third}: no.\n3. {label}: yes.\n\nFinal answer: {label}",
    "- {other}: 0.1\n- {third}: 0.2\n- {label}: 0.7\n\nAnswer: {label}",
    '<think>The user says "{text}". Options: {other}, {third}. Hmm, wait, {other}? No.</think>\n\n{label}',
    'First, {other} comes to mind. However, {third} is also possible. "{text}" The best choice is {label}.',
    "The intent of this message is {label}. The customer wrote: {text}",
    "Intent: {spaced}\nExplanation: {text}",
    "I would classify this as {spaced}. The customer wrote: {text}",
    "It's {label}, definitely not {other} or {third}.",
    "Although the message mentions {other}, the correct intent is {label}.",
    "Answer: {label}\n\nMessage: {text}\nAnswer: {other}",
    '"{text}" — this is {label}',
    "Classification: {label}\nConfidence: 0.87\nRunner-up: {other}",
    '{label}, because "{text}"',
    "| Query | Intent |\n|---|---|\n| {text} | {label} |",
    "Top intents:\n1. {label} (0.91)\n2. {other} (0.05)\n\nSelected: {label}",
)


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_customers_own_words_do_not_mislead(template: str) -> None:
    _, _, labels = generations()
    chance = random.Random(0)  # noqa: S311
    texts, wanted = [], []
    for text in chance.sample(queries(), 150):
        label, other, third = chance.sample(labels, 3)
        plain = label.replace("_", " ").strip("?")
        spaced = chance.choice([plain, plain.title(), plain.capitalize()])
        texts.append(template.format(text=text, label=label, other=other, third=third, spaced=spaced))
        wanted.append(labels.index(label))
    codes = parse_all(texts, make_parser("auto", labels)).codes
    assert np.mean(codes == wanted) >= 0.99
    assert np.mean((codes != wanted) & (codes >= 0)) == 0


# Reasoning that names other labels, an answer, and what comes after it: in every combination.
REASONING = (
    "",
    "Let's think step by step. The message could be about {o} or {p}.",
    "The customer mentions {o}.",
    "At first glance, this looks like {o}, but that is not the case.",
    "Options considered:\n- {o}\n- {p}",
    "1. {o}: unlikely\n2. {p}: unlikely",
    "<think>{o}? {p}? Hmm.</think>",
    "I considered {o}; however, it does not fit.",
    "This is not {o}.",
    "{o} would mean something else.",
    "Okay, so the user is asking about something. Maybe {o}. But wait, {p} is also possible.",
    "Reasoning: {o} is close, {p} is closer.",
    "Is it {o}? No. Is it {p}? No.",
    "**Analysis:** the text has hints of {o} and {p}.",
    "Not {o}, and not {p}.",
    " {o} can be excluded, as can {p}.",
    '{{"candidates": ["{o}", "{p}"]}}',
)
CONCLUSIONS = (
    "Final answer: {l}",
    "Answer: {l}",
    "The answer is {l}.",
    "So the label is {l}.",
    "Therefore, {l}.",
    "**{l}**",
    "{l}",
    "Intent: **{l}**",
    "I would classify it as {l}.",
    "My answer: `{l}`",
    "\\boxed{{{l}}}",
    "Label: {l}",
    '{{"intent": "{l}"}}',
    '```json\n{{"intent": "{l}"}}\n```',
    "<answer>{l}</answer>",
    'The correct intent is "{l}".',
    "Thus the best category is {l}",
    "In conclusion, the intent is {l}.",
    "Classification: {l}",
    "I'll go with {l}.",
    "=> {l}",
    "The intent that fits best is {l}.",
    "It must be {l}.",
    "I think it's {l}.",
)
ENDINGS = (
    "",
    " because the customer says so.",
    "\n\nLet me know if you need more help!",
    "\nConfidence: 0.9",
    "\n\nExplanation: the message is not about {o}.",
    "\n\nAlternative: {o}",
    " (not {o})",
)


def combined(reasoning: str, conclusion: str, ending: str) -> str:
    """Put the parts on lines of their own where they are no sentences; a document has nothing after it."""
    return f"{reasoning}\n\n{conclusion}{'' if conclusion[:1] in '{`' else ending}"


def test_the_final_answer_counts_whatever_was_named_on_the_way() -> None:
    _, _, labels = generations()
    chance = random.Random(0)  # noqa: S311
    texts, wanted = [], []
    for parts in itertools.product(REASONING, CONCLUSIONS, ENDINGS):
        label, other, third = chance.sample(labels, 3)
        texts.append(combined(*parts).format(l=label, o=other, p=third))
        wanted.append(labels.index(label))
    codes = parse_all(texts, make_parser("auto", labels)).codes
    wrong = [text for text, code, want in zip(texts, codes, wanted, strict=True) if code not in (want, -1)]
    assert not wrong
    assert np.mean(codes == wanted) >= 0.995
