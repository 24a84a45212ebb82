"""The page of one release: downloads, reports, verification, signature, earlier releases, and its withdrawal."""

from __future__ import annotations

import secrets
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from crypsis.attacks.several_releases import Together
from crypsis.errors import CrypsisError, PlanError, TableError
from crypsis.release import compare_releases, new_keys
from crypsis.release.evidence import data_file_as_evidence
from crypsis.release.later_signature import sign_release
from crypsis.release.ledger import LedgerEntry, ReleaseLedger, ledger_of_plan
from crypsis.release.manifest import PARTS
from crypsis.release.signing import INSTALL, available
from crypsis.studio import jobs
from crypsis.studio.forms import Form, one
from crypsis.studio.responses import answer, changes, respond_with_page, routes_of, shows
from crypsis.studio.session import MadeRelease, Session
from crypsis.studio.studio import Studio
from crypsis.studio.verifications import verify_once
from crypsis.table.atomic_files import private_folder
from crypsis.text import over_all_text, unknown_to_attackers_text
from crypsis.text.attacks import attacked_share_text
from crypsis.text.reports import ended_text

VIEWS = {
    "report": ("public", "report.html"),
    "codebook": ("public", "codebook.html"),
    "internal-report": ("internal", "report.html"),
}
"""Pages of a release that can be looked at: part and file."""
SIGN_BY_COMMAND = "`crypsis release --sign`"
"""What a verification says of signing, where the page has a form."""


