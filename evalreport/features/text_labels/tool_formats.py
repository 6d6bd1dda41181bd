"""What the readers of tools share: flat records out of nested ones.

Inspect AI, logs in JSON: one sample each with its target and the model's completion.

lm-evaluation-harness, `--log_samples`: generated answers, or a log-likelihood for each choice.

OpenAI's batch output: answers by `custom_id`, of chats or responses; the truth is elsewhere.

promptfoo, `eval -o results.json`: one result for each test, prompt and provider.

True labels from what several people annotated: which annotations count, and what is said of the rest.

Argilla, records as JSON: responses of people beside the suggestions of a model.

Read are the records of Argilla 2 (a mapping from question to responses), those of Argilla 1 (a list of
responses with a value for each question), and the columns of both in datasets of the Hugging Face Hub.

Label Studio, JSON export: choices of annotators beside those of a model.

Prodigy, annotations as JSON lines: the options that were accepted, beside columns of a model.

What evaluation and annotation tools write, recognised by its content: one small file for each tool.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evalreport.core.errors import DataError, GradedError
from evalreport.core.format import counted
from evalreport.readers.json import Records, Tool


def at(value: Any, *path: str | int) -> Any:
    """Return what stands at a path of keys and places, or None where the path breaks off.

    Examples
    --------
    >>> at({"choices": [{"text": "a"}]}, "choices", 0, "text")
    'a'
    >>> at({"choices": []}, "choices", 0, "text") is None
    True
    """
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def are_records(document: Any, *keys: str) -> bool:
    """Tell whether a document is a list of records that all of the first few have these keys.

    Examples
    --------
    >>> are_records([{"a": 1}, {"a": 2, "b": 3}], "a")
    True
    """
    if not isinstance(document, list) or not document:
        return False
    return all(isinstance(record, dict) and record.keys() >= set(keys) for record in document[:10])


def scalars(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a record that are neither lists nor records themselves."""
    return {name: value for name, value in record.items() if not isinstance(value, (dict, list))}


def text_of(value: Any) -> str:
    """Return an answer as text: none at all is the empty text, which counts as unread."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def one_or_list(column: Sequence[Sequence[Any] | None]) -> list[Any]:
    """Return chosen labels as one a row where every row has one, else as lists.

    Examples
    --------
    >>> one_or_list([["a"], None]), one_or_list([["a"], ["a", "b"]])
    (['a', None], [['a'], ['a', 'b']])
    """
    if all(cell is None or len(cell) == 1 for cell in column):
        return [None if cell is None else cell[0] for cell in column]
    return [None if cell is None else list(cell) for cell in column]


def fits(document: Any) -> bool:
    """Tell whether a document is a log of an evaluation with its samples."""
    return isinstance(document, dict) and isinstance(document.get("eval"), dict) and _has_samples(document)


def _has_samples(document: dict[str, Any]) -> bool:
    samples = document.get("samples")
    return isinstance(samples, list) and isinstance(at(samples, 0, "output"), dict)


def records(document: Any) -> Records:
    """Return one row a sample with what its scorers gave; of a list of targets the first counts.

    Examples
    --------
    >>> sample = {"id": 1, "epoch": 1, "target": "ham", "output": {"completion": "ham."}}
    >>> records({"eval": {}, "samples": [sample]}).rows
    [{'id': 1, 'epoch': 1, 'target': 'ham', 'completion': 'ham.'}]
    """
    rows = [
        {
            **scalars(sample),
            **_grades(sample),
            "target": _target(sample.get("target")),
            "completion": _completion(sample),
        }
        for sample in document["samples"]
        if isinstance(sample, dict)
    ]
    parts = {"truth": "target", "text": "completion", "id": "id"}
    scorer = next((name for sample in document["samples"] for name in _grades(sample)), None)
    return Records(rows, parts if scorer is None else {**parts, "grade": scorer})


def _grades(sample: Any) -> dict[str, Any]:
    """Return the value that each scorer gave, under the scorer's name."""
    scores = at(sample, "scores") or {}
    values = {name: at(score, "value") for name, score in scores.items()} if isinstance(scores, dict) else {}
    return scalars({name: value for name, value in values.items() if value is not None})


def _target(target: Any) -> Any:
    return at(target, 0) if isinstance(target, list) else target


