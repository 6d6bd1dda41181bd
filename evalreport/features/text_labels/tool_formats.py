"""Files of evaluation and annotation tools, recognised by their content, as flat records.

Inspect AI
    Logs in JSON: one sample each with its target and the model's completion.
lm-evaluation-harness
    ``--log_samples``: generated responses, or a log-likelihood for each choice.
OpenAI
    Batch output: responses by `custom_id`, of chats or of the responses API; without true labels.
promptfoo
    ``eval -o results.json``: one result for each test, prompt and provider.
Argilla
    Records as JSON: responses of people beside the suggestions of a model; of Argilla 2 (a mapping from
    question to responses), of Argilla 1 (a list of responses with a value for each question), and datasets
    of the Hugging Face Hub (columns of both).
Label Studio
    JSON export: choices of annotators beside those of a model.
Prodigy
    Annotations as JSON lines: the options that were accepted, beside columns of a model.

Of several annotators' labels the most frequent one is the true label.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evalreport.core.errors import DataError, GradedError
from evalreport.core.format import pluralize
from evalreport.readers.json import Records, Tool


def value_at(value: Any, *path: str | int) -> Any:
    """Return the value at a path of keys and positions, or None where there is none.

    Examples
    --------
    >>> value_at({"choices": [{"text": "a"}]}, "choices", 0, "text")
    'a'
    >>> value_at({"choices": []}, "choices", 0, "text") is None
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
    """Return whether a document is a list of records that all of the first few have these keys.

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


def text_at(value: Any, *paths: Sequence[str | int]) -> str:
    """Return the first value at one of some paths as text: none is the empty text, which counts as unparsed.

    Examples
    --------
    >>> text_at({"b": "x"}, ["a"], ["b"]), text_at({}, ["a"])
    ('x', '')
    """
    return next((str(found) for path in paths if (found := value_at(value, *path)) is not None), "")


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


def is_inspect(document: Any) -> bool:
    """Return whether a document is a log of an evaluation with its samples."""
    return isinstance(value_at(document, "eval"), dict) and isinstance(
        value_at(document, "samples", 0, "output"), dict
    )


def inspect_records(document: Any) -> Records:
    """Return one row for each sample with what its scorers gave; of a list of targets the first counts.

    Examples
    --------
    >>> sample = {"id": 1, "epoch": 1, "target": "ham", "output": {"completion": "ham."}}
    >>> inspect_records({"eval": {}, "samples": [sample]}).rows
    [{'id': 1, 'epoch': 1, 'target': 'ham', 'completion': 'ham.'}]
    """
    content = ("output", "choices", 0, "message", "content")
    samples = [sample for sample in document["samples"] if isinstance(sample, dict)]
    if samples and all(value_at(sample, "error") for sample in samples):
        raise DataError(
            f"no sample has a grade: all {len(samples)} samples ended in an error",
            fix=f"run the evaluation again; the first error is {_error_of(samples[0])!a:.100}",
        )
    rows = []
    for sample in samples:
        target = sample.get("target")
        rows.append(
            {
                **scalars(sample),
                **_grades(sample),
                "target": value_at(target, 0) if isinstance(target, list) else target,
                "completion": text_at(sample, ("output", "completion"), content),
                **_tokens(sample),
            }
        )
    parts = {"truth": "target", "text": "completion", "id": "id"}
    return Records(rows, parts | grade_parts(name for sample in samples for name in _grades(sample)))


def _error_of(sample: Any) -> str:
    return text_at(sample, ("error", "message"), ("error",))


def grade_parts(names: Iterable[str]) -> dict[str, str]:
    """Return the parts of columns with grades: ``grade``, ``grade 2``, ….

    Examples
    --------
    >>> grade_parts(["match", "includes", "match"])
    {'grade': 'match', 'grade 2': 'includes'}
    """
    distinct = enumerate(dict.fromkeys(names), start=1)
    return {"grade" if place == 1 else f"grade {place}": name for place, name in distinct}


def _tokens(sample: Any) -> dict[str, Any]:
    """Return the tokens that all models of a sample used."""
    usage = value_at(sample, "model_usage")
    if not isinstance(usage, dict) or not usage:
        return {}
    return {"tokens": sum(value_at(one, "total_tokens") or 0 for one in usage.values())}


def _grades(sample: Any) -> dict[str, Any]:
    """Return the value that each scorer gave, under the scorer's name; none of a sample with an error."""
    scores = None if value_at(sample, "error") else value_at(sample, "scores")
    values = scores.items() if isinstance(scores, dict) else ()
    return scalars({name: value for name, one in values if (value := value_at(one, "value")) is not None})


