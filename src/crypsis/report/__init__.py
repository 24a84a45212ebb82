"""Two reports of one release: internal for the person who signs, external for users of the data."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.report.content import ReportContent
    from crypsis.report.render import external_html, external_json, internal_html, internal_json

__all__ = ["ReportContent", "external_html", "external_json", "internal_html", "internal_json"]

load_when_used(__name__)