def _completion(sample: dict[str, Any]) -> str:
    output = sample.get("output")
    told = at(output, "completion")
    return text_of(told if told is not None else at(output, "choices", 0, "message", "content"))


ANSWER = "filtered_resps"
GRADES = ("exact_match", "acc", "acc_norm", "em", "f1")
"""Metrics that older releases write for each sample without a list of their names."""


def lm_eval_fits(document: Any) -> bool:
    """Tell whether records are samples of the harness."""
    return are_records(document, "doc_id", "target", ANSWER)


def lm_eval_records(document: Any) -> Records:
    """Return one row a sample; of several choices the answer is the one of the greatest log-likelihood.

    A choice is a pair of its log-likelihood and whether greedy decoding would give it.

    Examples
    --------
    >>> choices = [["-2.5", "False"], ["-0.5", "True"]]
    >>> found = records([{"doc_id": 0, "target": "1", "filtered_resps": choices}])
    >>> found.rows[0]["filtered_resps"], found.parts["pred"]
    ('1', 'filtered_resps')
    """
    choices = [_choice(sample.get(ANSWER)) for sample in document]
    is_choice = all(choice is not None for choice in choices)
    rows = [
        {
            **scalars(sample),
            "target": str(sample["target"]),
            ANSWER: str(choice) if is_choice else text_of(_first(sample.get(ANSWER))),
        }
        for sample, choice in zip(document, choices, strict=True)
    ]
    parts = {"truth": "target", "pred" if is_choice else "text": ANSWER, "id": "doc_id"}
    grade = next((name for name in (*(at(document, 0, "metrics") or ()), *GRADES) if name in rows[0]), None)
    return Records(rows, parts if grade is None else {**parts, "grade": grade})


def _first(answers: Any) -> Any:
    inner = at(answers, 0)
    return inner[0] if isinstance(inner, list) and inner else inner


def _choice(answers: Any) -> int | None:
    if not isinstance(answers, list) or len(answers) < 2:
        return None
    try:
        values = [float(answer[0]) for answer in answers if isinstance(answer, list)]
    except (ValueError, TypeError, IndexError):
        return None
    return values.index(max(values)) if len(values) == len(answers) else None


def openai_batch_fits(document: Any) -> bool:
    """Tell whether records are lines of a batch."""
    return are_records(document, "custom_id", "response")


def openai_batch_records(document: Any) -> Records:
    """Return one row a request; a request that failed has the empty answer.

    Examples
    --------
    >>> body = {"choices": [{"message": {"content": "ham"}}]}
    >>> records([{"custom_id": "r1", "response": {"body": body}}]).rows
    [{'custom_id': 'r1', 'content': 'ham'}]
    """
    rows = [
        {"custom_id": line.get("custom_id"), "content": _content(at(line, "response", "body"))}
        for line in document
    ]
    return Records(rows, {"text": "content", "id": "custom_id"})


def _content(body: Any) -> str:
    told = at(body, "choices", 0, "message", "content")
    if told is None:
        told = at(body, "choices", 0, "text")
    if told is None:
        parts = [
            at(part, "text")
            for item in at(body, "output") or []
            for part in at(item, "content") or []
            if at(part, "type") == "output_text"
        ]
        told = "".join(map(text_of, parts))
    return text_of(told)


EXPECTED = "expected"


def promptfoo_fits(document: Any) -> bool:
    """Tell whether a document is the output of an evaluation."""
    return isinstance(document, dict) and isinstance(at(document, "results", "results", 0, "vars"), dict)


def promptfoo_records(document: Any) -> Records:
    """Return one row a result: the variables of its test, what was expected, and the output.

    What was expected is a variable, or the value that an assertion compares the output with.

    Examples
    --------
    >>> test = {"vars": {"expected": "ham"}, "response": {"output": "ham"}, "testIdx": 0}
    >>> records({"results": {"results": [test]}}).rows
    [{'expected': 'ham', 'testIdx': 0, 'output': 'ham'}]
    """
    rows = []
    for result in at(document, "results", "results"):
        told = at(result, "response", "output")
        told = "" if told is None else str(told)
        variables = scalars(at(result, "vars") or {})
        row = {**variables, **_about(result), "output": told}
        if EXPECTED not in row and (value := _asserted(result)) is not None:
            row[EXPECTED] = value
        rows.append(row)
    parts = {"text": "output"}
    parts |= {"truth": EXPECTED} if any(EXPECTED in row for row in rows) else {}
    parts |= {"grade": "success"} if any("success" in row for row in rows) else {}
    parts |= {"id": "testIdx"} if all("testIdx" in row for row in rows) else {}
    return Records(rows, parts)