ANSWER = "filtered_resps"
GRADES = ("exact_match", "acc", "acc_norm", "em", "f1")
"""Metrics that older releases write for each sample without a list of their names."""


def is_lm_eval(document: Any) -> bool:
    """Return whether records are samples of the harness."""
    return are_records(document, "doc_id", "target", ANSWER)


def lm_eval_records(document: Any) -> Records:
    """Return one row for each sample; of several choices the response is the most likely one.

    A choice is a pair of its log-likelihood and whether greedy decoding would give it.

    Examples
    --------
    >>> choices = [["-2.5", "False"], ["-0.5", "True"]]
    >>> found = lm_eval_records([{"doc_id": 0, "target": "1", "filtered_resps": choices}])
    >>> found.rows[0]["filtered_resps"], found.parts["pred"]
    ('1', 'filtered_resps')
    """
    choices = [_choice(sample.get(ANSWER)) for sample in document]
    is_choice = all(choice is not None for choice in choices)
    rows = []
    for sample, choice in zip(document, choices, strict=True):
        path = (ANSWER, 0, 0) if isinstance(value_at(sample, ANSWER, 0), list) else (ANSWER, 0)
        response = str(choice) if is_choice else text_at(sample, path)
        rows.append({**scalars(sample), "target": str(sample["target"]), ANSWER: response})
    parts = {"truth": "target", "pred" if is_choice else "text": ANSWER, "id": "doc_id"}
    grades = (*(value_at(document, 0, "metrics") or ()), *GRADES)
    return Records(rows, parts | grade_parts(name for name in grades if name in rows[0]))


def _choice(answers: Any) -> int | None:
    if not isinstance(answers, list) or len(answers) < 2:
        return None
    try:
        values = [float(answer[0]) for answer in answers if isinstance(answer, list)]
    except (ValueError, TypeError, IndexError):
        return None
    return values.index(max(values)) if len(values) == len(answers) else None


def is_openai_batch(document: Any) -> bool:
    """Return whether records are lines of a batch."""
    return are_records(document, "custom_id", "response")


def openai_batch_records(document: Any) -> Records:
    """Return one row for each request; a request that failed has an empty response.

    Examples
    --------
    >>> body = {"choices": [{"message": {"content": "ham"}}]}
    >>> openai_batch_records([{"custom_id": "r1", "response": {"body": body}}]).rows
    [{'custom_id': 'r1', 'content': 'ham'}]
    """
    rows = [
        {"custom_id": line.get("custom_id"), "content": _content(value_at(line, "response", "body"))}
        for line in document
    ]
    return Records(rows, {"text": "content", "id": "custom_id"})


def _content(body: Any) -> str:
    parts = (part for item in value_at(body, "output") or () for part in value_at(item, "content") or ())
    texts = (text_at(part, ["text"]) for part in parts if value_at(part, "type") == "output_text")
    return text_at(body, ("choices", 0, "message", "content"), ("choices", 0, "text")) or "".join(texts)


PROMPTFOO_FIELDS = ("testIdx", "promptIdx", "success", "score", "latencyMs", "cost")
"""The fields of a result of promptfoo."""
PROMPTFOO_ERROR = 2
"""`failureReason` of a test that ended in an error: it has no grade."""
EXPECTED, EQUALITIES = "expected", ("equals", "iequals", "icontains")


def is_promptfoo(document: Any) -> bool:
    """Return whether a document is the output of an evaluation."""
    return isinstance(value_at(_promptfoo_results(document), 0, "vars"), dict)


def _promptfoo_results(document: Any) -> Any:
    """Return the results of an output in JSON, or the lines of one in JSON lines."""
    if are_records(document, "testIdx", "promptIdx", "vars", "success"):
        return document
    return value_at(document, "results", "results")


def promptfoo_records(document: Any) -> Records:
    """Return one row for each result: the variables of its test, what was expected, and the output.

    What was expected is a variable, or the value that an assertion compares the output with.

    Examples
    --------
    >>> test = {"vars": {"expected": "ham"}, "response": {"output": "ham"}, "testIdx": 0}
    >>> promptfoo_records({"results": {"results": [test]}}).rows
    [{'expected': 'ham', 'testIdx': 0, 'output': 'ham'}]
    """
    rows = []
    for result in _promptfoo_results(document):
        row = scalars(value_at(result, "vars") or {})
        row |= {name: result[name] for name in PROMPTFOO_FIELDS if name in result}
        if result.get("failureReason") == PROMPTFOO_ERROR and "success" in row:
            row["success"] = None
        if (provider := value_at(result, "provider", "id")) is not None:
            row["provider"] = provider
        row["output"] = text_at(result, ("response", "output"))
        if EXPECTED not in row and (value := _asserted_value(result)) is not None:
            row[EXPECTED] = value
        rows.append(row)
    parts = {"text": "output"}
    parts |= {"truth": EXPECTED} if any(EXPECTED in row for row in rows) else {}
    parts |= {"grade": "success"} if any("success" in row for row in rows) else {}
    parts |= {"id": "testIdx"} if all("testIdx" in row for row in rows) else {}
    return Records(rows, parts)


