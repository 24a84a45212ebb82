"""Two reports of one release: internal for the person who signs, external for users of the data."""

from crypsis.report.content import ReportContent
from crypsis.report.render import external_html, external_json, internal_html, internal_json

__all__ = ["ReportContent", "external_html", "external_json", "internal_html", "internal_json"]
