"""Configuration of Sphinx for both languages of the site; `build.py` names the language."""

import os
import sys
from pathlib import Path

SITE = Path(__file__).parent
sys.path[:0] = [str(SITE / "extensions"), str(SITE / "support"), str(SITE.parents[1])]

language = os.environ.get("TOKUMEI_SITE_LANGUAGE", "en")
project = "Tokumei"
author = "Tokumei contributors"
copyright = "Tokumei contributors, Apache-2.0"  # noqa: A001

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",
    "run_directives",
    "language_links",
    "navigation",
    "docstrings",
    "generated",
    "japanese_lines",
    "japanese_search",
]
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
numpydoc_show_class_members = False
numpydoc_validation_checks: set[str] = set()
exclude_patterns = ["_build"]
templates_path = ["templates"]
default_role = None
nitpicky = True

myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# The second line of a command begins with "> ".
copybutton_prompt_text = r"\$ |>>> |\.\.\. |> "
copybutton_prompt_is_regexp = True
copybutton_selector = "div:not(.run-output) > div.highlight > pre"

html_theme = "furo"
html_title = "Tokumei"
html_static_path = ["static"]
html_favicon = "static/favicon.svg"
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_last_updated_fmt = "%Y-%m-%d"
html_copy_source = False
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "sidebar/languages.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5c8a", "color-brand-content": "#0b5c8a"},
    "dark_css_variables": {"color-brand-primary": "#7cc4ee", "color-brand-content": "#7cc4ee"},
}