def _asserted_value(result: Any) -> str | None:
    for check in value_at(result, "testCase", "assert") or []:
        value, is_equality = value_at(check, "value"), value_at(check, "type") in EQUALITIES
        if is_equality and isinstance(value, str) and "{{" not in value:
            return value
    return None


UNFINISHED = ("discarded", "cancelled", "draft", "pending", "rejected", "ignored")
"""States of an annotation that is not a true label."""


class Annotation(NamedTuple):
    """The labels that one person gave to a record, None for no answer, and the state of the annotation."""

    labels: list[Any] | None
    state: str = "submitted"


class AgreedLabels(NamedTuple):
    """The true labels of each record, None for a record that is skipped, and what is reported of the rest."""

    labels: list[list[Any] | None]
    notes: tuple[str, ...]


def agreed_labels(records: Sequence[Sequence[Annotation]]) -> AgreedLabels:
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
    >>> agreed_labels([[one, other], [other]]).labels
    [['ham'], None]
    >>> for note in agreed_labels([[one, other], [other]]).notes:
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
    return AgreedLabels(labels, notes)


def _key(labels: Sequence[Any]) -> tuple[str, ...]:
    return tuple(sorted(map(str, labels)))


def _notes(n: int, states: Counter[str], empty: int, majority: int, tied: int) -> tuple[str, ...]:
    notes = []
    if states:
        kinds = ", ".join(f"{count:,} {state}" for state, count in sorted(states.items()))
        verb = "is" if states.total() == 1 else "are"
        notes.append(f"{pluralize(states.total(), 'annotation')} {verb} not used as true labels ({kinds})")
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


def is_argilla(document: Any) -> bool:
    """Return whether records are those of a dataset with suggestions and responses."""
    if are_records(document, "fields", "suggestions", "responses"):
        return True
    return are_records(document) and any(_flat_questions(record) for record in document[:10])


def argilla_records(document: Any) -> Records:
    """Return one row for each record that has a submitted response: the agreed response, and the suggestion.

    Of several questions the first with a suggestion is read.

    Examples
    --------
    >>> record = {"suggestions": {"label": {"value": "spam", "score": 0.75}}, "fields": {}, "id": "a"}
    >>> argilla_records([{**record, "responses": {"label": [{"value": "ham"}]}}]).rows
    [{'id': 'a', 'responses': 'ham', 'suggestions': 'spam', 'score': 0.75}]
    """
    suggested = [_suggestions(record) for record in document]
    questions = list(dict.fromkeys(name for one in suggested for name in one))
    question = questions[0] if questions else ""
    agreed = agreed_labels([_responses(record, question) for record in document])
    kept = [row for row, labels in enumerate(agreed.labels) if labels is not None]
    predicted = [_labels(value_at(suggested[row].get(question), "value")) for row in kept]
    cells = one_or_list([*(agreed.labels[row] for row in kept), *predicted])
    rows = []
    for row, label, suggestion in zip(kept, cells[: len(kept)], cells[len(kept) :], strict=True):
        rows.append({"id": document[row].get("id"), "responses": label, "suggestions": suggestion})
        score = value_at(suggested[row].get(question), "score")
        if isinstance(score, float):
            rows[-1]["score"] = score
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
        return {str(value_at(one, "question_name")): one for one in made if isinstance(one, dict)}
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
        yield from ((value_at(one, "value"), value_at(one, "status")) for one in made.get(question) or ())
    elif isinstance(made, list):
        yield from ((value_at(one, "values", question, "value"), value_at(one, "status")) for one in made)
    elif _is_answered(record.get(question)):
        yield from ((one["value"], one.get("status")) for one in record[question])
    else:
        values = record.get(f"{question}{RESPONSES}") or ()
        states = record.get(f"{question}{RESPONSES}.status") or [None] * len(values)
        yield from zip(values, states, strict=False)


def _labels(value: Any) -> list[Any] | None:
    return None if value is None else value if isinstance(value, list) else [value]


