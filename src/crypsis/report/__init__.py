"""Two reports of one release: internal for the person who signs, external for users of the data."""

from crypsis.report.dossier import Dossier
from crypsis.report.render import external_html, external_json, internal_html, internal_json

__all__ = ["Dossier", "external_html", "external_json", "internal_html", "internal_json"]
