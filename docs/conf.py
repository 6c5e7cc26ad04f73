"""How Sphinx builds the site; its pages are written by ``python -m verify page``."""

from verify.site.configuration import *  # noqa: F403  # Sphinx wants names of this file

project = "The theory of batch normalization, machine-checked"
html_title = "Batch normalization, machine-checked"