def _about(result: Any) -> dict[str, Any]:
    about = {name: result[name] for name in ("testIdx", "promptIdx", "success") if name in result}
    provider = at(result, "provider", "id")
    return about if provider is None else {**about, "provider": provider}


def _asserted(result: Any) -> Any:
    for check in at(result, "testCase", "assert") or []:
        value = at(check, "value")
        if (
            at(check, "type") in ("equals", "iequals", "icontains")
            and isinstance(value, str)
            and "{{" not in value
        ):
            return value
    return None


UNFINISHED = ("discarded", "cancelled", "draft", "pending", "rejected", "ignored")
"""States of an annotation that is no true label."""


class Annotation(NamedTuple):
    """The labels that one person gave to a record, None for no answer, and the state of the annotation."""

    labels: list[Any] | None
    state: str = "submitted"


class Agreed(NamedTuple):
    """The true labels of each record, None for a record that is skipped, and what is reported of the rest."""

    labels: list[list[Any] | None]
    notes: tuple[str, ...]


def agree(records: Sequence[Sequence[Annotation]]) -> Agreed:
    """Return the labels that most annotators of each record gave.

    Discarded annotations and drafts do not count. A record without a submitted annotation, or without one
    answer that is more frequent than every other, has no true label.

    Raises
    ------
    DataError
        No record has a true label.

    Examples
    --------
    >>> one, other = Annotation(["ham"]), Annotation(["spam"], "discarded")
    >>> agree([[one, other], [other]]).labels
    [['ham'], None]
    >>> for note in agree([[one, other], [other]]).notes:
    ...     print(note)
    2 annotations are not used as true labels (2 discarded)
    1 of 2 records has no submitted annotation and is skipped
    """
    states: Counter[str] = Counter()
    labels: list[list[Any] | None] = []
    empty = majority = tied = 0
    for made in records:
        states.update(one.state for one in made if one.state in UNFINISHED)
        given = [one.labels for one in made if one.labels is not None and one.state not in UNFINISHED]
        votes = Counter(_key(one) for one in given).most_common(2)
        is_tie = len(votes) > 1 and votes[0][1] == votes[1][1]
        empty, tied = empty + (not given), tied + is_tie
        majority += len(votes) > 1 and not is_tie
        agreed = votes and not is_tie
        labels.append(next(one for one in given if _key(one) == votes[0][0]) if agreed else None)
    notes = _notes(len(records), states, empty, majority, tied)
    if records and not any(one is not None for one in labels):
        raise DataError(
            "no record has a submitted annotation that most annotators agree on",
            where="; ".join(notes),
            fix="submit annotations in the tool, and export again",
        )
    return Agreed(labels, notes)


def _key(labels: Sequence[Any]) -> tuple[str, ...]:
    return tuple(sorted(map(str, labels)))


def _notes(n: int, states: Counter[str], empty: int, majority: int, tied: int) -> tuple[str, ...]:
    notes = []
    if states:
        kinds = ", ".join(f"{count:,} {state}" for state, count in sorted(states.items()))
        verb = "is" if states.total() == 1 else "are"
        notes.append(f"{counted(states.total(), 'annotation')} {verb} not used as true labels ({kinds})")
    if empty:
        verbs = "has no submitted annotation and is" if empty == 1 else "have no submitted annotation and are"
        notes.append(f"{empty:,} of {n:,} records {verbs} skipped")
    if majority or tied:
        notes.append(
            f"annotators disagree on {majority + tied:,} of {n:,} records: {majority:,} decided by the "
            f"majority, {tied:,} without a majority skipped"
        )
    return tuple(notes)


RESPONSES, SUGGESTION = ".responses", (".suggestion", "-suggestion")


def argilla_fits(document: Any) -> bool:
    """Return whether records are those of a dataset with suggestions and responses."""
    if are_records(document, "fields", "suggestions", "responses"):
        return True
    return are_records(document) and any(_flat_questions(record) for record in document[:10])


