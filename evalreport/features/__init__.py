"""Optional features, one folder each; the core does not import them.

`TABLE` lists what each feature adds at the extension points of `evalreport.core.extensions`: point, name and
import path. Modules are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evalreport.core.extensions import Table

TABLE: Final[Mapping[str, Table]] = {
    "gate": {
        "commands": {
            "check": (
                "evalreport.features.gate.cli:command",
                "Check metrics and data against rules (for CI).",
            ),
        },
        "options": {
            "compare --require --test-on --inconclusive": "evalreport.features.gate.cli:compare_options",
        },
        "api": {"checking rules": "evalreport.features.gate.check:check_results"},
    },
    "systems": {
        "options": {"compare --system --by": "evalreport.features.systems.cli:compare_options"},
        "api": {"comparing systems": "evalreport.features.systems.api:compare_systems"},
        "results": {"SystemsComparison": "evalreport.features.systems.page:SystemsPresentation"},
    },
    "site": {
        "commands": {
            "site": (
                "evalreport.features.site.cli:command",
                "Write an experiment as a static site.",
            ),
        },
    },
    "studies": {
        "sweeps": {
            "optuna": "evalreport.features.studies.cli:optuna",
            "runs": "evalreport.features.studies.cli:runs",
        },
        "results": {"Study": "evalreport.features.studies.presentation:StudyPresentation"},
        "api": {
            "reporting on trials": "evalreport.features.studies.sweep_trials:sweep_trials",
        },
    },
    "predict": {"options": {"log --predict-on": "evalreport.features.predict.cli:log_options"}},
    "text_labels": {
        "responses": {
            "reading labels from text": "evalreport.features.text_labels.parser:parse_texts",
            "combining repeated responses": ("evalreport.features.text_labels.reporting:combine_responses"),
        },
        "metrics": {"text": "evalreport.features.text_labels.metrics:METRICS"},
        "tools": {
            "lm-eval": "evalreport.features.text_labels.tool_formats:LM_EVAL",
            "inspect": "evalreport.features.text_labels.tool_formats:INSPECT",
            "openai-batch": "evalreport.features.text_labels.tool_formats:OPENAI_BATCH",
            "promptfoo": "evalreport.features.text_labels.tool_formats:PROMPTFOO",
            "label-studio": "evalreport.features.text_labels.tool_formats:LABEL_STUDIO",
            "argilla": "evalreport.features.text_labels.tool_formats:ARGILLA",
            "prodigy": "evalreport.features.text_labels.tool_formats:PRODIGY",
        },
        "sections": {
            "answers": "evalreport.features.text_labels.reporting:repeated_section",
            "parsing": "evalreport.features.text_labels.reporting:parsing_section",
        },
        "findings": {
            "parse_failures": "evalreport.features.text_labels.reporting:PARSE_FAILURES",
            "refusals": "evalreport.features.text_labels.reporting:REFUSALS",
            "fuzzy_labels": "evalreport.features.text_labels.reporting:FUZZY_LABELS",
            "format_drift": "evalreport.features.text_labels.reporting:FORMAT_DRIFT",
        },
    },
    "graded": {
        "api": {"evaluating grades": "evalreport.features.graded.read:evaluate_grades"},
        "grades": {
            "reading grades": "evalreport.features.graded.read:collect_grades",
            "reading stored grades": "evalreport.features.graded.evaluation:GradedEvaluation",
        },
        "readers": {"inspect-eval": "evalreport.features.graded.inspect_log:READERS"},
        "metrics": {"graded": "evalreport.features.graded.metrics:METRICS"},
        "results": {"GradedEvaluation": "evalreport.features.graded.presentation:GradedPresentation"},
    },
    "weak_slices": {
        "slice_searches": {
            "weak slices": "evalreport.features.weak_slices.find:weak_slices",
            "worse slices": "evalreport.features.weak_slices.find:worse_slices",
        },
        "group_parts": {"weak slices": "evalreport.features.weak_slices.find:group_part"},
        "comparison_parts": {"worse slices": "evalreport.features.weak_slices.find:comparison_part"},
        "findings": {"weak_slice": "evalreport.features.weak_slices.find:WEAK_SLICE"},
    },
    "large": {
        "engines": {
            "stream": "evalreport.features.large.collect_batches:open_files",
            ".stats": "evalreport.features.large.facts_file:open_shards",
        },
        "options": {"--save-statistics": "evalreport.features.large.facts_file:write_item_facts"},
    },
    "spark": {
        "engines": {"spark": "evalreport.features.spark.evaluate_table:open_item"},
        "run_sources": {"logged table": "evalreport.features.spark.evaluate_table:open_logged"},
    },
}
