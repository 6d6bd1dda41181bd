"""The help of a command fits on one screen; ``--help-all`` and the topics have the rest."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from evalreport.cli import START, group
from evalreport.cli.help_texts import EXAMPLES, MORE, TOPICS
from evalreport.cli.options import GLOBAL, SectionCommand, SectionOption, Setting
from evalreport.cli.settings import OF_CHECK, SETTINGS
from tests.cli.running import run

Capture = pytest.CaptureFixture[str]
MOST_SHOWN = 20
MOST_NAMES = 75
SCREEN = 45
"""Lines of one screen."""


def commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """All commands with their words, groups among them."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (name,), command
        if isinstance(command, click.Group):
            for word in command.list_commands(context):
                below = command.get_command(context, word)
                assert below is not None
                yield (name, word), below


ALL = dict(commands())


def own_options(command: click.Command) -> list[SectionOption]:
    """The options that are typed for this command, without those of all commands."""
    typed = [one for one in command.params if isinstance(one, SectionOption) and not isinstance(one, Setting)]
    return [one for one in typed if one.section != GLOBAL]


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_the_help_is_one_screen_with_examples_first(capsys: Capture, words: tuple[str, ...]) -> None:
    text = run(capsys, *words, "--help").out
    assert len(text.splitlines()) <= SCREEN
    for example in EXAMPLES[words[-1]]:
        assert f"evalreport {example}" in text
    if isinstance(ALL[words], click.Group):
        return
    assert text.rstrip().endswith(MORE)
    before, _, options = text.partition("\nOptions:\n")
    assert "Examples:" in before
    listed = [line.split()[0].rstrip(",") for line in options.splitlines() if line.startswith("  -")]
    assert len(listed) <= MOST_SHOWN


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_the_options_of_the_help_exist(words: tuple[str, ...]) -> None:
    command = ALL[words]
    if isinstance(command, SectionCommand):
        known = {name for one in own_options(command) for name in one.opts}
        assert set(command.shown) <= known
        assert command.shown or len(known) <= 3


def test_there_are_at_most_75_options_in_all() -> None:
    names = {max(one.opts, key=len) for command in ALL.values() for one in own_options(command)}
    everywhere = {
        max(one.opts, key=len)
        for command in (group, *ALL.values())
        for one in command.get_params(click.Context(command))
        if isinstance(one, click.Option) and not isinstance(one, Setting)
    }
    assert names < everywhere
    assert len(everywhere) <= MOST_NAMES, sorted(everywhere)


def test_every_setting_of_a_command_is_a_key_of_the_settings_file() -> None:
    keys = {one.key for command in ALL.values() for one in command.params if isinstance(one, Setting)}
    assert keys <= {*SETTINGS, *OF_CHECK}


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_all_lists_everything(capsys: Capture, words: tuple[str, ...]) -> None:
    text = run(capsys, *words, "--help-all").out
    if isinstance(ALL[words], click.Group):
        return
    for one in ALL[words].params:
        if isinstance(one, Setting):
            assert f"  {one.typed.removeprefix('--set ')}" in text
        elif isinstance(one, click.Option):
            assert one.opts[-1] in text


def test_the_first_help_begins_with_examples_and_where_to_start(capsys: Capture) -> None:
    text = run(capsys, "--help").out
    places = [text.index(word) for word in ("Examples:", "Start here:", "Other commands:", "Options of all")]
    assert places == sorted(places)
    start = text[places[1] : places[2]]
    assert [line.split()[0] for line in start.splitlines()[1:] if line.strip()] == list(START)
    assert all(f"\n  {words[0]} " in text for words in ALL)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_lists_its_options_and_settings(capsys: Capture, topic: str) -> None:
    text = run(capsys, "help", topic).out
    section = TOPICS[topic][0]
    for name in ("report", "compare"):
        for one in ALL[name,].params:
            if isinstance(one, SectionOption) and one.section == section:
                assert (
                    one.typed.removeprefix("--set ") if isinstance(one, Setting) else one.opts[-1]
                ) in text
    assert run(capsys, "help", "nothing").code == 2


def test_help_without_a_topic_names_them(capsys: Capture) -> None:
    assert all(topic in run(capsys, "help").out for topic in TOPICS)
