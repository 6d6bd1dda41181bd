"""Texts and label sets as the parsers compare them: words without case, and the letters of a text's shape.

A text is normalised, cut into words and signs, and its labels and cues are found in one pass by a trie over
its tokens. The result, the *shape*, is a string with one letter for each label, cue, word or sign.
"The intent is **card_arrival**, not card_linking." has the shape ``fkvqLq,NL.``; what it means is then a
question of short regular expressions (`parsing_rules.py`).
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from evalreport.core.errors import DataError


def _split_phrases(table: str) -> list[str]:
    return [" ".join(phrase.split()) for phrase in table.split(",")]


PHRASES: Mapping[str, str] = {
    "F": """final, final answer, final label, final decision, therefore, thus, hence, so, overall,
        ultimately, conclusion, in conclusion, to conclude, in summary, in short, to summarize,
        to summarise, to sum up, all in all, bottom line, consequently, accordingly, on balance,
        all things considered, boxed, fbox, insgesamt, daher, folglich, donc, finalement, en conclusion,
        por lo tanto, en conclusión, quindi, portanto, dus, endgültige antwort, réponse finale,
        respuesta final, resposta final, risposta finale, 最终答案, 最终, 因此, 所以, 综上, 综上所述,
        最終, 最終的な答え, したがって, よって, 최종 답변, 최종, 따라서""",
    "k": """assistant, bot, answer, answers, label, intent, intention, category, class, classification,
        prediction, predicted, predicted class, predicted label, topic, subtopic, tag, sentiment, emotion,
        tone, verdict, output, result, response, decision, choice, selection, type, judgment, judgement,
        rating, stars, grade, option, match, best match, stance, genre, language, priority, urgency, severity,
        assessment, determination, pick, antwort, etikett, kategorie, klasse, klassifikation, thema,
        stimmung, absicht, réponse, étiquette, catégorie, classe, intention, respuesta, etiqueta,
        categoría, clase, clasificación, intención, risposta, etichetta, categoria, resposta, antwoord,
        klasse, categorie, ответ, метка, категория, класс, 答案, 标签, 类别, 分类, 意图, 回答, 結果, 结果,
        ラベル, カテゴリ, カテゴリー, 分類, 答え, 意図, 정답, 답변, 답, 레이블, 라벨, 카테고리, 분류, 의도""",
    "V": """must be, has to be, needs to be, i think, i believe, i guess, i suspect, i vote, i'm going with,
        my guess, my vote, classify, classified, classify this as, classified as, categorize, categorized,
        categorise, categorised, categorize as, categorized as, labeled, labelled, labeled as, labelled as,
        label this as, label it as, label it, label this, tag it as, tagged, tagged as, assign, assigned,
        choose, chose, chosen, pick this, select, selected, go with, went with, going with, opt for,
        settle on, conclude, conclude that, predict, belongs to, belongs in, belong to, falls under,
        falls into, fits under, corresponds to, correspond to, matches, maps to, mapped to, best matches,
        best fits, best described as, described as, i say, i'd say, i would say, i pick, my pick,
        leaning towards, leaning toward, lean towards, identified as, filed under, points to, qualifies as""",
    "v": """is, was, are, be, would be, should be, will be, seems,
        seems to be, appears to be, looks like, equals, namely, ist, lautet, wäre, est, serait, es, sería,
        è, é, seria, это, 是, 为, 應該是, 应该是, 应为, は, 입니다""",
    "N": """not, never, neither, rather than, instead of, other than, unlike, as opposed to, opposed to,
        except, except for, excluding, without, different from, differs from, distinct from,
        distinguish from, distinguished from, confused with, confuse with, mistaken for, ruled out,
        rule out, ruling out, rules out, exclude, excludes, reject, rejected, rejecting, discard,
        discarded, dismiss, dismissed, far from, in contrast to, in place of, nothing to do with,
        unrelated to, not related to, not about, nicht, kein, keine, statt,
        anstatt, pas, plutôt que, au lieu de, niet, geen, não, в отличие от, не, нет, 不是, 并非, 而不是,
        而非, 非, 아니라, 아니고""",
    "W": """no, than, over, versus, vs, compared to, compared with, similar to""",
    "X": """wrong, incorrect, unlikely, less likely, excluded, ruled out, rejected, inappropriate,
        irrelevant, improbable, implausible, less suitable, less fitting, less appropriate, mistaken, out,
        eliminated, discarded, falsch, incorrecto, ではない, ではなく, じゃない, 아닙니다, 이 아니라,
        가 아니라, 이 아니고, 가 아니고, 不对""",
    "U": """unsure, uncertain, unclear, unable, unable to, if, whether, unless, hard to say, hard to tell,
        difficult to say, torn between, between, either, toss up, entweder, entre""",
    "c": """and, or, nor, plus, as well as, and also, or else, und, oder, et, ou, y, 和, 或, 或者, 与,
        以及, や, または, 또는, 및""",
    "R": """wait, actually, correction, corrected, revised, revision, on second thought,
        on second thoughts, on reflection, scratch that, let me reconsider, reconsidering, reconsider,
        hmm, edit""",
    "A": """reason, reasons, reasoning, rationale, explanation, justification, analysis, thought,
        thoughts, thinking, evidence, note, notes, comment, comments, context, remark, remarks,
        alternative, alternatives, runner up, runners up, second choice, second best, secondary,
        other options, candidates, candidate, options, choices, possible labels, possible intents,
        possible categories, possible classes, available labels, allowed labels, valid labels,
        excluded labels, rejected labels, not chosen, also considered, considered, explain, because of,
        why, step, steps, description, summary, keywords, begründung, erklärung, raison, explication,
        justificación, explicación, 理由, 解释, 説明, 원인, 이유, 설명""",
    "P": """confidence, confidence level, confidence score, certainty, certainty level, probability,
        likelihood, prob, konfidenz, confiance, confianza, 置信度, 確信度, 신뢰도""",
    "S": """score, scores""",
    "I": """text, message, query, input, question, utterance, user, customer, human, sentence, review,
        tweet, document, example, passage, instruction, customer message, user message, customer query,
        user query""",
    "e": """because, since, as, given, due to, based on, weil, parce que, porque, perché, 因为, なぜなら""",
    "C": """although, even though, despite, in spite of, whereas""",
    "b": """but, however, though, yet, sondern, aber, mais, pero, 而是, 但""",
    "f": """the, a, an, this, that, it, it's, its, of, to, about, for, most, likely, probably, clearly,
        definitely, certainly, obviously, best, correct, right, appropriate, suitable, accurate, fitting,
        following, i, i'd, we, would, my, our, one, single, very, simply, just, in, on, under, into,
        regarding, concerning, by, here, called, named, below, above, maybe, possibly, perhaps,
        potentially, also, even, true, primary, main, overall best, more, instead, only, really, exactly,
        der, die, das, den, dem, eine, ein, le, la, les, el, los, un, une, una, il, lo, de, du, del,
        della, sehr, clairement, más, の, 的, 应该, 最, 은, 는, 이, 가, を, が""",
    "O": """out of""",
}

SIGNS: Mapping[str, str] = {
    ":": ": = → ⇒ ➜ ➡ »",
    "q": "\" ' ` * # ~ { } [ ] < \\ $ “ ” „ ‘ « ‹ › 「 」 『 』 【 】 《 》 〈 〉 • ● ▪ · ✅ ✔ ☑ 👉",
    "c": "& +",
    "(": "(",
    ")": ")",
    ",": ", ، 、",
    ".": ". ! ; 。 … । ؛",
    "?": "? ؟",
    ">": ">",
    "/": "/",
    "|": "|",
    "-": "-",
    "W": "❌ ✗ ✘ ✖ 🚫",
}
"""Signs by their first character: a run of one sign is one token."""

ARROWS = ("= >", "- >", "-- >")

_NEGATED_VERBS = """is ruled out, are ruled out, was ruled out, be ruled out, can be ruled out,
    is excluded, be excluded, can be excluded, is rejected, be rejected, ではない, ではなく, じゃない,
    이 아니라, 가 아니라, 이 아니고, 가 아니고, is not, was not, are not, were not, does not, do not,
    did not, can not, cannot, could not, will not, would not, should not, must not, may not, might not,
    has not, need not, isn't, wasn't, aren't, weren't, doesn't, don't, didn't, can't, couldn't, won't,
    wouldn't, shouldn't, mustn't, hasn't, haven't, ain't, isnt, doesnt, dont, didnt, wouldnt, ist nicht,
    n'est pas, ne correspond pas, no es, non è, não é, is niet, не является, 不属于, 不应该是"""