def argilla_records(document: Any) -> Records:
    """Return one row a record that has a submitted response: the agreed response, and the suggestion.

    Of several questions the first with a suggestion is read.

    Examples
    --------
    >>> told = {"suggestions": {"label": {"value": "spam", "score": 0.75}}, "fields": {}, "id": "a"}
    >>> records([{**told, "responses": {"label": [{"value": "ham"}]}}]).rows
    [{'id': 'a', 'responses': 'ham', 'suggestions': 'spam', 'score': 0.75}]
    """
    suggested = [_suggestions(record) for record in document]
    questions = list(dict.fromkeys(name for one in suggested for name in one))
    question = questions[0] if questions else ""
    agreed = agree([_responses(record, question) for record in document])
    kept = [row for row, labels in enumerate(agreed.labels) if labels is not None]
    right = [agreed.labels[row] for row in kept]
    told = [_labels(at(suggested[row].get(question), "value")) for row in kept]
    cells = one_or_list([*right, *told])
    rows = []
    for row, label, answer in zip(kept, cells[: len(kept)], cells[len(kept) :], strict=True):
        found = {"id": document[row].get("id"), "responses": label, "suggestions": answer}
        score = at(suggested[row].get(question), "score")
        rows.append({**found, "score": score} if isinstance(score, float) else found)
    others = f"question {question!r} is evaluated, not {', '.join(questions[1:])}"
    notes = (*agreed.notes, *((others,) if len(questions) > 1 else ()))
    return Records(rows, {"truth": "responses", "pred": "suggestions", "id": "id"}, notes)


def _flat_questions(record: Mapping[str, Any]) -> list[str]:
    """Return the questions of a record whose responses and suggestions are columns of their own."""
    names = [name.removesuffix(end) for name in record for end in SUGGESTION if name.endswith(end)]
    return [name for name in names if f"{name}{RESPONSES}" in record or _is_answered(record.get(name))]


def _is_answered(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) and "value" in one for one in value)


