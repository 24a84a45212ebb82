"""Releases: published with their guarantees checked on the written files, and verified from the files alone."""

from typing import TYPE_CHECKING

from crypsis.rooms import load_when_used

if TYPE_CHECKING:
    from crypsis.release.bundle import publish
    from crypsis.release.differences import Differences, diff_release
    from crypsis.release.evidence import check_release
    from crypsis.release.facts import ReleaseDescription
    from crypsis.release.guarantees import MeasuredLimit
    from crypsis.release.ledger import ReleaseLedger
    from crypsis.release.signing import new_keys
    from crypsis.release.verification import Verification, verify

__all__ = [
    "Differences",
    "MeasuredLimit",
    "ReleaseDescription",
    "ReleaseLedger",
    "Verification",
    "check_release",
    "diff_release",
    "new_keys",
    "publish",
    "verify",
]

load_when_used(__name__)
