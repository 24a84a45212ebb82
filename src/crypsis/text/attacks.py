"""Outcomes of attacks in words."""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from crypsis.attacks.attack_context import AttackVerdict, Outcome
from crypsis.attacks.confidential_knowledge import ConfidentialKnowledge
from crypsis.attacks.linkage import Attacker, MeasuredAttack
from crypsis.audits.audit import Audit
from crypsis.audits.published import Finding, FindingKind
from crypsis.errors import address, listing, reader, word

_ATTACKERS = {
    "class-risk": "an intruder who knows {columns} of everybody, reaches the class of each person and guesses in it",
    "individual-risk": "an intruder who knows {columns} of a person, not who is in the file, and guesses among the "
    "people of the population who are alike",
    "household-risk": "an intruder who knows {columns} of the members of a household, not who is in the file, and "
    "needs to find one of them",
    "population-uniqueness": "an intruder who knows {columns} of everybody in the population",
    "prosecutor-risk": "an intruder who knows {columns} of a person and that the person is in the file",
    "journalist-risk": "an intruder who knows {columns} of the population and wants to find anybody of it in the file",
    "marketer-risk": "an intruder who knows {columns} of the population and links as many people as possible",
    "suda": "an intruder who meets a person whose values of a few of {columns} are special",
    "record-linkage": "an intruder who knows {columns} of a person and takes the nearest record",
    "one-to-one-linkage": "an intruder who knows {columns} of everybody and assigns people to records one-to-one",
    "learned-linkage": "an intruder who knows {columns} of everybody, has learned on a similar file how people were "
    "masked and assigns people to records one-to-one",
    "held-out-linkage": "the most successful of intruders who know some columns, or weigh all, and take the nearest "
    "record, here by {columns}",
    "probabilistic-linkage": "an intruder who knows {columns} of everybody and links records by how often columns "
    "agree",
    "category-linkage": "an intruder who knows {columns} of a person and takes the record with most equal categories",
    "rank-linkage": "an intruder who knows {columns} of everybody and the largest shift of a rank, and takes a record "
    "within it",
    "interval-disclosure": "an intruder who takes the published value of {columns} for about the true one",
    "category-disclosure": "an intruder who takes the published category of {columns} for the true one",
    "overall risk": "the most successful intruder of the plan, by the mean of the risks that the plan measures",
}


def attack_text(outcome: Outcome) -> str:
    """What an attack achieves, and whether it is a finding.

    >>> from crypsis.attacks.attack_context import Rate
    >>> attack_text(Outcome("nearest record", Rate.of(12, 100), Rate.make_exact(10.0), None, 5.0, "", (), ""))
    'right for 12.0 % of the attempts against 10.0 % without the release: not distinguishable from the baseline'
    """
    reference = outcome.reference
    other = "baseline" if reference is outcome.baseline else "control"
    against = f"{reference.value:.1f} % {'without the release' if other == 'baseline' else 'outside the release'}"
    rates = f"right for {outcome.rate.value:.1f} % of the attempts against {against}"
    if outcome.sets > 1:
        rates += f", by {', '.join(outcome.scope)}, the worst of {outcome.sets} sets of columns"
    if outcome.verdict is AttackVerdict.CAUGHT:
        return f"{rates}: the release discloses people; {outcome.remedy}"
    if outcome.verdict is AttackVerdict.UNDETERMINED:
        return f"{rates}: undetermined, since nobody outside the release was attacked"
    if outcome.excess > 0:
        return f"{rates}: higher, by less than the {outcome.margin:g} points that count as a finding"
    return f"{rates}: not distinguishable from the {other}"


_ANY_ATTACKER = "an intruder who knows {columns} and does what this measure defines"
_EVERY_QUASI = "the quasi-identifiers"


def attacker_text(measure: str, columns: Sequence[str]) -> str:
    """Whose success a risk is: what the intruder knows and does.

    >>> attacker_text("record-linkage", ["age", "sex"])
    'an intruder who knows age, sex of a person and takes the nearest record'
    """
    return _ATTACKERS.get(measure, _ANY_ATTACKER).format(columns=", ".join(columns) or _EVERY_QUASI)