def _suggestions(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return value and score of the suggestion to each question."""
    made = record.get("suggestions")
    if isinstance(made, dict):
        return made
    if isinstance(made, list):
        return {str(at(one, "question_name")): one for one in made if isinstance(one, dict)}
    return {
        name: {"value": record.get(f"{name}{end}"), "score": record.get(f"{name}{end}.score")}
        for name in _flat_questions(record)
        for end in SUGGESTION
        if f"{name}{end}" in record
    }


def _responses(record: Mapping[str, Any], question: str) -> list[Annotation]:
    """Return the responses to a question; those of a record that was discarded as a whole are, too."""
    whole = str(record.get("status") or "submitted")
    whole = whole if whole in ("discarded", "draft") else "submitted"
    return [
        Annotation(_labels(value), whole if whole != "submitted" else str(state or "submitted"))
        for value, state in _answers(record, question)
    ]


def _answers(record: Mapping[str, Any], question: str) -> Iterator[tuple[Any, Any]]:
    """Yield value and state of each response."""
    made = record.get("responses")
    if isinstance(made, dict):
        yield from ((at(one, "value"), at(one, "status")) for one in made.get(question) or ())
    elif isinstance(made, list):
        yield from ((at(one, "values", question, "value"), at(one, "status")) for one in made)
    elif _is_answered(record.get(question)):
        yield from ((one["value"], one.get("status")) for one in record[question])
    else:
        values = record.get(f"{question}{RESPONSES}") or ()
        states = record.get(f"{question}{RESPONSES}.status") or [None] * len(values)
        yield from zip(values, states, strict=False)


def _labels(value: Any) -> list[Any] | None:
    return None if value is None else value if isinstance(value, list) else [value]


def label_studio_fits(document: Any) -> bool:
    """Tell whether records are tasks with annotations."""
    return are_records(document, "annotations", "data")


def label_studio_records(document: Any) -> Records:
    """Return one row a task with a submitted annotation: the agreed choices, and those of the model.

    Annotations that are marked as ground truth win over others of their task; cancelled ones do not count.

    Examples
    --------
    >>> def choice(label): return [{"result": [{"type": "choices", "value": {"choices": [label]}}]}]
    >>> task = {"id": 7, "data": {}, "annotations": choice("ham"), "predictions": choice("spam")}
    >>> records([task]).rows
    [{'id': 7, 'annotations': 'ham', 'predictions': 'spam'}]
    """
    made = [_annotations(task) for task in document]
    question = next((at(part, "from_name") for one in made for each in one for part in _parts(each)), None)
    agreed = agree([[_annotation(each, question) for each in one] for one in made])
    kept = [task for task, labels in zip(document, agreed.labels, strict=True) if labels is not None]
    right = [labels for labels in agreed.labels if labels is not None]
    told = [_choices(at(task, "predictions", 0), question) for task in kept]
    cells = one_or_list([*right, *told])
    rows = []
    for task, label, answer in zip(kept, cells[: len(kept)], cells[len(kept) :], strict=True):
        row = {"id": task.get("id"), "annotations": label, "predictions": answer}
        score = at(task, "predictions", 0, "score")
        rows.append(row if score is None else {**row, "score": score})
    return Records(rows, {"truth": "annotations", "pred": "predictions", "id": "id"}, agreed.notes)


def _annotations(task: Any) -> list[Any]:
    made = [one for one in at(task, "annotations") or [] if isinstance(one, dict)]
    return [one for one in made if one.get("ground_truth") and not one.get("was_cancelled")] or made


def _annotation(made: Any, question: Any) -> Annotation:
    return Annotation(_choices(made, question), "cancelled" if made.get("was_cancelled") else "submitted")


def _parts(made: Any) -> Iterable[Any]:
    return (part for part in at(made, "result") or [] if at(part, "type") == "choices")


def _choices(made: Any, question: Any) -> list[Any] | None:
    found = [at(part, "value", "choices") for part in _parts(made) if at(part, "from_name") == question]
    return found[0] if found and isinstance(found[0], list) else None


HASH = "_task_hash"
STATES = {"accept": "submitted", "reject": "rejected", "ignore": "ignored"}


def prodigy_fits(document: Any) -> bool:
    """Return whether records are annotated tasks."""
    return are_records(document, HASH, "answer")


def prodigy_records(document: Any) -> Records:
    """Return one row a task with the options that most annotators accepted; others are skipped.

    Raises
    ------
    GradedError
        Tasks without options: `answer` grades a label that was suggested.

    Examples
    --------
    >>> task = {"text": "x", "_task_hash": 7, "accept": ["ham"], "answer": "accept", "pred": "spam"}
    >>> records([task]).rows
    [{'text': 'x', 'pred': 'spam', '_task_hash': 7, 'accept': 'ham'}]
    """
    if not any(isinstance(task.get("accept"), list) for task in document):
        raise GradedError(
            "the file has a grade per item (accept or reject, column 'answer'), not two columns of labels",
            where="column 'answer'",
            fix="grades are not evaluated; annotate with Prodigy's interface 'choice', and export again",
        )
    tasks: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for task in document:
        tasks[task[HASH]].append(task)
    agreed = agree([[_prodigy_annotation(task) for task in made] for made in tasks.values()])
    kept = [(key, labels) for key, labels in zip(tasks, agreed.labels, strict=True) if labels is not None]
    right = one_or_list([labels for _, labels in kept])
    rows = [
        {**_prodigy_about(tasks[key][0]), HASH: key, "accept": label}
        for (key, _), label in zip(kept, right, strict=True)
    ]
    return Records(rows, {"truth": "accept", "id": HASH}, agreed.notes)


def _prodigy_annotation(task: dict[str, Any]) -> Annotation:
    accepted = task.get("accept")
    state = STATES.get(str(task.get("answer")), "ignored")
    return Annotation(accepted if isinstance(accepted, list) else None, state)


def _prodigy_about(task: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in scalars(task).items() if name != "answer" and name[:1] != "_"}


TOOLS: tuple[Tool, ...] = (
    Tool("lm-eval", lm_eval_fits, lm_eval_records),
    Tool("inspect", fits, records),
    Tool("openai-batch", openai_batch_fits, openai_batch_records),
    Tool("promptfoo", promptfoo_fits, promptfoo_records),
    Tool("label-studio", label_studio_fits, label_studio_records),
    Tool("argilla", argilla_fits, argilla_records),
    Tool("prodigy", prodigy_fits, prodigy_records),
)
