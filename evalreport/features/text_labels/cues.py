"""The words by which a response shows where its label is: pure data, one letter per kind of cue.

`shape.py` writes every response as a string of these letters, and the rules of `rules.py` are regular
expressions over that string. Phrases are separated by commas.

====== ==========================================================================================
letter kind of cue
====== ==========================================================================================
``F``  announces the final answer: "therefore", "final answer"
``k``  noun that names an answer: "label", "intent", the key of a JSON object
``V``  verb that gives a label: "I classify this as"
``v``  copula: "is", "would be"
``:``  separator between a key and its value
``N``  negator before a label: "rather than"
``D``  negated verb, before or after a label: "is not", "doesn't"
``W``  negator that reaches only the label right after it: "than"
``X``  says that the label before it is wrong: "is unlikely"
``U``  leaves open which label it is: "not sure whether"
``c``  joins two labels: "or", "and" (``/`` and ``|`` are letters of their own)
``R``  takes back what came before: "wait", "correction"
``A``  noun of what is not the answer: "reason", "alternatives"
``P``  noun of a measure, whose value may look like a label: "confidence: high"
``S``  "score", which may hold a label that is a number
``I``  noun of an input, which opens an invented next example: "Text: …"
``e``  opens a reason: "because"
``b``  contrast: "but"
``C``  concession: "although"
``f``  filler, between a cue and its label
``t``  opens a closing tag
``O``  "out of", as in "4 out of 5"
====== ==========================================================================================

Letters for the rest: ``L`` ``l`` a label (written as declared, or as plain words), ``u`` an identifier
that is not a label, ``d`` a number, ``q`` quotes and markup, ``( ) , . ? > /`` and newline for themselves,
``x`` any other word, ``y`` any other sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache


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
