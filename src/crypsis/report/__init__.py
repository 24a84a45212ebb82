"""The report she has to sign, and the one that goes out with the data."""

from crypsis.report.dossier import ColumnStory, Dossier, Histogram
from crypsis.report.render import external_html, external_json, internal_html, internal_json

__all__ = ["ColumnStory", "Dossier", "Histogram", "external_html", "external_json", "internal_html", "internal_json"]