_AFFIRMED = "no doubt, no question, not unlike, anything other than, nothing other than, nothing but"
_LATEX = """text, textbf, textit, texttt, textrm, mathrm, mathbf, mathit, mathtt, operatorname, emph"""
_NOT_A_NEGATION = ("only", "just", "merely", "simply", "necessarily only")
_OPEN = """sure, certain, clear, determine, decide, tell, say, know, be sure, be certain, be determined,
    be decided, identify, distinguish, judge, confirm, choose between, decide between, entirely sure,
    completely sure, fully sure, quite sure, really sure, totally sure, 100% sure, confidently say,
    confidently determine, make out, help, assist, provide, comply, answer, discuss"""

_NULL = """n a, na, none, null, nil, nan, unknown, undefined, empty, nothing, blank, unspecified,
    not applicable, none of the above, none of these, none of them, none of the labels,
    none of the categories, no label, no answer, no category, no intent, no match, no class,
    no matching label, no output, not available, keine, keiner, aucun, aucune, ninguno, ninguna, nessuno,
    nenhum, 无, なし, 없음"""
NULL_ANSWERS = frozenset(_split_phrases(_NULL))
"""Answers that say that there is no answer, as words."""


COMMON_WORDS = frozenset(
    _split_phrases(
        "other, none, any, all, more, like, can, will, may, general, unknown, good, well, new, use"
    )
)
"""Words so common that within prose they do not mean the label of that name."""

