"""Write a release that proves itself: judge, write aside, read back, judge again, then let it appear at once.

The bundle is one folder. `public/` may be given away whole: data, schema, manifest, report. `internal/` stays
in the house. There is no flag to publish a file that does not keep its guarantee.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.random import Generator

from crypsis.errors import PlanError, ReleaseRefused
from crypsis.privacy.anonymity import smallest_class
from crypsis.privacy.model import PrivacyModel, Verdict
from crypsis.release.facts import Account, Facts, Readings, dossier_of, readings_of
from crypsis.release.findings import check_finding_waivers, check_findings, split_waivers
from crypsis.release.guarantees import (
    Limit,
    check_limits,
    judge,
    refuse_changed_roles,
    refuse_meaningless,
    refuse_perturbed,
    refuse_unguarded,
)
from crypsis.release.leaks import refuse_leaks
from crypsis.release.manifest import seal, sha256, write_manifests, write_text
from crypsis.release.population import members_only
from crypsis.release.published import Format, Order, flatten, read_published, row_order, schema_of
from crypsis.release.readback import put_back
from crypsis.release.signing import SigningKey
from crypsis.report import Dossier, external_html, external_json, internal_html, internal_json
from crypsis.report.dossier import LimitResult
from crypsis.rulebook import Evidence, Rulebook, RuleResult, check_rulebook, refusals
from crypsis.table.aligning import aligned_pair
from crypsis.table.files import atomic_folder, write_table
from crypsis.table.frames import Frame, as_table
from crypsis.table.table import Table

__all__ = ["Account", "publish", "seal", "sha256"]


def publish(
    masked: Table | Frame,
    folder: str | Path,
    *,
    models: Sequence[PrivacyModel],
    original: Table | Frame | None = None,
    account: Account | None = None,
    format: Format = "csv",
    order: Order = "shuffled",
    rng: Generator | None = None,
    limits: Sequence[Limit] = (),
    scenarios: Mapping[str, Sequence[str]] | None = None,
    rulebook: Rulebook | None = None,
    waivers: Mapping[str, str] | None = None,
    front: Sequence[Mapping[str, Any]] = (),
    seed: int | None = None,
    sign: str | Path | None = None,
) -> Path:
    """Publish a masked table into a folder that must not exist yet.

    models     what every released record must meet; at least one, or a binding limit on a risk
    original   the table before masking, row by row; needed for losses, risks and the before-figures
    rng        order of the rows; the operating system's randomness unless given
    limits     largest readings allowed: of risks, and of declared uses
    scenarios  name → columns an intruder knows; one who knows every quasi-identifier is always added
    rulebook   rules the file must keep
    waivers    what may pass for a reason, on record: a rule by its id, or a finding on a column by its kind and name,
               e.g. {"singling-out:weight": "known to nobody outside the office"}
    front      points (name, family, kind, loss, risk) of the run the file was chosen from, for the internal report
    seed       of the masking: searched for in everything public, and reported as a salted digest only
    sign       file of a private key that signs the manifests: see `new_keys`
    """
    key = SigningKey.read(sign) if sign is not None else None
    if original is None:
        masked = as_table(masked)
    else:
        original, masked = aligned_pair(original, masked)
    folder, account = Path(folder), account or Account.of(masked)
    _refuse_early(masked, original, models, limits, account, rulebook, waivers)
    masked, original, population = members_only(models, masked, original)
    of_rules, of_findings = split_waivers(waivers)
    rows = row_order(masked, order, rng)
    published = flatten(masked, rows)

    def judged(table: Table) -> list[Verdict]:
        return judge(models, table, population.around(table, rows) if population else None)

    verdicts = judged(published)
    as_published = put_back(published, masked, rows)
    before = check_limits(limits, original, as_published, account.family) if original is not None else []
    with atomic_folder(folder, mode=0o755) as aside:
        public, internal = aside / "public", aside / "internal"
        public.mkdir(mode=0o755)
        internal.mkdir(mode=0o700)
        schema = schema_of(published, format)
        write_table(published, public / schema["file"])
        write_text(public / "schema.json", json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
        again = _read_again(public, published, judged, verdicts)
        found = check_findings(again, original, rows, account.family, of_findings, public / schema["file"])
        shown = put_back(again, masked, rows)
        kept = _limits_again(limits, original, shown, account.family, before)
        readings = readings_of(original, shown, account.family, scenarios)
        suppressed = len(masked) - len(again)
        rules = _rules(rulebook, of_rules, again, readings, kept, account, order, suppressed)
        facts = Facts(
            account,
            order,
            models,
            verdicts,
            smallest_class(again),
            found,
            kept,
            rulebook,
            rules,
            front,
            seed,
            population,
        )
        dossier = dossier_of(facts, original, shown, len(again), readings)
        dossier = replace(dossier, signed_by=key.public if key else "")
        write_reports(public, internal, dossier)
        own = {"fingerprint": again.fingerprint()}
        write_manifests(public, internal, dossier, models, own, measured=readings.measured, rulebook=rulebook, key=key)
        risks = [*readings.risks, *(each.reading for each in kept if each.reading.aim == "risk")]
        told = [v.statement for v in verdicts] + [f"{r.definition} {r.missing} {r.unit}" for r in readings.losses]
        told += [f"{e.reading.definition} {e.reading.missing} {e.reading.unit}" for e in kept]
        refuse_leaks(public, again, original, risks=risks, seed=seed, told=told)
    return folder


def _refuse_early(
    masked: Table,
    original: Table | None,
    models: Sequence[PrivacyModel],
    limits: Sequence[Limit],
    account: Account,
    rulebook: Rulebook | None,
    waivers: Mapping[str, str] | None,
) -> None:
    refuse_unguarded(models, limits, original)
    if original is not None and len(original) != len(masked):
        raise PlanError(
            f"the original has {len(original)} rows and the masked table {len(masked)}; rows must correspond"
        )
    known = masked.provenance.family if masked.provenance is not None else account.family
    for family in (known, account.family):
        refuse_meaningless(models, family)
    if original is not None:
        refuse_changed_roles(original, masked)
        refuse_perturbed(models, original, masked)
    of_rules, of_findings = split_waivers(waivers)
    check_finding_waivers(of_findings, masked.names)
    if of_rules and rulebook is None:
        raise PlanError("a rule was waived and no rulebook given; name the rulebook the rule stands in")
    if rulebook is not None:
        rulebook.check_waivers(of_rules)


def _read_again(
    public: Path, published: Table, judged: Callable[[Table], list[Verdict]], verdicts: Sequence[Verdict]
) -> Table:
    """Read the written file back and demand the same table and the same verdicts."""
    schema = json.loads((public / "schema.json").read_text(encoding="utf-8"))
    again = read_published(public, schema)
    if again.fingerprint() != published.fingerprint():
        raise ReleaseRefused(
            "nothing was released: the written file does not read back as the table that was judged; "
            "please report this with the format and the kinds of the columns"
        )
    if judged(again) != list(verdicts):
        raise ReleaseRefused("nothing was released: the written file is judged differently from the table in memory")
    return again


def _limits_again(
    limits: Sequence[Limit], original: Table | None, shown: Table, family: str, before: Sequence[LimitResult]
) -> list[LimitResult]:
    """Every limited measure read from the written file, which must say what the table in memory said."""
    if original is None:
        return []
    after = check_limits(limits, original, shown, family)
    if after != list(before):
        raise ReleaseRefused("nothing was released: the written file is measured differently from the table in memory")
    return after


def _rules(
    rulebook: Rulebook | None,
    waivers: Mapping[str, str] | None,
    again: Table,
    readings: Readings,
    kept: Sequence[LimitResult],
    account: Account,
    order: str,
    suppressed: int,
) -> list[RuleResult]:
    if rulebook is None:
        return []
    risks = [*readings.risks, *(s.after for s in readings.scenarios)] if readings.measured else None
    if risks is not None:
        risks += [each.reading for each in kept if each.reading.aim == "risk"]
    results = check_rulebook(rulebook, Evidence(again, account.family, order, suppressed, risks), waivers)
    broken = refusals(results)
    if broken:
        raise ReleaseRefused(f"nothing was released: rulebook {rulebook.name}: {'; '.join(broken)}")
    return results


def write_reports(public: Path, internal: Path, dossier: Dossier) -> None:
    """The pages are rendered from their JSON twins, so that each says what the other says."""
    outside, inside = external_json(dossier), internal_json(dossier)
    write_text(public / "report.json", outside)
    write_text(public / "report.html", external_html(json.loads(outside)))
    write_text(internal / "report.json", inside)
    write_text(internal / "report.html", internal_html(json.loads(inside)))