def is_label_studio(document: Any) -> bool:
    """Return whether records are tasks with annotations."""
    return are_records(document, "annotations", "data")


def label_studio_records(document: Any) -> Records:
    """Return one row for each task with a submitted annotation: the agreed choices, and those of the model.

    Annotations that are marked as ground truth win over others of their task; cancelled ones do not count.

    Examples
    --------
    >>> def choice(label): return [{"result": [{"type": "choices", "value": {"choices": [label]}}]}]
    >>> task = {"id": 7, "data": {}, "annotations": choice("ham"), "predictions": choice("spam")}
    >>> label_studio_records([task]).rows
    [{'id': 7, 'annotations': 'ham', 'predictions': 'spam'}]
    """
    annotations = []
    for task in document:
        made = [one for one in value_at(task, "annotations") or [] if isinstance(one, dict)]
        truth = [one for one in made if one.get("ground_truth") and not one.get("was_cancelled")]
        annotations.append(truth or made)
    parts = (part for made in annotations for one in made for part in _choice_parts(one))
    question = value_at(next(parts, None), "from_name")
    agreed = agreed_labels([[_annotation(one, question) for one in made] for made in annotations])
    kept = [task for task, labels in zip(document, agreed.labels, strict=True) if labels is not None]
    predicted = [_choices(value_at(task, "predictions", 0), question) for task in kept]
    cells = one_or_list([*(labels for labels in agreed.labels if labels is not None), *predicted])
    rows = []
    for task, label, prediction in zip(kept, cells[: len(kept)], cells[len(kept) :], strict=True):
        rows.append({"id": task.get("id"), "annotations": label, "predictions": prediction})
        score = value_at(task, "predictions", 0, "score")
        if score is not None:
            rows[-1]["score"] = score
    return Records(rows, {"truth": "annotations", "pred": "predictions", "id": "id"}, agreed.notes)


def _annotation(made: Any, question: Any) -> Annotation:
    return Annotation(_choices(made, question), "cancelled" if made.get("was_cancelled") else "submitted")


def _choice_parts(made: Any) -> Iterable[Any]:
    return (part for part in value_at(made, "result") or [] if value_at(part, "type") == "choices")


def _choices(made: Any, question: Any) -> list[Any] | None:
    parts = (part for part in _choice_parts(made) if value_at(part, "from_name") == question)
    choices = value_at(next(parts, None), "value", "choices")
    return choices if isinstance(choices, list) else None


HASH = "_task_hash"
STATES = {"accept": "submitted", "reject": "rejected", "ignore": "ignored"}


def is_prodigy(document: Any) -> bool:
    """Return whether records are annotated tasks."""
    return are_records(document, HASH, "answer")


def prodigy_records(document: Any) -> Records:
    """Return one row for each task with the options that most annotators accepted; others are skipped.

    Raises
    ------
    GradedError
        Tasks without options: `answer` grades a label that was suggested.

    Examples
    --------
    >>> task = {"text": "x", "_task_hash": 7, "accept": ["ham"], "answer": "accept", "pred": "spam"}
    >>> prodigy_records([task]).rows
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
    agreed = agreed_labels([[_prodigy_annotation(task) for task in made] for made in tasks.values()])
    kept = [(key, labels) for key, labels in zip(tasks, agreed.labels, strict=True) if labels is not None]
    right = one_or_list([labels for _, labels in kept])
    rows = []
    for (key, _), label in zip(kept, right, strict=True):
        columns = scalars(tasks[key][0]).items()
        about = {name: value for name, value in columns if name != "answer" and name[:1] != "_"}
        rows.append({**about, HASH: key, "accept": label})
    return Records(rows, {"truth": "accept", "id": HASH}, agreed.notes)


def _prodigy_annotation(task: dict[str, Any]) -> Annotation:
    accepted = task.get("accept")
    state = STATES.get(str(task.get("answer")), "ignored")
    return Annotation(accepted if isinstance(accepted, list) else None, state)


LM_EVAL = Tool("lm-eval", is_lm_eval, lm_eval_records)
INSPECT = Tool("inspect", is_inspect, inspect_records)
OPENAI_BATCH = Tool("openai-batch", is_openai_batch, openai_batch_records)
PROMPTFOO = Tool("promptfoo", is_promptfoo, promptfoo_records)
LABEL_STUDIO = Tool("label-studio", is_label_studio, label_studio_records)
ARGILLA = Tool("argilla", is_argilla, argilla_records)
PRODIGY = Tool("prodigy", is_prodigy, prodigy_records)
