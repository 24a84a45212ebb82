"""Two reports of one release: internal for whoever signs, external for whoever uses the data."""

from crypsis.report.dossier import Dossier
from crypsis.report.render import external_html, external_json, internal_html, internal_json

__all__ = ["Dossier", "external_html", "external_json", "internal_html", "internal_json"]