def intruder_text(figures: Mapping[str, float | None]) -> str:
    """Whose success the overall risk of a solution is, by the figures it was measured with.

    >>> intruder_text({"risk": 9.0, "class-risk": 9.0})
    'an intruder who knows the quasi-identifiers of everybody, reaches the class of each person and guesses in it'
    >>> intruder_text({"risk": 9.0, "class-risk": 9.0, "risk.register": 9.0, "risk.neighbour": 4.0})
    'an intruder who knows the columns of scenario register of everybody, reaches the class of each person and guesses \
in it'
    """
    risk = figures.get("risk")
    scenarios = {n.removeprefix("risk."): v for n, v in figures.items() if n.startswith("risk.") and v is not None}
    knows = [f"the columns of scenario {max(scenarios, key=lambda n: scenarios[n])}"] if scenarios else []
    for name in _ATTACKERS:
        if risk is not None and figures.get(name) == risk:
            return attacker_text(name, knows)
    return attacker_text("overall risk", knows)


def is_attacker_text(text: str, columns: Collection[str]) -> bool:
    """Whether words about an attack only name an attacker who knows some of the columns.

    >>> is_attacker_text(attacker_text("class-risk", ["age", "sex"]), {"age", "sex", "town"})
    True
    >>> is_attacker_text("an intruder called Kim", {"age"})
    False
    """
    for template in (*_ATTACKERS.values(), _ANY_ATTACKER):
        first, last = template.split("{columns}") if "{columns}" in template else (template, "")
        if text.startswith(first) and text.endswith(last) and len(text) >= len(first) + len(last):
            known = text[len(first) : len(text) - len(last)]
            if known in ("", _EVERY_QUASI) or set(known.split(", ")) <= set(columns):
                return True
    return False


def measured_attack_text(attack: MeasuredAttack) -> str:
    """What an attack found before the release, and what bounds it.

    >>> found = MeasuredAttack(Attacker.ONE_TO_ONE, "register", ("age",), True, 4.12, (3.6, 4.7), 900, 900, 4.9)
    >>> measured_attack_text(found)
    'an intruder who knows all quasi-identifiers of everybody and assigns people to records one-to-one finds 4.1 % \
(3.6–4.7) of the people; whoever knows these columns alone finds at most 4.9 % on average, the classes over the records'
    """
    knows = "all quasi-identifiers" if attack.everything else listing(attack.knows)
    learned = "" if attack.attacker == Attacker.ONE_TO_ONE else ", has learned on a similar file how people were masked"
    who = f"an intruder who knows {knows} of everybody{learned} and assigns people to records one-to-one"
    if attack.found is None or attack.interval is None:
        return f"{who} was not tried: {attack.skipped}"
    low, high = map(attacked_share_text, attack.interval)
    text = f"{who} finds {attacked_share_text(attack.found)} % ({low}–{high}) of {_looked_for(attack)}"
    if attack.class_risk is None:
        return text
    most = attacked_share_text(attack.class_risk)
    return f"{text}; whoever knows these columns alone finds at most {most} % on average, the classes over the records"


def _looked_for(attack: MeasuredAttack) -> str:
    if attack.people >= attack.people_in_all:
        return "the people"
    more = "" if attack.class_risk is None else ", up to the next figure"
    return f"{attack.people} people drawn from {attack.people_in_all} (a search for all of them may find more{more})"