CONTENT_WORDS = frozenset(
    _split_phrases("rejected, excluded, discarded, dismissed, unsure, uncertain, unclear, unable, correct")
)
"""Cues that, if they are labels, are labels anywhere in a text."""

_FUNCTION_WORDS = """i, you, we, they, he, she, it, this, that, there, here, is, are, was, were, be, am, do,
    does, did, have, has, had, will, would, can, could, should, may, might, must, please,
    sure, okay, ok, sorry, thank, thanks, hello, hi, let's, let, your, my, our, their,
    because, if, what, how, why, when, where, who, which"""
FUNCTION_WORDS = frozenset(_split_phrases(_FUNCTION_WORDS))
"""Words that make a short text a sentence, not a name."""


@cache
def phrases() -> Mapping[str, str]:
    """Return every cue phrase with its letter; of equal phrases the first table wins.

    Examples
    --------
    >>> known = phrases()
    >>> known["final answer"], known["is not"], known["is not only"], known["cannot determine"]
    ('F', 'D', 'x', 'U')
    """
    found: dict[str, str] = {}
    negated = _split_phrases(_NEGATED_VERBS)
    for negation in (*negated, "not"):
        found.update({f"{negation} {word}": "x" for word in _NOT_A_NEGATION})
        found.update({f"{negation} {word}": "U" for word in _split_phrases(_OPEN)})
    found.update(dict.fromkeys(negated, "D"))
    found.update(dict.fromkeys(ARROWS, ":"))
    for letter, table in PHRASES.items():
        for phrase in _split_phrases(table):
            found.setdefault(phrase, letter)
    found.update(dict.fromkeys(_split_phrases(_AFFIRMED), "b"))
    found.update({f"\\ {command}": "q" for command in _split_phrases(_LATEX)})
    for phrase, letter in tuple(found.items()):
        if letter in "Fk" and phrase.isascii():
            found.setdefault(phrase.replace(" ", ""), letter)
    found["'s"] = "f"
    found["< /"] = "t"
    return found


LONGEST_READ = 131_072
"""Characters: of a longer text the first and the last half of this are read."""

