"""Crypsis: anonymise microdata by evolution."""

from crypsis.version import __version__

__all__ = ["__version__"]