def confidential_text(known: Sequence[ConfidentialKnowledge]) -> str:
    """What class sizes do not cover: who knows a confidential column too, exactly, roughly or by a prediction.

    Of several columns the one by which most are found is named, and how many by the others; empty without one.

    >>> income = ConfidentialKnowledge("income", 20.0, 94.2, 56.0, 21.4, True, False)
    >>> confidential_text([income])
    'class sizes protect from whoever knows the quasi-identifiers alone (20.0 % found); who also knows income finds up \
to 94.2 %, who knows in which tenth of all values it lies 56.0 %, who predicts it 21.4 %'
    >>> others = [ConfidentialKnowledge(name, 20.0, 41.0, 41.0, 20.5, False, False) for name in ("union", "ill")]
    >>> confidential_text([income, *others])
    'class sizes protect from whoever knows the quasi-identifiers alone (20.0 % found); who also knows one of 3 \
confidential columns finds up to 94.2 % (income; by another 41.0 %), who knows in which tenth of all values it lies \
56.0 % (income), who predicts it 21.4 % (income; by another 20.5 %)'
    """
    if not known:
        return ""
    alone, most = attacked_share_text(known[0].class_risk), partial(_most_found, named=len(known) > 1)
    which = known[0].column if len(known) == 1 else f"one of {len(known)} confidential columns"
    rough = {each.column: each.rough for each in known if each.numeric}
    predicted = {each.column: each.predicted for each in known if each.predicted is not None}
    text = f"class sizes protect from whoever knows the quasi-identifiers alone ({alone} % found)"
    text += f"; who also knows {which} finds up to {most({each.column: each.exact for each in known})}"
    text += f", who knows in which tenth of all values it lies {most(rough)}" if rough else ""
    text += f", who predicts it {most(predicted)}" if predicted else ""
    asked = [each.column for each in known if each.asks]
    if not asked:
        return text
    made, them = ("a quasi-identifier", "it") if len(asked) == 1 else ("quasi-identifiers", "them")
    return (
        f"{text}; make {listing(asked)} {made}, demand l-diversity or t-closeness, or say in the plan why "
        f"nobody outside knows {them} (because)"
    )


def _most_found(shares: Mapping[str, float], *, named: bool) -> str:
    """The largest share of people; where it is `named` also by which column, and the shares by the others."""
    first, *others = sorted(shares, key=lambda column: -shares[column])
    text = f"{attacked_share_text(shares[first])} %"
    if not named:
        return text
    ends = dict.fromkeys(attacked_share_text(shares[column]) for column in (*others[-1:], *others[:1]))
    rest = f"; by another {' to '.join(ends)} %" if ends else ""
    return f"{text} ({first}{rest})"


def attacked_share_text(value: float) -> str:
    """The share of people an attack finds: a per cent figure with two digits, or one after the point.

    >>> [attacked_share_text(value) for value in (0.0, 0.0423, 4.12, 15.84, 100.0)]
    ['0', '0.042', '4.1', '15.8', '100']
    """
    if value in (0.0, 100.0):
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2g}"


# -- Findings in words: what a file reveals, and the lines that decide about it.

_REASON = "\u2026"


def attack_finding_text(finding: Finding) -> str:
    """Beside the outcome of an attack in words: one finding of an audit, without a full stop.

    >>> attack_finding_text(Finding(FindingKind.SINGLING_OUT, ("weight",), 479, 0.479))
    'weight singles out 47.9 % of the records by itself: 479 hold a value that no other record holds'
    """
    share, records = f"{100 * finding.share:.3g} %", finding.records
    first, *rest = finding.columns
    others, be = listing(rest), "is" if records == 1 else "are"
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
            return f"whoever knows {first} together with {others} finds {share} of the records: {records} {be} alone"
        case FindingKind.DEPENDENCE:
            key, restored = (
                listing(finding.columns[: finding.by]),
                listing(finding.columns[finding.by :]),
            )
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
                f"both their classes with fewer records than either file promises"
            )
        case FindingKind.EARLIER_RELEASE:
            return (
                f"{first}: an earlier release of the same source and this one together fix it for {share} of the people"
            )
        case FindingKind.METADATA:
            return f"the file holds entries beside its table: {listing(finding.columns)}"


OF_ONE_COLUMN = (
    FindingKind.UNDECIDED,
    FindingKind.SINGLING_OUT,
    FindingKind.COMBINATION,
    FindingKind.ASSUMPTION,
    FindingKind.FEW_UNITS,
    FindingKind.HOMOGENEOUS,
)
"""Kinds whose findings speak of their first column, so that one sentence can speak of several columns."""


