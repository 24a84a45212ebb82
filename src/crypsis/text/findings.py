"""Findings in words: what a file reveals, and the lines that decide about it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from crypsis.audits.audit import Audit
from crypsis.audits.finding import Finding, FindingKind
from crypsis.errors import listing

_REASON = "\u2026"


def finding_text(finding: Finding) -> str:
    """What was found, without a full stop.

    Examples
    --------
    >>> finding_text(Finding(FindingKind.SINGLING_OUT, ("weight",), 479, 0.479))
    'weight singles out 47.9 % of the records by itself: 479 hold a value that no other record holds'
    """
    share, records = f"{100 * finding.share:.3g} %", finding.records
    first, *rest = finding.columns
    others = listing(rest)
    match finding.kind:
        case FindingKind.UNDECIDED:
            text = f"{first}: nobody decided what it means for disclosure"
            return f"{text}; {records} records ({share}) hold a value that no other record holds" if records else text
        case FindingKind.SINGLING_OUT:
            return (
                f"{first} singles out {share} of the records by itself: {records} hold a value that no other record "
                f"holds"
            )
        case FindingKind.COMBINATION:
            return f"{first} together with {others} singles out {share} of the records: {records}"
        case FindingKind.ASSUMPTION:
            return f"whoever knows {first} together with {others} finds {share} of the records: {records} are alone"
        case FindingKind.DEPENDENCE:
            key, restored = listing(finding.columns[: finding.by]), listing(finding.columns[finding.by :])
            verb = "restores" if finding.by == 1 else "together restore"
            return f"{key} {verb} {share} of the masked cells of {restored} beyond chance: {records}"
        case FindingKind.RESTATED:
            return f"{first} says the value of {others} of the same record beyond chance, in {share} of them: {records}"
        case FindingKind.FEW_UNITS:
            return (
                f"{first}: {share} of the records are in a class whose records have fewer than three different values "
                f"of it, which protects few people: {records}"
            )
        case FindingKind.SMALL_AVERAGE:
            return f"{first}: {records} published averages are over fewer than three known values"
        case FindingKind.FILLED:
            return f"{first}: {records} cells that were missing hold a value"
        case FindingKind.HOMOGENEOUS:
            return (
                f"{first}: all of a class hold one value, so that whoever finds the class of a person learns it, for "
                f"{share} of the records: {records}; l-diversity prevents it"
            )
        case FindingKind.LOOK_ALIKE:
            return (
                f"{first}: categories of {records} records differ only in case, spaces, punctuation or letters that "
                f"look alike"
            )
        case FindingKind.INVENTED if rest:
            return f"{first} and {others}: {records} records hold a pair of values that no original record holds"
        case FindingKind.INVENTED:
            return f"{first}: {records} numbers lie outside the range of the original"
        case FindingKind.EARLIER_RELEASE if not finding.records:
            return (
                "an earlier release of the same source is no longer where it was written: if it was moved and not "
                "withdrawn, what both reveal together is unknown"
            )
        case FindingKind.EARLIER_RELEASE if rest:
            return (
                f"{first}: joined with an earlier release of the same source by {others}, {share} of the people share "
                f"both their classes with fewer records than either file promises: {records}"
            )
        case FindingKind.EARLIER_RELEASE:
            return (
                f"{first}: an earlier release of the same source and this one together fix it for {share} of the "
                f"people: {records}"
            )
        case FindingKind.METADATA:
            return f"the file holds entries beside its table: {listing(finding.columns)}"


def remedies(finding: Finding) -> list[str]:
    """What to write into the plan about a finding, a line each.

    finding  a finding
    """
    first = finding.columns[0] if finding.columns else ""
    key, name = plan_key(first), json.dumps(first, ensure_ascii=False)
    waive = (
        f'[[waive]] finding = "{finding.kind}" column = {name} because = "{_REASON}" releases it as it is, on record'
    )
    masks = f'[columns] {key} = {{ role = "quasi" }} masks it, {{ role = "identifier" }} leaves it out'
    match finding.kind:
        case FindingKind.UNDECIDED:
            return [
                f'[columns] {key} = {{ role = "quasi" }} if somebody outside may know it, "confidential" if it must '
                f'not be learnt, "identifier" to leave it out, or {{ role = "other", because = "{_REASON}" }}'
            ]
        case FindingKind.SINGLING_OUT:
            alone = f'[[mask]] method = "microaggregation" columns = [{name}] k = 5 publishes averages of it'
            return [masks, alone, waive]
        case FindingKind.ASSUMPTION:
            stated = (
                f'[columns] {key} = {{ role = "confidential", because = "{_REASON}" }} says why nobody outside knows '
                f"it, which the reports state as an assumption"
            )
            return [f'[columns] {key} = {{ role = "quasi" }} masks it: somebody outside may know it', stated]
        case FindingKind.COMBINATION | FindingKind.DEPENDENCE | FindingKind.RESTATED:
            return [masks, waive]
        case FindingKind.FEW_UNITS:
            return ["[[require]] a larger k: three times the records that belong together are enough", waive]
        case FindingKind.EARLIER_RELEASE:
            return ["withdraw the earlier release and delete its folder, or release it again instead of another", waive]
        case FindingKind.METADATA:
            return ["write the file again without them"]
        case _:
            return [waive]


def singled_out_text(findings: Sequence[Finding]) -> str:
    """How many people published columns single out, by themselves and two or three together, in a sentence or two.

    Examples
    --------
    >>> singled_out_text([Finding(FindingKind.SINGLING_OUT, ("code",), 98, 0.049, refuses=False)])
    'Alone with the value of one column: 98 by code.'
    """
    single = [each for each in findings if each.kind is FindingKind.SINGLING_OUT]
    together = [each for each in findings if each.kind in (FindingKind.COMBINATION, FindingKind.ASSUMPTION)]
    counts = listing((f"{each.records} by {each.columns[0]}" for each in single), most=8)
    text = f"Alone with the value of one column: {counts}." if single else "Nobody is alone with a value of one column."
    if not together:
        return text
    worst = max(together, key=lambda each: each.records)
    return (
        f"{text} With two or three: at most {worst.records} ({100 * worst.share:.3g} %), by {listing(worst.columns)}."
    )


def audited_text(audit: Audit) -> str:
    """What an audit looked at, in one sentence."""
    text = f"The audit looked at all {audit.columns} published columns of {audit.records} records"
    if not audit.whole:
        return (
            f"{text}, one by one and in {audit.combinations} of {audit.all_combinations} combinations of two or three; "
            f"the table is counted and not read as a whole, so masked cells that other columns restore, and texts that "
            f"say them, were not looked at."
        )
    if not audit.all_combinations:
        return f"{text}, one by one."
    text += f", one by one and in {audit.combinations} of {audit.all_combinations} combinations of two or three"
    compared = "masked cells are known from the original" if audit.compared else "no original was at hand"
    return f"{text}; {compared}."


def plan_key(column: str) -> str:
    """A column as a key of the plan."""
    return column if column.isascii() and column.isidentifier() else json.dumps(column, ensure_ascii=False)


def decisions_text(findings: Sequence[Finding]) -> str:
    """Why a release is refused, and what to write into the plan; one line each.

    findings  those that stop it
    """
    lines = ["nothing was released: the file reveals more than the plan decides"]
    for kind in dict.fromkeys(each.kind for each in findings):
        some = [each for each in findings if each.kind is kind]
        lines += [f"  {finding_text(each)}" for each in some]
        lines.append(
            "decide in the plan about it:" if len(some) == 1 else "decide in the plan about each, here the first:"
        )
        lines += [f"  {line}" for line in remedies(some[0])]
        if some[0].columns:
            lines.append(f"or, for this release alone: --waive '{some[0].key}={_REASON}'")
    return "\n".join(lines)
