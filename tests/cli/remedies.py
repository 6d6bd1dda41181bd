"""Refusals whose third line proposes options: what is refused, and what completes a proposal."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

STATES = ("submitted", "discarded", "draft")


def csv(head: str, *rows: str) -> str:
    return "\n".join((head, *rows, ""))


def npz(**arrays: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def lines(*rows: Mapping[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def columnar(**columns: Any) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream.getvalue()


@dataclass(frozen=True)
class Refusal:
    """A command that is refused.

    Parameters
    ----------
    says : what the source writes of the remedy, without what it fills in
    command : without `evalreport`; {RUN} stands for a run that holds `artifacts`
    runs : how the runs ended that hold the artifacts; {RUN} is the first
    metrics : of two child runs of that run
    before : a command that is run first
    fills : to an option that the remedy names the value that it leaves open; None where the option is to go;
        several where it is proposed several times; a whole command where something else has to change as well
    """

    says: str
    command: str
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    fills: Mapping[str, str | tuple[str, ...] | None] = field(default_factory=dict)
    code: int = 2
    artifacts: Mapping[str, str | bytes] = field(default_factory=dict)
    runs: tuple[str, ...] = ("FINISHED",)
    metrics: Mapping[str, float] = field(default_factory=dict)
    before: str = ""


A7 = "abbabaabbbaaba"
AB = csv("y_true,y_pred", "a,a", "b,b", "a,b", "b,b")
LONGER = csv("y_true,y_pred", *("a,a", "b,b", "a,a") * 8)
ABC = csv("y_true,y_pred", "a,a", "b,b", "c,b")
SCORED = csv("y_true,score", "0,0.2", "1,0.8", "0,0.6", "1,0.4", "0,0.1", "1,0.9")
OTHER = csv("y_true,score", "0,0.3", "1,0.7", "0,0.2", "1,0.6", "0,0.8", "1,0.9")
NUMBERED = csv("key,y_true,y_pred", "1,a,a", "2,b,b")
THREE = csv("y_true,proba_a,proba_b,proba_c,conf", "a,.5,.3,.2,.5", "b,.1,.8,.1,.8", "c,.2,.2,.6,.6")
TWO_SETS = "p_a,p_b,p_c,q_a,q_b,q_c"
LONG = "word " * 300
FLAGS = csv("true_a,true_b,pred_a,guess_a,guess_b", "1,0,1,1,0", "0,1,1,0,1")
P = {"p.csv": AB}
Q = {"p.csv": SCORED}
FOR_RUN = {"p.csv": AB}
CHECK = "check p.csv"

REFUSALS = (
    # what files hold
    Refusal(
        "--set batch_axis is for NPZ and NPY", f"{CHECK} --set batch_axis", P, {"--set batch_axis": None}
    ),
    Refusal(
        "say which with --score, as in --score ",
        "check p.npz",
        {"p.npz": npz(y_true=[0, 1, 0], y_score=[0.1, 0.9, 0.6], scores=[0.2, 0.7, 0.4])},
    ),
    Refusal(
        "name one score column per label, as in --scores 'proba_*'",
        f"{CHECK} --score conf",
        {"p.csv": THREE},
        code=5,
    ),
    Refusal(
        "if this column contains the predictions pass --pred ",
        CHECK,
        {
            "p.csv": csv(
                "filename,label,index,prob",
                *(f"{k}.png,{k % 4},{k % 4 * (k % 5 > 0)},.{k + 10}" for k in range(40)),
            )
        },
        {"--scores": "check p.csv --pred index"},
        code=5,
    ),
    Refusal(
        "; or ignore the scores: --set no_scores",
        "check p.jsonl --scores 'probs[*]'",
        {"p.jsonl": lines(*({"y_true": k, "y_pred": k, "probs": [0.5, 0.3, 0.2]} for k in (1, 2, 3)))},
        code=5,
    ),
    Refusal(
        'choose one, as in --where "',
        CHECK,
        {
            "p.csv": csv(
                "model,case,y_true,y_pred", *(f"{m},{i},{A7[i]},{A7[i]}" for m in "ab" for i in range(14))
            )
        },
        code=5,
    ),
    Refusal(
        "if they are of ",
        CHECK,
        {"p.csv": csv("y_true,score", *(f"{i % 2},{(i + 30 * (1 - i % 2)) / 90}" for i in range(60)))},
        code=5,
    ),
    Refusal(
        "count them: --set weight=",
        CHECK,
        {"p.csv": csv("y_true,y_pred,count", "a,a,30", "a,b,10", "b,b,50", "b,a,10")},
        {
            "--set weight": "check p.csv --set weight=count --set weight_kind=count",
            "--set weight_kind": "check p.csv --set weight=count --set weight_kind=count",
        },
        code=5,
    ),
    Refusal(
        "leave the scores out: --set no_scores",
        CHECK,
        {
            "p.csv": csv(
                "y_true,y_pred,prob_a,prob_b", *(f"{x},{x},{x == 'b':d},{x == 'a':d}" for x in "ab" * 12)
            )
        },
        code=5,
    ),
    Refusal(
        'exclude these rows: --where "',
        CHECK,
        {"p.csv": csv("y_true,y_pred", "-100,0", "0,0", "1,1", "1,0")},
        code=5,
    ),
    Refusal(
        "name both, as in --truth ",
        CHECK,
        {
            "p.csv": csv(
                "label,pred,proba_a,proba_b",
                *(f"{x},{y},{x == 'a':d},{x == 'b':d}" for x, y in zip("ab" * 12, "abba" * 6, strict=True)),
            )
        },
        dict.fromkeys(("--truth", "--pred"), "check p.csv --truth pred --pred label"),
        code=5,
    ),
    Refusal(
        "if it contains the labels pass --truth ",
        CHECK,
        {"p.csv": csv("label,y_pred", *["a,a", "a,b"] * 6)},
        code=5,
    ),
    Refusal(
        "give each row an id, or name another column with --id",
        CHECK,
        {"p.csv": csv("id,key,y_true,y_pred", "1,k,a,a", ",l,b,b")},
        {"--id": "key"},
        code=5,
    ),
    Refusal(
        "; else name another column with --id",
        f"{CHECK} --set truth_file=t.csv",
        {"p.csv": csv("id,key,y_pred", "1,1,a", "1,2,b"), "t.csv": csv("id,key,y_true", "1,1,a", "1,2,b")},
        {"--id": "key", "--set group": "check p.csv --set truth_file=t.csv --set group=id --id key"},
        code=5,
    ),
    Refusal(
        "name generated responses with --response, and texts to show with --set show_text",
        f"{CHECK} --id words",
        {"p.csv": csv("y_true,y_pred,words", f"a,a,{LONG}a", f"b,b,{LONG}b")},
        {
            "--response": "check p.csv --response words",
            "--set show_text": "check p.csv --set show_text=words",
        },
        code=5,
    ),
    Refusal(
        "numbers have a decimal point; name the score column with --score",
        f"{CHECK} --score grade",
        {"p.csv": csv("y_true,grade,mark", "0,low,0.2", "1,high,0.8")},
        {"--score": "mark"},
        code=5,
    ),
    Refusal(
        "add the label to --labels, or name the score columns with --scores",
        f"{CHECK} --scores 'x_*' --labels a,b,c",
        {
            "p.csv": csv(
                "y_true,proba_a,proba_b,proba_c,x_a,x_b,x_c,x_d",
                *(f"{label},.4,.3,.3,.3,.3,.2,.2" for label in "abc"),
            )
        },
        {"--labels": "a,b,c,d", "--scores": "proba_*"},
        code=5,
    ),
    Refusal(
        "evalreport evaluates classification; if these are classes pass --set task=multiclass",
        CHECK,
        {"p.csv": csv("y_true,y_pred", *(f"{k},{k + d}" for k in range(18, 90) for d in (-3, -1, 0, 2)))},
        code=5,
    ),
    Refusal(
        "; if each text is one class pass --set task=multiclass",
        CHECK,
        {"p.csv": csv("y_true,y_pred", "a|b,a|b", "a|c,a|c", "b|c,a|b", "a|b,a|c")},
        code=5,
    ),
    Refusal(
        "name the score columns after the labels, or leave them out: --set no_scores",
        "check p.jsonl",
        {
            "p.jsonl": lines(
                *({"y_true": list(k), "y_pred": ["a"], "scores": [0.3, 0.8, 0.1]} for k in ("ab", "b", "ca"))
            )
        },
        code=5,
    ),
    Refusal(
        "for text cells declare the separator, as in --set list_separator='|'",
        f"{CHECK} --set task=multilabel",
        {"p.csv": csv("y_true,y_pred", "a|b,a", "b,b|c")},
        code=5,
    ),
    Refusal(
        "pass the label set with --labels",
        "check p.jsonl",
        {"p.jsonl": lines({"y_true": [], "y_pred": []}, {"y_true": [], "y_pred": []})},
        {"--labels": "a,b"},
        code=5,
    ),
    Refusal(
        " 'PATTERN*', or the labels that have one with --labels",
        f"{CHECK} --truth 'true_*' --pred 'pred_*'",
        {"p.csv": FLAGS},
        {"--pred": "guess_*", "--labels": "a"},
        code=5,
    ),
    Refusal(
        "write the same number of scores in each row, or ignore the scores with --set no_scores",
        "check p.jsonl --score score",
        {
            "p.jsonl": lines(
                {"y_true": "a", "y_pred": "a", "score": [0.9, 0.1]},
                {"y_true": "b", "y_pred": "b", "score": [0.9]},
            )
        },
        code=5,
    ),
    Refusal(" PATTERN", f"{CHECK} --scores 'z_*'", {"p.csv": THREE}, {"--scores": "proba_*"}, code=3),
    Refusal(
        "name the columns, as in ",
        CHECK,
        {"p.csv": csv("gold_class,actual_class,y_pred", "a,b,a", "b,a,b")},
    ),
    Refusal("name the columns, as in ", CHECK, {"p.csv": FLAGS}),
    Refusal(
        ". Use --truth ",
        CHECK,
        {"p.csv": csv("verdict,y_pred", "a,a", "b,b", "c,a", "d,a", "e,b")},
        code=3,
    ),
    Refusal(
        ". Use --truth ",
        CHECK,
        {"p.csv": csv("verdict,other,y_pred", "a,1,a", "c,2,b"), "t.csv": csv("y_true", "a", "b")},
        {"--truth": "verdict", "--set truth_file": "t.csv"},
        code=3,
    ),
    Refusal(
        "; labels in another file: --set truth_file=",
        CHECK,
        {"p.csv": csv("y_pred", "a", "b"), "t.csv": csv("y_true", "a", "b")},
        {"--set truth_file": "t.csv"},
        code=5,
    ),
    Refusal(
        ", or pass --set no_scores",
        CHECK,
        {
            "p.csv": csv(
                "y_true,y_pred,proba_a,proba_b,proba_c,prob_a,prob_b,prob_c",
                *(f"{label},{label},.4,.3,.3,.3,.3,.4" for label in "abc"),
            )
        },
    ),
    Refusal(
        "leave --set task out, or name the column of labels with --truth",
        f"{CHECK} --set task=binary",
        {"p.csv": csv("true_a,true_b,pred_a,pred_b,kind,y_pred", "1,0,1,0,x,x", "0,1,0,1,z,x")},
        {"--truth": "kind"},
    ),
    Refusal(
        "name one column of labels with --pred",
        f"{CHECK} --pred 'is_*'",
        {"p.csv": csv("y_true,is_a,is_b,told", "a,1,0,a", "b,0,1,b")},
        {"--pred": "told"},
    ),
    Refusal(
        ", or name the score column of ",
        f"{CHECK} --positive b --score p_a",
        {"p.csv": csv("y_true,p_a,p_b", "a,.7,.3", "b,.1,.9")},
        {"--score": "p_b"},
    ),
    Refusal(
        "pass the order that was used, as in --labels ",
        "check p.npz",
        {"p.npz": npz(y_true=np.array(["a", "b"]), proba=np.array([[0.7, 0.3], [0.2, 0.8]]))},
        code=5,
    ),
    Refusal(
        "leave --set task out",
        f"{CHECK} --set task=binary",
        {"p.csv": ABC},
        code=5,
    ),
    Refusal(
        "select rows, as in --where ",
        CHECK,
        {"p.csv": csv("split,y_true,y_pred", "train,a,a", "train,b,b", "val,a,a", "val,b,a")},
        code=5,
    ),
    Refusal(
        "to count such rows as wrong pass --set missing=wrong; else fill the gaps or drop the rows",
        CHECK,
        {"p.csv": csv("y_true,y_pred", "a,a", "b,", "b,b")},
        code=5,
    ),
    Refusal(
        "name another column with --pred",
        f"{CHECK} --pred y_pred --set missing=wrong",
        {"p.csv": csv("y_true,y_pred,told", "a,,a", "b,,b")},
        {"--pred": "told"},
        code=5,
    ),
    Refusal(
        ". Use --pred, --score, --scores or --response COLUMN",
        CHECK,
        {"p.csv": csv("y_true,w,za,zb,num", "a,a,.7,.3,.2", "b,c,.1,.9,.8")},
        {"--pred": "w", "--score": "num", "--scores": "z*", "--response": "w"},
        code=3,
    ),
    Refusal("; or say --set format", "check p.dat", {"p.dat": AB}, {"--set format": "csv"}),
    Refusal(
        "rename it, or pass --set format=", CHECK, {"p.csv": columnar(y_true=[0, 1], y_pred=[0, 1])}, code=5
    ),
    Refusal(
        "check how it was written, or pass --set format",
        "check p.parquet",
        {"p.parquet": AB},
        {"--set format": "csv"},
        code=5,
    ),
    Refusal(
        "leave --set format out, or name another",
        "check p.jsonl --set format=lm-eval",
        {"p.jsonl": lines({"y_true": "a", "y_pred": "a"}, {"y_true": "b", "y_pred": "b"})},
        code=5,
    ),
    Refusal(
        "write --where COLUMN=VALUE",
        f"{CHECK} --where part",
        {"p.csv": csv("part,y_true,y_pred", "x,a,a", "x,b,b")},
        {"--where": "check p.csv --where part=x"},
    ),
    Refusal(
        "check --where, or the program that wrote them",
        f"{CHECK} --where part=z --set engine=stream",
        {"p.csv": csv("part,y_true,score", "x,0,.2", "x,1,.7", "y,0,.1")},
        {"--where": "part=x"},
        code=5,
    ),
    Refusal(
        ", or use --set engine=memory",
        "check p.npz --set engine=stream",
        {"p.npz": npz(y_true=np.array([0, 1, 1]), score=np.array([0.2, 0.7, 0.4]))},
    ),
    Refusal(
        "--score names one column, --scores one per label; pass one of them",
        f"{CHECK} --score proba_b --scores 'proba_*'",
        {"p.csv": csv("y_true,proba_a,proba_b", "a,.7,.3", "b,.1,.9")},
        {"--score": None, "--scores": None},
    ),
    Refusal(
        "write one * in place of the label, as in --scores 'proba_*'",
        f"{CHECK} --scores '*_*'",
        {"p.csv": THREE},
    ),
    Refusal(
        "write --labels A,B or --labels @FILE",
        f"{CHECK} --labels ,",
        {**P, "labels.txt": "a\nb\n"},
        {"--labels": ("a,b", "@labels.txt")},
    ),
    Refusal("leave --threshold out", f"{CHECK} --threshold 0.4", {"p.csv": THREE}),
    Refusal(
        "name them with --score or --scores",
        f"{CHECK} --threshold 0.4",
        {"p.csv": csv("y_true,y_pred,num,za,zb", "a,a,.2,.8,.2", "b,b,.8,.2,.8")},
        {"--score": "num", "--scores": "z*"},
    ),
    # words of the command
    Refusal("name a file for --markdown", f"{CHECK} --json --markdown -", P, {"--markdown": "out.md"}),
    Refusal("write singular and plural: --set unit=tumour,tumours", f"{CHECK} --set unit=tumour", P),
    Refusal(
        "write --set label_names=1=failure,0=fine", f"{CHECK} --set label_names=failure", {"p.csv": SCORED}
    ),
    Refusal(
        "or a folder: -o DIR",
        "report p.csv q.csv -o page.html",
        {**P, "q.csv": ABC},
        {"-o": "report p.csv q.csv -o pages --set confidence=none"},
    ),
    Refusal(
        "pass --labels A,B,C in their order", f"{CHECK} --set ordered", {"p.csv": ABC}, {"--labels": "a,b,c"}
    ),
    Refusal(
        "leave --baseline or --all-pairs out",
        "compare p.csv q.csv --all-pairs --baseline p.csv",
        {**P, "q.csv": csv("y_true,y_pred", "a,a", "b,a", "a,b", "b,b")},
    ),
    Refusal(
        "leave --all-pairs out",
        "compare p.csv q.csv --all-pairs --require 'accuracy drops <= 90%'",
        {"p.csv": LONGER, "q.csv": csv("y_true,y_pred", *("a,a", "b,b", "a,b") * 8)},
    ),
    Refusal(
        "name one with --log-to ID",
        "compare p.csv q.csv --log",
        {**P, "q.csv": csv("y_true,y_pred", "a,a", "b,a", "a,b", "b,b")},
        {"--log-to": "{RUN}"},
        artifacts=FOR_RUN,
    ),
    Refusal(
        ". Use --id or --set show_text",
        f"{CHECK} --train t.csv",
        {
            "p.csv": csv("key,words,y_true,y_pred", "1,u,a,a", "2,v,b,b"),
            "t.csv": csv("key,words,y_true", "3,w,a", "4,x,b"),
        },
        {"--id": "key", "--set show_text": "words"},
        code=3,
    ),
    # thresholds
    Refusal(
        "name the objective, as in --threshold max-f1",
        f"{CHECK} --tune-on t.csv",
        {**Q, "t.csv": OTHER},
    ),
    Refusal(
        "leave --set constraint_confidence out",
        "sweep thresholds p.csv --set constraint_confidence=0.9 --objective f1_macro --json",
        {"p.csv": csv("y_true,proba_a,proba_b,proba_c", *(f"{k},.4,.3,.3" for k in "aabcabc"))},
    ),
    Refusal(
        "pass --score-kind logit if they are logits",
        "sweep thresholds p.csv --score-kind decision --objective 'accuracy>=0.3' --json",
        {"p.csv": csv("y_true,logit_a,logit_b,logit_c", *(f"{k},2.5,-1.5,0.5" for k in "aabcabc"))},
    ),
    # runs
    Refusal(
        "pass --run-id ID, --experiment NAME or --latest",
        "log --dry-run",
        fills={"--run-id": "{RUN}", "--experiment": "{EXPERIMENT}"},
        artifacts=FOR_RUN,
    ),
    Refusal(
        "pass --run-id ID instead of a file",
        "sweep thresholds p.csv --log --json",
        Q,
        {"--run-id": "sweep thresholds --run-id {RUN} --log --json --dry-run"},
        artifacts=Q,
    ),
    Refusal(
        "choose one, as in --artifact ",
        "check --run-id {RUN}",
        artifacts={"one/p.csv": AB, "two/q.csv": AB},
    ),
    Refusal(
        "log it again, or take the other: --artifact ",
        "check --run-id {RUN}",
        artifacts={"predictions.csv": csv("y_true,y_pred", "a,a", "b"), "more.csv": AB},
        code=5,
    ),
    Refusal(
        ". Use --pred COLUMN or --score COLUMN",
        "check --run-id {RUN}",
        artifacts={"told.csv": csv("y_true,told,num", "0,0,.2", "1,x,.8")},
        fills={"--pred": "told", "--score": "num"},
        code=3,
    ),
    Refusal(
        "name the columns with --truth and --pred",
        "check --run-id {RUN}",
        artifacts={"a.csv": csv("right,told", "a,a", "b,b"), "b.csv": csv("x,y", "1,2")},
        fills={
            "--truth": "check --run-id {RUN} --truth right --pred told",
            "--pred": "check --run-id {RUN} --truth right --pred told",
        },
        code=3,
    ),
    Refusal(
        "use --run-id, or --experiment with --filter and --latest",
        "check --run-id {RUN} --latest",
        fills={
            "--run-id": "check --run-id {RUN}",
            "--experiment": "check --experiment {EXPERIMENT} --latest",
            "--filter": "check --experiment {EXPERIMENT} --filter \"attributes.status = 'FINISHED'\"",
            "--latest": "check --experiment {EXPERIMENT} --latest",
        },
        artifacts=FOR_RUN,
    ),
    Refusal(
        "add --experiment NAME",
        "check --filter \"attributes.status = 'FINISHED'\"",
        fills={"--experiment": "{EXPERIMENT}"},
        artifacts=FOR_RUN,
    ),
    Refusal(
        "check --experiment and --filter",
        "check --experiment {EXPERIMENT} --filter 'metrics.f1 > 2'",
        fills={"--experiment": "check --experiment {EXPERIMENT}", "--filter": None},
        artifacts=FOR_RUN,
        code=3,
    ),
    Refusal(
        "narrow it with --filter or --latest N, or raise --set max_runs",
        "check --experiment {EXPERIMENT} --set max_runs=1",
        fills={
            "--filter": "check --experiment {EXPERIMENT} --filter \"attributes.run_id = '{RUN}'\"",
            "--latest": "1",
            "--set max_runs": "2",
        },
        artifacts=FOR_RUN,
        runs=("FINISHED", "FINISHED"),
    ),
    Refusal(
        "wait for them, or name one with --run-id",
        "check --experiment {EXPERIMENT}",
        fills={"--run-id": "check --run-id {RUN}"},
        artifacts=FOR_RUN,
        runs=("FAILED",),
        code=3,
    ),
    # sweeps
    Refusal(
        "name what was optimised with --metric: ",
        "sweep runs --run-id {RUN} --json",
        artifacts=FOR_RUN,
        metrics={"f1": 0.5, "loss": 0.3},
        fills={"--metric": "f1"},
    ),
    Refusal(
        "name one with --study-name: ",
        "sweep optuna --study study.log --json",
        fills={"--study-name": "one"},
    ),
    Refusal(
        "name one study with --study-name",
        "sweep optuna --study study.log --study-name one --study-name two --run-id {RUN} --json",
        artifacts=FOR_RUN,
        metrics={"f1": 0.5},
        fills={"--study-name": "sweep optuna --study study.log --study-name one --run-id {RUN} --json"},
    ),
    Refusal(
        "name the parent run with --run-id ID",
        "sweep optuna --study study.log --study-name one --log --dry-run --json",
        artifacts=FOR_RUN,
        metrics={"f1": 0.5},
        fills={"--run-id": "{RUN}"},
    ),
    Refusal(
        "write --set list_separator=",
        "report rows.csv --set list_separator=",
        {"rows.csv": csv("y_true,y_pred", *["a|b,a", "b,b", "a,a|b"] * 10)},
    ),
    Refusal(
        "pass --set engine=memory",
        "report rows.csv --set engine=stream",
        {
            "rows.csv": csv(
                "id,label,prediction,status",
                *(f"{k},{'ab'[k % 2]},{'ab'[k // 2 % 2]},{STATES[k % 3]}" for k in range(60)),
            )
        },
    ),
    Refusal(
        "or name columns of labels with --truth and --pred, responses with --response, scores with --score",
        "report rows.csv --json --set engine=stream",
        {
            "rows.csv": csv(
                "first,second,share,correct",
                *(f"{k % 3 == 0:d},{k % 4 == 0:d},{k / 60:.3f},{k % 5 > 0}" for k in range(60)),
            )
        },
        code=5,
        fills={
            "--set engine": None,
            "--folds": "report rows.csv --json --truth first --pred second",
            "--children": "report rows.csv --json --truth first --pred second",
            "--truth": "report rows.csv --json --truth first --pred second",
            "--pred": "report rows.csv --json --pred second --truth first",
            "--response": "report rows.csv --json --response second --truth first",
            "--score": "report rows.csv --json --score share --truth first",
        },
    ),
    Refusal(
        "pass --set no_scores, or name the column of scores with --score",
        "report rows.csv --json",
        {
            "rows.csv": csv(
                "y_true,y_pred,score,share",
                *(
                    f"{k % 3 == 0:d},{k % 4 == 0:d},{(k % 3 == 0) == (k % 4 == 0):d},{k / 60:.3f}"
                    for k in range(18)
                ),
            )
        },
        code=5,
        fills={"--score": "report rows.csv --json --score share"},
    ),
)
"""Each fix that names an option, of what reads files and runs, is here or below; so are those of commands."""

ELSEWHERE = {
    "optuna storage upgrade": "Optuna's own command",
    "mlflow runs restore": "MLflow's own command",
    "start the server with": "an option of the server",
    "redirects are not followed": "the address of another server",
    "or name the run by --run-id": "a model: tests/features/gate/test_registry.py",
    "pass --children where": "runs of folds: tests/cli/test_folds.py",
    "leave --set engine out, or pass spark": "another engine: tests/features/spark/test_cli.py",
    "pass --set table=NAME, or set the tag": "a run without a table: tests/features/spark/test_cli.py",
    "leave --set spark_master out": "a session that runs: tests/features/spark/test_cli.py",
    "write it as Parquet, or leave --set engine": "a table of Spark: tests/features/spark/test_cli.py",
    "have Spark read it": "a Delta table: tests/features/spark/test_spark.py",
    "download them, and name both": "pairs of files: tests/tracking/test_several_files.py",
    "make room": "a full disk: tests/cli/test_streams.py",
    ", or name another place with -o": "a folder that cannot be written: tests/tracking/test_folder.py",
    "pass --force to": "files of others: tests/tracking/test_folder.py",
    "pass --set allow_running": "a run that has not ended: tests/cli/test_log.py",
    "wait until it has ended, then": "another logging: tests/tracking/test_mlflow.py",
    "name one with --artifact": "a run with 10,000 files: tests/tracking/test_artifacts.py",
    "mlflow.genai.evaluate, or the true labels with": "traces: tests/tracking/test_traces.py",
    "name the label, as in --truth": "traces: tests/tracking/test_traces.py",
}
"""What is no command of ours, or is followed by another test."""
