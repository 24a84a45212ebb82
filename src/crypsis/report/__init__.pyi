"""Public names of `crypsis.report`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.report.content import ReportContent as ReportContent
from crypsis.report.render import (
    codebook_html as codebook_html,
    codebook_json as codebook_json,
    external_html as external_html,
    external_json as external_json,
    internal_html as internal_html,
    internal_json as internal_json,
)
