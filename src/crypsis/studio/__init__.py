"""The studio: the whole job on local web pages, for a custodian who writes no program."""

from crypsis.studio.serving import serve

__all__ = ["serve"]
