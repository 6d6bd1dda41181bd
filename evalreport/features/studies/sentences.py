"""What a study's page calls things: states of a trial, and what each of several objectives has of its own."""

from __future__ import annotations

from dataclasses import replace

from evalreport.features.studies.study import Study
from evalreport.page.elements import Section


def own(study: Study, id: str) -> str:
    """Return the id of an element that every objective has.

    Parameters
    ----------
    study : Study
    id : str
        What it is for the only objective, and for the first.
    """
    return f"{id}-{study.at}" if study.at else id


def objective_title(study: Study, words: str) -> str:
    """Return a title, with the objective where there are several.

    Parameters
    ----------
    study : Study
    words : str
    """
    return f"{words}: {study.objective.name}" if study.several else words


def objective_section(study: Study, section: Section) -> Section:
    """Return a section under an id and a title of its objective.

    Parameters
    ----------
    study : Study
    section : Section
    """
    return replace(
        section,
        id=own(study, section.id),
        nav=objective_title(study, section.nav),
        title=objective_title(study, section.title),
    )