_ALONE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Scripts written without spaces, or with endings glued to the word: each character is a word."""
_MARKS = "\u0300-\u036f\u0591-\u05bd\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_LETTER = rf"(?:[^\W_{_ALONE}]|[{_MARKS}])"
_WORD = "(?:{letter})+(?:(?<=[0-9])(?:[.,:][0-9]+)+(?!{letter}))?(?:'t(?!{letter}))?(?:(?:_+|-)(?={letter}))?"
_RUNS = r"-+[ \t]+|\n|\*+|`+|\.+|#+|\"+|'+|-+|=+|~+|>+|<+|\?+|!+|:+|\\+|\++|[^\w\s]"
_ASCII_TOKEN = re.compile(f"{_WORD.format(letter='[A-Za-z0-9]')}|{_RUNS}")
_TOKEN = re.compile(f"{_WORD.format(letter=_LETTER)}|[{_ALONE}]|{_RUNS}")
_STRUCK = re.compile(r"(?<!~)~~(?!~)[^~\n]{1,200}~~(?!~)|<(?:s|del)>[^<\n]{1,200}</(?:s|del)>")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\x00-\x08\x0e-\x1f\x7f]")
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([nr])(?![a-z])|(?=[_*#\[\](){}\"'`>~|.!&-]))")
_SPECIAL = re.compile(
    r"<\|[^|<>\n]{0,40}\|>|<\uff5c[^<>\n]{0,40}\uff5c>|</?s>|<(?:eos|bos|pad|unk|end_of_turn|start_of_turn)>"
    r"|\[/?INST\]|<</?SYS>>"
)
_FENCE_INFO = re.compile(
    r"(?i)(```|~~~)(?:json[c5l]?|ya?ml|xml|html|te?xt|plain(?:text)?|python|py|markdown|md|csv|toml|bash|sh)(?=\s|[{<\[])"
)
_SIGNS = str.maketrans(
    {
        **dict.fromkeys("\u2019\u02bc\uff07\u2032", "'"),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2014\u2015", " - "),
        **dict.fromkeys("\u0085\u2028\u2029", "\n"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufe0e\ufe0f\ufeff\u200e\u200f\u061c", None),
        **dict.fromkeys("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", None),
    }
)


def normalise(text: str) -> str:
    r"""Return text with one spelling of each sign: entities, escapes, special tokens and controls resolved.

    Case is kept. Linear in the length of the text; of a text over `LONGEST_READ` characters the middle
    is left out.

    Examples
    --------
    >>> normalise("Ham\u00a0&amp;\u00a0eggs\x00 \u2013 card\\_arrival<|im_end|>")
    'Ham & eggs - card_arrival\n'
    """
    text = _ends(text)
    if "<" in text or "[" in text or "~~" in text:
        text = _SPECIAL.sub("\n", _STRUCK.sub(" ", text))
    if "```" in text or "~~~" in text:
        text = _FENCE_INFO.sub(r"\1", text)
    if not text.isascii():
        text = _ends(unicodedata.normalize("NFKC", text)).translate(_SIGNS)
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text:
        text = _ESCAPED.sub(_unescape, text)
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # joins escaped halves
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if text.isprintable() else _CONTROL.sub("", text)


def _ends(text: str) -> str:
    if len(text) <= LONGEST_READ:
        return text
    return f"{text[: LONGEST_READ // 2]}\n{text[-LONGEST_READ // 2 :]}"


def _unescape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else "\n" if match[2] else ""


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a normalised text without case: words, numbers, runs of a sign, line ends.

    A word glued to the next by an underscore or a hyphen keeps that sign at its end.

    Examples
    --------
    >>> tokens_of("Not **Card_arrival**!")
    ['not', '**', 'card_', 'arrival', '**', '!']
    """
    return cased_tokens_of(text.casefold())


def cased_tokens_of(text: str) -> list[str]:
    """Return the tokens of a normalised text with their case.

    Examples
    --------
    >>> cased_tokens_of("Not B")
    ['Not', 'B']
    """
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def strip_glue(token: str) -> str:
    """Return a token without the sign that glues it to the next.

    Examples
    --------
    >>> strip_glue("card_"), strip_glue("--")
    ('card', '--')
    """
    return token.rstrip("_-") or token