def alike_findings_text(findings: Sequence[Finding]) -> str:
    """Findings of one kind in one sentence without a full stop: the greatest, then the other columns and their shares.

    >>> shares = {"pay": 0.04, "ill": 0.09, "vote": 0.05}
    >>> alike_findings_text([Finding(FindingKind.HOMOGENEOUS, (c,), 40, share) for c, share in shares.items()])
    'ill: all of a class hold one value, so that whoever finds the class of a person learns it, for 9 % of the \
records: 40; l-diversity prevents it; the same of vote, pay, with 4 to 5 %'
    """
    first, *others = sorted(findings, key=lambda each: -each.share)
    text = attack_finding_text(first)
    if not others:
        return text
    names = list(dict.fromkeys(each.columns[0] for each in others))
    ends = dict.fromkeys(f"{100 * each.share:.3g}" for each in (others[-1], others[0]))
    return f"{text}; the same of {listing(names)}, with {' to '.join(ends)} %"


def _role_text(column: str, role: str, because: str = "", again: bool = False) -> str:
    """What gives a column a role; `again`: after a part of the sentence that named the column as the plan does."""
    name = json.dumps(column, ensure_ascii=False)
    given = f'"{role}"' + (f', because = "{because}"' if because else "")
    argument = {"quasi": "quasi_identifiers", "confidential": "confidential", "identifier": "identifiers"}.get(role)
    return word(
        python=f"{argument}=[…, {name}]" if argument else f'roles={{{name}: "{role}"}}',
        command=f"{'' if again else f'[columns] {_plan_key(column)} = '}{{ role = {given} }}",
    )


def attack_remedies(finding: Finding) -> list[str]:
    """What to write about a finding that attacks could use, a line each; nothing for pages, which have forms for it."""
    if reader() == "studio":
        return []
    first = finding.columns[0] if finding.columns else ""
    name, as_role = json.dumps(first, ensure_ascii=False), partial(_role_text, first)
    waive = word(
        python=f'waivers={{{json.dumps(finding.key, ensure_ascii=False)}: "{_REASON}"}}',
        command=f'[[waive]] finding = "{finding.kind}" column = {name} because = "{_REASON}"',
    )
    waive += " releases it as it is, on record"
    masks = f"{as_role('quasi')} masks it, {as_role('identifier', again=True)} leaves it out"
    match finding.kind:
        case FindingKind.UNDECIDED:
            hidden, left_out = as_role("confidential", again=True), as_role("identifier", again=True)
            found = [
                f"{as_role('quasi')} if somebody outside may know it, {hidden} if it must not be learnt, {left_out} to "
                f"leave it out, or {as_role('other', _REASON, again=True)}"
            ]
        case FindingKind.SINGLING_OUT:
            microaggregated = word(
                python=f"crypsis.Microaggregation(columns=[{name}], k=5).mask(table) before the search",
                command=f'[[mask]] method = "microaggregation" columns = [{name}] k = 5',
            )
            found = [masks, f"{microaggregated} publishes averages of it", waive]
        case FindingKind.ASSUMPTION:
            stated = f"{as_role('confidential', _REASON)} says that nobody outside knows it, which the reports state"
            found = [f"{as_role('quasi')} masks it: somebody outside may know it", f"{stated} as an assumption"]
        case FindingKind.COMBINATION | FindingKind.DEPENDENCE | FindingKind.RESTATED:
            found = [masks, waive]
        case FindingKind.FEW_UNITS:
            demand = word(
                python="models=crypsis.PersonKAnonymity(k=3)",
                command='[[require]] model = "person-k-anonymity" k = 3',
            )
            found = [
                f"{as_role('household')} and {demand} demand records of three different ones in every class",
                waive,
            ]
        case FindingKind.SMALL_AVERAGE:
            everywhere = word(python="", command=", wherever the plan says k,")
            larger = (
                f"k = 3 or more{everywhere} averages more records: who is one of two learns the other's value from the "
                f"average"
            )
            found = [larger, waive]
        case FindingKind.EARLIER_RELEASE:
            replaced = f"if nobody outside has the earlier release: {replacement_text('FOLDER')}"
            found = [replaced, waive]
        case FindingKind.METADATA:
            found = ["write the file again without them"]
        case _:
            found = [waive]
    return found


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


