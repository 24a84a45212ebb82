"""The studio: protect and release a file on local web pages, without programming."""

from crypsis.studio.server import serve_studio

__all__ = ["serve_studio"]
