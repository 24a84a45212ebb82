"""The command line: results on stdout, progress on stderr, and an exit code a pipeline can trust."""

from crypsis.cli.app import main, program

__all__ = ["main", "program"]
