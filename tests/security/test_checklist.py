"""The checklist: twenty rules for reports and for artifacts of others, each with the tests that prove it.

Who attacks whom: anyone who can write to a run (names, tags, class names, texts, prediction files) against
anyone who evaluates it, with credentials of their own, or who opens the report.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

CHECKLIST: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "1: all data reach HTML through one environment that escapes",
        (
            "security/test_rules.py::test_templates_escape_everything_but_style_and_script",
            "security/test_rules.py::test_one_environment_escapes_always",
        ),
    ),
    (
        "2: nothing of a hostile name runs, with and without the policy",
        ("browser/test_corpus.py::test_nothing_of_a_name_runs",),
    ),
    (
        "3: any text as a name leaves the tree of the page as it is",
        (
            "page/test_shape.py::test_hostile_names_do_not_change_the_tree",
            "page/test_shape.py::test_any_name_keeps_the_tree_and_arrives",
        ),
    ),
    (
        "4: data stand in one JSON block without mark-up",
        ("page/test_page.py::test_data_block_holds_no_markup",),
    ),
    (
        "5: the policy comes first and its hashes are right",
        (
            "page/test_page.py::test_policy_names_what_is_on_the_page",
            "browser/test_page.py::test_a_changed_script_does_not_run",
        ),
    ),
    (
        "6: no subresource and no request",
        ("page/test_page.py::test_nothing_is_fetched_and_nothing_runs_from_attributes",),
    ),
    (
        "7: an address in the data is text, never a link",
        ("security/test_strangers.py::test_an_address_in_a_name_is_text_and_no_link",),
    ),
    (
        "8: no label is mathematics, and the user's settings of matplotlib stay",
        (
            "figures/test_figures.py::test_no_label_is_read_as_mathematics",
            "figures/test_figures.py::test_the_settings_of_the_user_stay",
        ),
    ),
    (
        "9: no cell of a CSV begins like a formula",
        ("page/test_contents.py::test_no_cell_of_a_csv_begins_like_a_formula",),
    ),
    (
        "10: nothing is unpickled, under whatever name",
        (
            "readers/test_unsafe.py::test_the_payload_works",
            "readers/test_unsafe.py::test_a_pickle_under_every_name",
            "readers/test_unsafe.py::test_object_arrays_are_pickles",
            "readers/test_unsafe.py::test_an_archive_of_pickles",
            "security/test_rules.py::test_nothing_unpickles_runs_text_or_trusts_any_certificate",
        ),
    ),
    ("11: no YAML of a run is parsed", ("security/test_strangers.py::test_yaml_of_a_run_is_never_parsed",)),
    (
        "12: Arrow: no extension type, no nested type that is wanted, no file of too many columns",
        (
            "readers/test_unsafe.py::test_an_extension_type_that_holds_a_pickle",
            "readers/test_unsafe.py::test_maps_and_binary_columns_are_refused_when_wanted",
            "readers/test_unsafe.py::test_wide_files",
        ),
    ),
    (
        "13: sizes are bounded before and while reading, also where a header lies",
        (
            "readers/test_unsafe.py::test_zip_bomb_is_refused_from_its_directory",
            "readers/test_unsafe.py::test_zip_directory_that_lies",
            "readers/test_unsafe.py::test_npy_header_that_lies",
            "readers/test_unsafe.py::test_gzip_bomb_stops_at_the_bound",
            "readers/test_unsafe.py::test_parquet_with_a_huge_dictionary_page",
            "readers/test_unsafe.py::test_too_large_a_file",
            "readers/test_unsafe.py::test_too_many_rows",
            "readers/test_unsafe.py::test_long_texts",
            "readers/test_unsafe.py::test_no_memory_error_reaches_the_user",
        ),
    ),
    (
        "14: paths of artifacts are checked before and after the download",
        (
            "tracking/test_artifacts.py::test_a_hostile_path_is_neither_listed_nor_downloaded",
            "tracking/test_artifacts.py::test_a_download_that_lands_elsewhere_is_refused",
        ),
    ),
    (
        "15: links are not followed; downloads are private and go away",
        (
            "tracking/test_artifacts.py::test_links_in_a_local_store_are_not_followed",
            "tracking/test_artifacts.py::test_a_download_lies_in_a_private_folder_that_goes_away",
        ),
    ),
    (
        "16: what is written is whole, inside the named folder, and never through a link",
        (
            "tracking/test_contract.py::test_no_path_of_a_payload_leads_out",
            "tracking/test_folder.py::test_links_are_not_written_through",
            "features/site/test_site.py::test_a_planted_manifest_removes_nothing",
            "features/site/test_site.py::test_nothing_is_read_written_or_removed_behind_a_link",
            "tracking/test_folder.py::test_what_cannot_be_written_is_exit_2_and_leaves_nothing",
            "cli/test_streams.py::test_a_device_is_written_into_and_stays_one",
            "cli/test_streams.py::test_a_disk_that_fails_half_way_leaves_nothing",
            "core/test_text.py::test_a_slug_is_one_path_component",
        ),
    ),
    (
        "17: no secret is told, in success, in failure, in a traceback",
        (
            "security/test_secrets.py::test_a_report_of_a_file_holds_no_secret",
            "security/test_secrets.py::test_no_failure_tells_a_secret",
            "security/test_secrets.py::test_a_logged_run_holds_no_secret",
            "security/test_secrets.py::test_an_internal_error_with_its_traceback_tells_no_secret",
            "security/test_secrets.py::test_params_and_foreign_tags_stay_in_the_run",
        ),
    ),
    (
        "18: requests go to the tracking server and its artifacts only",
        (
            "tracking/test_artifacts.py::test_a_server_cannot_send_us_elsewhere",
            "tracking/test_artifacts.py::test_local_folders_belong_to_stores_that_are_files",
            "tracking/test_mlflow_client.py::test_each_refusal_has_its_words",
            "security/test_strangers.py::test_a_file_and_a_run_of_a_database_are_reported_without_a_request",
        ),
    ),
    (
        "19: a cloned repository chooses neither server nor code; certificates are always checked",
        (
            "cli/test_settings.py::test_a_cloned_repository_chooses_neither_server_nor_code",
            "security/test_clone.py::test_exactly_the_declared_options_run_code",
            "security/test_clone.py::test_no_setting_of_a_clone_runs_code",
            "security/test_rules.py::test_certificates_are_never_waived",
        ),
    ),
    (
        "20: control characters reach no terminal and no notebook",
        (
            "security/test_terminal.py::test_labels_columns_and_titles",
            "security/test_terminal.py::test_names_of_runs",
            "api/test_api.py::test_a_notebook_runs_nothing_of_a_label",
        ),
    ),
)
"""Each rule with the tests that prove it, as paths below this folder."""


def test_the_rules_are_numbered_and_whole() -> None:
    assert [int(rule.partition(":")[0]) for rule, _ in CHECKLIST] == list(range(1, 21))


@pytest.mark.parametrize(("rule", "proofs"), CHECKLIST, ids=[rule.partition(":")[0] for rule, _ in CHECKLIST])
def test_every_rule_is_proven(rule: str, proofs: tuple[str, ...]) -> None:
    assert proofs, rule
    for proof in proofs:
        path, _, name = proof.partition("::")
        tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
        found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
        assert found, f"{proof} is not there"


def test_the_linter_checks_security_in_the_package() -> None:
    settings = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"][
        "lint"
    ]
    assert "S" in settings["select"]
    assert not [rule for rule in settings["ignore"] if rule.startswith("S")]
    assert not [
        rule
        for pattern, rules in settings["per-file-ignores"].items()
        if pattern.startswith("evalreport")
        for rule in rules
        if rule.startswith("S")
    ]
