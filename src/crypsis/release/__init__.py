"""Publish what keeps its guarantee, and check it again from the files alone."""

from crypsis.release.bundle import Account, publish
from crypsis.release.verification import Verification, verify

__all__ = ["Account", "Verification", "publish", "verify"]
