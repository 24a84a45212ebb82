"""Public names of `crypsis.audits`, for type checkers and for `crypsis.lazy_imports`."""

# ruff: noqa: I001 - in the order in which they are listed for people

from crypsis.audits.audit import (
    Audit as Audit,
    audit as audit,
    audit_matched_records as audit_matched_records,
)
from crypsis.audits.published_weights import (
    WeightRestoring as WeightRestoring,
    weight_restoring as weight_restoring,
)
from crypsis.audits.published import (
    REASONED as REASONED,
    Finding as Finding,
    FindingKind as FindingKind,
    Published as Published,
    published_finding_key as published_finding_key,
)