class _ReleasedPage:
    """Looking at a release, downloading, verifying, signing, withdrawing."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio

    def _content(self, number: int, made: MadeRelease) -> dict[str, Any]:
        folder, foot = Path(made.folder), self.studio.foot("release")
        there = not made.withdrawn and (folder / "public").is_dir()
        command = jobs.job_command_as_typed(["verify", made.folder])
        return {
            "number": number,
            "r": made,
            "folder": folder,
            "there": there,
            "data": data_file_as_evidence(folder).name if there else "",
            "signing": available(),
            "install": INSTALL,
            "key": self.studio.session.source.parent / "crypsis.key",
            "foot": {**foot, "command": command},
        }

    @shows("/release/{number:int}")
    def page(self, request: Request) -> Response:
        number, made = _find_release(self.studio.session, request)
        return self.studio.page("release", lambda: self._content(number, made), "released.html")

    @shows("/release/{number:int}/verified")
    def show_verified(self, request: Request) -> Response:
        number, made = _find_release(self.studio.session, request)
        return self.studio.part("verified.html", **_verify_folder(number, _find_folder(made)))

    @changes("/release/{number:int}/verify")
    def verify_again(self, request: Request, form: Form) -> Response:
        number, made = _find_release(self.studio.session, request)
        found = _verify_folder(number, _find_folder(made), again=True)
        sound = found["found"].sound
        message = "Verified again from its files." if sound else "The release is NOT sound."
        return answer(message, parts={"verified": self.studio.render("verified.html", **found)})

    @shows("/release/{number:int}/together")
    def show_together(self, request: Request) -> Response:
        """Earlier releases of the same source, and what an intruder with both files learns."""
        session = self.studio.session
        _, made = _find_release(session, request)
        folder = _find_folder(made)
        others = [
            each for each in _ledger(session).earlier(session.run.original) if each.folder != str(folder.resolve())
        ]
        pairs = [_beside(session, each, folder) for each in others]
        return self.studio.part("together_releases.html", pairs=pairs)

    @shows("/release/{number:int}/zip/{parts}")
    def download(self, request: Request) -> Response:
        """The release as one archive: what may be published, or all of it."""
        _, made = _find_release(self.studio.session, request)
        whole = request.path_params["parts"] == "with-internal"
        folder = _find_folder(made)
        archive = _write_archive(folder, PARTS if whole else PARTS[:1], self.studio.home)
        name = f"{folder.name}-with-internal.zip" if whole else f"{folder.name}.zip"
        return FileResponse(
            archive, filename=name, media_type="application/zip", background=BackgroundTask(archive.unlink, True)
        )

    @shows("/release/{number:int}/data")
    def download_data(self, request: Request) -> Response:
        _, made = _find_release(self.studio.session, request)
        path = data_file_as_evidence(_find_folder(made))
        return FileResponse(
            path, filename=f"{Path(made.folder).name}{path.suffix}", media_type="application/octet-stream"
        )

    @shows("/release/{number:int}/view/{page}")
    def view(self, request: Request) -> Response:
        """A report or the codebook; to be kept, with `?keep`."""
        _, made = _find_release(self.studio.session, request)
        folder, place = _find_folder(made), VIEWS.get(request.path_params["page"])
        if place is None:
            raise TableError("a release has a report, a codebook and an internal report; go back to its page")
        if "keep" in request.query_params:
            name = f"{folder.name}-{request.path_params['page']}.html"
            return FileResponse(folder / place[0] / place[1], filename=name, media_type="text/html")
        return respond_with_page(folder / place[0] / place[1])

    @changes("/release/{number:int}/sign")
    def sign(self, request: Request, form: Form) -> Response:
        """Sign the release with a key that is there, or that is made first."""
        session = self.studio.session
        number, made = _find_release(session, request)
        text = one(form, "key")
        if not text:
            raise PlanError("no key is given; write the file of a private key, or of one to make")
        key = (session.source.parent / Path(text).expanduser()).absolute()
        if one(form, "do") == "make":
            private_folder(key.parent)
            new_keys(key)
        sign_release(_find_folder(made), key, _ledger(session))
        return answer(f"Signed with {key.name}.", go=f"{self.studio.address}/release/{number}")

    @changes("/release/{number:int}/withdraw")
    def withdraw(self, request: Request, form: Form) -> Response:
        """Remove the release; the ledger keeps its entry, and its public files if somebody may hold them."""
        session = self.studio.session
        number, made = _find_release(session, request)
        received = one(form, "received")
        if received not in ("yes", "no"):
            raise PlanError("say first whether anybody outside may have received the file")
        _ledger(session).withdraw(_find_folder(made), received == "yes")
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        with session.lock:
            releases = list(session.choices.releases)
            releases[number - 1] = replace(made, withdrawn=now)
            session.change(releases=tuple(releases))
        return answer("The release is withdrawn.", go=f"{self.studio.address}/release/{number}")


def routes(studio: Studio) -> list[Route]:
    """Looking at a release, downloading, verifying, signing, withdrawing."""
    return routes_of(_ReleasedPage(studio))


def _find_release(session: Session, request: Request) -> tuple[int, MadeRelease]:
    number, made = int(request.path_params["number"]), session.choices.releases
    if not 1 <= number <= len(made):
        raise TableError(f"there is no release {number} of this file; go back to its Release page")
    return number, made[number - 1]


def _find_folder(made: MadeRelease) -> Path:
    """The folder of a release that is still there."""
    folder = Path(made.folder)
    if made.withdrawn:
        raise TableError(f"{folder.name} was withdrawn on {made.withdrawn}; its files are deleted")
    if not (folder / "public").is_dir():
        raise TableError(f"{folder.name} is no longer in {folder.parent}; move it back to use it here")
    return folder


def _ledger(session: Session) -> ReleaseLedger:
    return ledger_of_plan(session.run.plan)


def _verify_folder(number: int, folder: Path, again: bool = False) -> dict[str, Any]:
    found = verify_once(folder, again)
    words = over_all_text(found.smallest_class, found.family, [v.columns for v in found.verdicts])
    first = [each for each in (words, found.singled_out, unknown_to_attackers_text(found.assumed)) if each]
    sentences = [ended_text(each.replace(SIGN_BY_COMMAND, "under Sign")) for each in (*found.statements, *found.notes)]
    return {"number": number, "found": found, "folder": folder, "first": first, "sentences": sentences}


def _write_archive(folder: Path, parts: Sequence[str], home: Path) -> Path:
    """Pack parts of a release into a private file; unpacked, its folder is what `crypsis verify` takes."""
    private_folder(home / "downloads")
    archive = home / "downloads" / f"{secrets.token_hex(8)}.zip"
    with zipfile.ZipFile(archive, "x", zipfile.ZIP_DEFLATED) as packed:
        archive.chmod(0o600)
        for part in parts:
            for path in sorted((folder / part).iterdir()):
                packed.write(path, f"{folder.name}/{part}/{path.name}")
    return archive


# -- What a release and an earlier one of the same source reveal together.


@dataclass(frozen=True)
class EarlierRelease:
    """An earlier release of the same source beside the one shown."""

    folder: str
    date: str
    withdrawn: str
    level: str
    words: str


def _beside(session: Session, entry: LedgerEntry, folder: Path) -> EarlierRelease:
    level, words = "look", "it is no longer where it was written, so that what both reveal together is not known"
    try:
        found = compare_releases(entry.folder, folder, session.run.original)
        words = _together_text(found.together)
        level = "look" if found.together.exposed >= 1 else "good"
    except (CrypsisError, OSError):
        pass
    return EarlierRelease(Path(entry.folder).name, entry.date, entry.withdrawn, level, words)


def _together_text(found: Together) -> str:
    """What two releases reveal together and neither alone, in a sentence."""
    if found.exposed < 1:
        return "both together reveal nothing of anybody that one alone does not"
    parts = [f"{name} becomes certain for {round(count)}" for name, count in found.fixed.items() if count >= 1]
    if found.below >= 1:
        parts.append(f"{round(found.below)} are left with fewer than {found.k} candidates")
    return (
        f"of {found.people} people, {round(found.exposed)} ({attacked_share_text(100 * found.share)} %) are exposed to "
        f"whoever holds both files: {'; '.join(parts)}"
    )