def _plan_key(column: str) -> str:
    """A column as a key of the plan."""
    return column if column.isascii() and column.isidentifier() else json.dumps(column, ensure_ascii=False)


def replacement_text(folder: str) -> str:
    """What lets a release take the place of an earlier one in a folder."""
    written = word(
        python=f"replaces={folder if folder == 'FOLDER' else json.dumps(folder, ensure_ascii=False)}",
        command=f"--replaces {shlex.quote(folder)}",
        studio="its page lets it be replaced:",
    )
    return f"{written} lets this one take its place"


def attack_decisions_text(findings: Sequence[Finding], earlier: Sequence[str] = ()) -> str:
    """Why what a file reveals to attacks refuses its release, and what to write about it; one line each.

    `earlier`: folders of earlier releases of the same source.
    """
    lines = ["the file reveals more than the plan decides"]
    for kind in dict.fromkeys(each.kind for each in findings):
        some = [each for each in findings if each.kind is kind]
        lines += [f"  {attack_finding_text(each)}" for each in some]
        remedies = attack_remedies(some[0])
        if kind is FindingKind.EARLIER_RELEASE and earlier:
            remedies[:1] = [
                f"the earlier release is in {folder}; if nobody outside has it, {replacement_text(folder)}"
                for folder in earlier
            ]
        about = "about it" if len(some) == 1 else "about each; for the first"
        if remedies:
            lines.append(f"decide {about}{', one of' if len(remedies) > 1 else ''}:")
        lines += [f"  {line}" for line in remedies]
    if reader() == "studio":
        lines.append("decide about each above, under What the file reveals")
    return "\n".join(lines)


def proposed_waivers_text(findings: Sequence[Finding]) -> str:
    """Tables for a plan that waive findings of attacks, their reasons left to be written; empty if there is none."""
    lines = list[str]()
    for key, each in {each.key: each for each in findings if each.columns}.items():
        with address("command"):
            told = [attack_finding_text(each), *(line for line in attack_remedies(each) if "[[waive]]" not in line)]
        lines += [f"# {' '.join(line.split())}" for line in told]  # a name may hold a line break
        column = json.dumps(key.partition(":")[2], ensure_ascii=False)
        lines += ["[[waive]]", f'finding = "{each.kind}"', f"column = {column}", 'because = ""', ""]
    return "\n".join(lines)


def uncovered_attackers_text(figures: Mapping[str, float | None]) -> str:
    """Attackers whom the scenarios of a plan do not cover, in words; empty where they cover everybody.

    >>> uncovered_attackers_text({"all-knowing": 57.25, "k": 1.0})
    'not covered by any scenario: an intruder who knows every quasi-identifier finds 57.2 % of the people; the \
smallest class over all of them has 1 record'
    """
    if "all-knowing" not in figures:
        return ""
    found, size = figures["all-knowing"], figures.get("k")
    text = "not covered by any scenario: an intruder who knows every quasi-identifier"
    text += f" finds {found:.1f} % of the people" if found is not None else ""
    if size is None:
        return text
    return f"{text}; the smallest class over all of them has {size:.0f} record{'s' * (size != 1)}"


def unknown_to_attackers_text(columns: Sequence[str]) -> str:
    """That attackers are taken not to know confidential columns, in a sentence; empty where none is.

    >>> unknown_to_attackers_text(["income"])
    'It is assumed that nobody outside knows income: together with other columns it would single people out.'
    """
    if not columns:
        return ""
    they = "it" if len(columns) == 1 else "each of them"
    return (
        f"It is assumed that nobody outside knows {listing(columns)}: together with other columns {they} would single "
        f"people out."
    )
