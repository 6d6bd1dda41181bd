"""Labels read from generated text: the parser is a declared, logged part of the evaluation.

A text gives a label, or a reason why it gives none. Nothing is dropped, and nothing is guessed unless the
user says so.

Examples
--------
>>> from evalreport.parsing.parser import make_parser, parse_all
>>> parser = make_parser("auto", ["card_arrival", "card_linking"])
>>> done = parse_all(["It could be card_arrival.\\nFinal answer: card_linking", "I cannot say."], parser)
>>> [parser.labels[code] if code >= 0 else REASONS[reason] for code, reason in zip(done.codes, done.reasons)]
['card_linking', 'refusal']
"""

from evalreport.parsing.outcomes import FORMATS, REASONS, Example, Parsed, ParsingReport, text_digest

__all__ = [
    "FORMATS",
    "REASONS",
    "Example",
    "Parsed",
    "ParsingReport",
    "text_digest",
]
