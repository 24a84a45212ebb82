"""Public names of `crypsis.release`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.release.bundle import publish as publish
from crypsis.release.differences import (
    Differences as Differences,
    compare_releases as compare_releases,
)
from crypsis.release.evidence import judge_evidence_by_rulebook as judge_evidence_by_rulebook
from crypsis.release.facts import ReleaseDescription as ReleaseDescription
from crypsis.release.guarantees import MeasuredLimit as MeasuredLimit
from crypsis.release.ledger import ReleaseLedger as ReleaseLedger
from crypsis.release.signing import new_keys as new_keys
from crypsis.release.verification import (
    Verification as Verification,
    verify as verify,
)