def is_word(token: str) -> bool:
    """Return whether a token is a word or a number, not a sign.

    Examples
    --------
    >>> is_word("card_"), is_word("**")
    (True, False)
    """
    return token[:1].isalnum()


def spelling(text: str) -> tuple[str, ...]:
    """Return the words and signs of a text, without what glues or parts them.

    Examples
    --------
    >>> spelling("Reverted_card payment?")
    ('reverted', 'card', 'payment', '?')
    """
    return tuple(strip_glue(token) for token in tokens_of(normalise(text)) if not token.isspace())


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text, as every parser compares them.

    Examples
    --------
    >>> words_of("Top-up_Failed?")
    ('top', 'up', 'failed')
    """
    return tuple(filter(is_word, spelling(text)))


def split_camel(text: str) -> str:
    """Return text with a space at each turn from a small to a capital letter.

    Examples
    --------
    >>> split_camel("cardArrival")
    'card Arrival'
    """
    return _CAMEL.sub(" ", text)


_NOUNS = frozenset("kAPI")
"""Cues of nouns. "No", "A", "other" and "question" are labels of many label sets and words of every text: in
a shape such a word is ``m``, or ``w`` where its case is not the declared one, until `settle` decides."""
_IS_NOUN = re.compile(r"[mw](?=[q)]{0,4}[:>=|-])|[mw](?=[fAqI]{0,3}v)")
_LABEL_PLACES = tuple(
    map(
        re.compile,
        (
            r"(?m)^[q(-]{0,12}([mw])(?=[q).,?]{0,12}$)",  # alone on its line
            r"\A[q(\n-]{0,12}(?:kq{0,3}[:|-][q(]{0,6})?([mw])(?=[q)]{0,6}(?:[,.:\n()|-]|e|\Z))",  # opens it
            r"[q(]([mw])(?=[q)])",  # set off
            r"[kFV][fAqI]{0,3}[v:>|-][fq(]{0,4}(m)",  # after "the answer is"
            r"[kVF][fq(e]{0,3}(m)(?=[q).,?\n]|\Z)",  # "option A", "I choose B"
            r"F[,fqkv:>(]{0,8}(m)(?=[q).,?\n]|\Z)",
            r"v[fq]{0,3}(m)(?=[q]{0,3}(?:[.,\n]|\Z))",  # "it is other."
            r"(m)(?=[q.]{0,6}\Z)",  # the last word
            r"[.?,:\n][q(]{0,3}(m)(?=[q.]{0,6}\Z)",  # the last word, by itself
            r"[.?\n][q(]{0,3}(m)(?=[q.,]{0,6}(?:\n|\Z))",  # a sentence that ends the line
            r"(m)(?=[q)]{0,2}[vD])",  # "A is wrong"
            r"[NDU][fq]{0,2}(m)(?=[q)]{0,3}(?:[.,cbn\n]|\Z))",  # "not A"
        ),
    )
)
_LAST_WORD = 7
"""Place among these of the last word, which is a label only if the word is not a cue."""
_JOINED = re.compile(r"(?<=[Ll])[q)]{0,3},?[c/|,][fq(]{0,3}(m)")


def settle(letters: str, doubtful: Mapping[int, str]) -> str:
    """Return the shape with each doubtful word as the label ``L`` or as a cue.

    Parameters
    ----------
    letters : str
        Shape in which the doubtful words are ``m`` or ``w``.
    doubtful : mapping of int to str
        The cue that each is if it is not a label.

    Examples
    --------
    >>> settle("fkvm", {3: "N"}), settle("xxmxx", {2: "N"})
    ('fkvL', 'xxNxx')
    """
    nouns = {at: cue for at, cue in doubtful.items() if cue in _NOUNS}
    settled = list(letters)
    if nouns:
        keys = {match.start() for match in _IS_NOUN.finditer(letters)}
        for at, cue in nouns.items():
            settled[at] = cue if at in keys else "L"
    letters = "".join(settled)
    for number, place in enumerate(_LABEL_PLACES):
        for match in place.finditer(letters):
            if number != _LAST_WORD or doubtful[match.start(1)] == "x":
                settled[match.start(1)] = "L"
    letters = _JOINED.sub(lambda match: match[0][:-1] + "L", "".join(settled))
    return "".join(
        doubtful[at] if letter in "mw" and at in doubtful else letter for at, letter in enumerate(letters)
    )


_SEPARATORS = frozenset({":", "=", ">", "|", "- "})
_SIGN = {"\n": "\n", **{sign: letter for letter, signs in SIGNS.items() for sign in signs.split()}}


class Node:
    """A place in the trie: what follows, the label that ends here, the cue that ends here."""

    __slots__ = ("code", "cue", "loose", "next")

    def __init__(self) -> None:
        self.next: dict[str, Node] = {}
        self.code = -1
        self.cue = ""
        self.loose = False

    def place(self, form: Sequence[str]) -> Node:
        """Return the node of a sequence of tokens, made if it is not there."""
        node = self
        for token in form:
            node = node.next.setdefault(token, Node())
        return node


@cache
def _cue_root() -> Node:
    root = Node()
    for phrase, letter in phrases().items():
        root.place(spelling(phrase)).cue = letter
    return root


@dataclass(frozen=True)
class Shape:
    """A text as letters.

    Parameters
    ----------
    letters : str
        One letter for each unit.
    codes : mapping of int to int
        Code of the label at a position of `letters`.
    starts : sequence of int
        First token of each unit, and the number of tokens at the end.
    tokens : sequence of str
    """

    letters: str
    codes: dict[int, int]
    starts: Sequence[int]
    tokens: Sequence[str]

    def words(self, low: int, high: int) -> str:
        """Return the words of the units from `low` up to `high`, separated by spaces."""
        inside = self.tokens[self.starts[low] : self.starts[high]]
        return " ".join(strip_glue(token) for token in inside if is_word(token))


class _Reader:
    """One pass over the tokens of one text."""

    def __init__(self, index: LabelIndex, text: str) -> None:
        self.index = index
        self.labels = index.root.next
        self.cues = _cue_root().next
        self.text = text
        self.tokens = tokens_of(text)
        glued = "_" in text or "-" in text
        self.words = [strip_glue(token) for token in self.tokens] if glued else self.tokens
        self.letters: list[str] = []
        self.starts: list[int] = []
        self.codes: dict[int, int] = {}
        self.doubtful: dict[int, str] = {}

    @cached_property
    def cased_tokens(self) -> list[str]:
        """The tokens with their case, or those without where folding changed their number."""
        cased = cased_tokens_of(self.text)
        return cased if len(cased) == len(self.tokens) else self.tokens

    def read_tokens(self) -> None:
        """Fill letters, starts and codes."""
        at, end, plain = 0, len(self.tokens), self.index.plain
        while at < end:
            self.starts.append(at)
            letter = plain.get(self.tokens[at])
            if letter:
                self.letters.append(letter)
                at += 1
            elif self.words[at] in self.cues or self.words[at] in self.labels:
                at = self._consume_label_or_cue(at, end)
            else:
                at = self._other(at)

    def _consume_label_or_cue(self, at: int, limit: int) -> int:
        """Take the longest label or cue that begins here and ends by `limit`; of equal ones the label."""
        label, code = self._find_label(at, limit)
        end, cue = self._find_cue(at, limit)
        if label > at and label >= end:
            return self._label(at, label, code, cue if label == end else "")
        if end == at or self._glue(end - 1):
            return self._other(at)
        for inner in range(at + 1, end):  # "is not" before the label "not spam", "is rejected"
            label, _ = self._find_label(inner, len(self.words))
            if label > end or (label == end and self.words[inner] in CONTENT_WORDS):
                return self._consume_label_or_cue(at, inner)
        self.letters.append(cue)
        return end

    def _find_label(self, at: int, limit: int) -> tuple[int, int]:
        """Return the end and the code of the longest label from `at`."""
        best, here, node = (at, -1), at, self.labels.get(self.words[at])
        while node is not None:
            here += 1
            is_refused = node.loose and self.cased_tokens[at].islower()
            if node.code >= 0 and self._is_whole(at, here) and not is_refused:
                best = (here, node.code)
            node = node.next.get(self.words[here]) if here < limit else None
        return best

    def _find_cue(self, at: int, limit: int) -> tuple[int, str]:
        """Return the end and the letter of the longest cue from `at`."""
        best, here, node = (at, ""), at, self.cues.get(self.words[at])
        while node is not None:
            here += 1
            if node.cue:
                best = (here, node.cue)
            node = node.next.get(self.words[here]) if here < limit else None
        return best

    def _label(self, at: int, end: int, code: int, cue: str) -> int:
        word, position = self.words[at], len(self.letters)
        alone = end == at + 1
        common = alone and word in COMMON_WORDS
        cue = "" if not alone or cue in "XV" or word in CONTENT_WORDS else cue
        small = (
            alone
            and len(word) == 1
            and word.isalpha()
            and self.cased_tokens[at] not in self.index.labels[code]
        )
        if cue or common or small:
            self.doubtful[position] = cue or "x"
            self.letters.append("w" if small else "m")
        else:
            plain = code in self.index.identifiers and not self._is_underscored(at, end)
            self.letters.append("l" if plain else "L")
        self.codes[position] = code
        return end

    def _is_whole(self, at: int, end: int) -> bool:
        """Return whether the words from `at` to `end` are whole, not a part of a longer identifier."""
        glue = (self._glue(at - 1) if at else "") + self._glue(end - 1)
        return not glue or ("_" not in glue and self._is_underscored(at, end))

    def _glue(self, at: int) -> str:
        """Return the sign by which a word is glued to the next, or nothing."""
        token = self.tokens[at]
        return token[-1] if is_word(token) and token != self.words[at] else ""

    def _is_underscored(self, at: int, end: int) -> bool:
        return any(self.tokens[here][-1] == "_" for here in range(at, end - 1))

    def _other(self, at: int) -> int:
        """Take one word or sign that is neither label nor cue, or an identifier as a whole."""
        token = self.tokens[at]
        if not is_word(token):
            self.letters.append(_SIGN.get(token[0], "y"))
        elif token[-1] == "_":
            return self._identifier(at)
        else:
            self.letters.append("d" if token[0].isdigit() and self.words[at][-1].isdigit() else "x")
        return at + 1

    def _identifier(self, at: int) -> int:
        """Take an identifier: a key such as ``final_answer`` before a separator, else an unknown name."""
        end = at
        while self.tokens[end][-1] == "_" and end + 1 < len(self.tokens):
            end += 1
        after = end + 1
        while after < len(self.tokens) and _SIGN.get(self.tokens[after][0]) == "q":
            after += 1
        letter = "u"
        if after < len(self.tokens) and self.tokens[after] in _SEPARATORS:
            inside = [node.cue for word in self.words[at : end + 1] if (node := self.cues.get(word))]
            keys = (
                *(cue for cue in "FA" if cue in inside),
                *(cue for cue in reversed(inside) if cue in _NOUNS),
            )
            letter = next(iter(keys), "x")
        self.letters.append(letter)
        return end + 1


LONGEST_LABEL = 64
"""Tokens: a longer label is found as a whole answer, not within a text."""


class LabelIndex:
    """The label set as the parsers look labels up: exactly, folded, and within a text.

    Raises
    ------
    DataError
        A label that is blank, or two that differ only by case, spaces or underscores.

    Examples
    --------
    >>> index = LabelIndex(("card_arrival", "card_linking"))
    >>> index.code_of("Card arrival"), index.code_of("card")
    (0, -1)
    >>> index.shape("The intent is **card_arrival**, not card_linking.").letters
    'fkvqLq,NL.'
    >>> LabelIndex(("spam", "not spam")).shape("It is not spam.").codes  # the longer label
    {2: 1}
    """

    def __init__(self, labels: tuple[str, ...]) -> None:
        check_distinct(labels)
        self.labels = labels
        self.exact = {label.strip(): code for code, label in enumerate(labels)}
        forms = list(_forms(labels))
        self._folded = {form: code for form, code, _ in reversed(forms)}
        times = Counter(map(words_of, labels))
        self._ambiguous = frozenset(words for words, number in times.items() if number > 1)
        self.identifiers = frozenset(  # in prose their plain words may mean less
            code
            for code, label in enumerate(labels)
            if "_" in label.strip("_") or re.search("[a-z][A-Z]", label)
        )
        self.root, cue_root = Node(), _cue_root().next
        for form, code, loose in forms:
            # a label without words is sought in a text only if it is an arrow, sign or picture, as an emoji
            is_pictorial = all(ord(token[0]) > 0x2190 for token in form)
            if (len(form) <= LONGEST_LABEL and any(map(is_word, form))) or is_pictorial:
                node = self.root.place(form)
                node.code, node.loose = code, loose
        letters = {word: node.cue for word, node in cue_root.items() if node.cue and not node.next}
        letters |= {sign: letter for sign, letter in _SIGN.items() if sign not in cue_root}
        # the letters of tokens that begin no label and no longer cue
        self.plain = {word: letter for word, letter in letters.items() if word not in self.root.next}

    def code_of(self, text: str) -> int:
        """Return the code of the label that the whole text is, without regard to case and markup; or -1."""
        code = self.exact.get(text.strip(), -1)
        if code >= 0 or len(text) > 50 * LONGEST_LABEL:  # longer than any label of so many tokens
            return code
        tokens = spelling(text)
        code = self._folded.get(tokens, -1)
        words = tuple(filter(is_word, tokens))
        return code if code >= 0 or words in self._ambiguous else self._folded.get(words, -1)

    def shape(self, text: str) -> Shape:
        """Return the shape of a normalised text; linear in its length."""
        reader = _Reader(self, text)
        reader.read_tokens()
        letters = "".join(reader.letters)
        if reader.doubtful:
            letters = settle(letters, reader.doubtful)
        return Shape(letters, reader.codes, [*reader.starts, len(reader.tokens)], reader.tokens)


def check_distinct(labels: Sequence[str]) -> None:
    """Raise a DataError for a blank label and for two labels that text cannot tell apart.

    Examples
    --------
    >>> check_distinct(["top_up", "Top up"])
    Traceback (most recent call last):
    evalreport.core.errors.DataError: labels 'top_up' and 'Top up' differ only by case, spaces or underscores
    """
    letters = (re.sub(r"[\s_]+", "", normalise(label).casefold()) or label.strip() for label in labels)
    for keys in (letters, map(_key, labels)):
        seen: dict[object, str] = {}
        for label, key in zip(labels, keys, strict=True):
            if not key:
                raise DataError(f"label {label!r} is blank", fix="an empty response cannot mean a label")
            if key in seen:
                raise DataError(
                    f"labels {seen[key]!r} and {label!r} differ only by case, spaces or underscores",
                    where="label set",
                    fix="rename one, or use the parser 'exact', which compares letter for letter",
                )
            seen[key] = label


def _key(label: str) -> tuple[str, ...]:
    """Return the tokens of a label, words and signs, without what glues them."""
    return spelling(label) or (label.strip(),)


def _forms(labels: Sequence[str]) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    """Yield (tokens, code, loose) of every way to write every label; the declared way of all comes first.

    A form that two labels share is left out. A loose form is found within a text only where a capital
    letter shows that a name is meant.
    """
    taken = {form: code for code, form in enumerate(map(_key, labels))}
    yield from ((form, code, False) for form, code in taken.items())
    words = [words_of(label) for label in labels]
    camel_words = [words_of(split_camel(label)) for label in labels]
    joined = [("".join(parts),) if parts else () for parts in words]
    variants: tuple[tuple[Sequence[tuple[str, ...]], bool], ...]
    variants = ((words, False), (camel_words, False), (joined, True))
    for forms, loose in variants:
        times = Counter(forms)
        for code, form in enumerate(forms):
            if form and form not in taken and times[form] == 1:
                taken[form] = code
                yield form, code, loose
