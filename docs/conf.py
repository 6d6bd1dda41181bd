"""How the documentation is built; `make docs` calls it. What can be read off the code is made here, at build."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import evalreport

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # the code of this checkout, and `docs.made`


project = "evalreport"
author = "The evalreport authors"
version = release = evalreport.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
suppress_warnings = ["myst.xref_missing"]  # links from README and CONTRIBUTING into the repository
exclude_patterns = ["_build"]
autosummary_generate = False
numpydoc_show_class_members = False
html_theme = "pydata_sphinx_theme"
html_title = f"evalreport {release}"
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": True,
    "header_links_before_dropdown": 6,
}
html_extra_path = ["_build/pages"]
html_copy_source = False
(HERE / "_build" / "pages").mkdir(parents=True, exist_ok=True)  # filled by `docs.figures`, looked for before


def setup(app: Any) -> None:
    """Write the generated pages before the sources are read."""
    from docs.figures import draw
    from docs.made import write

    app.connect("builder-inited", lambda _: write(HERE / "made"))
    app.connect("builder-inited", lambda _: draw(HERE / "made", HERE / "_build" / "pages"))
