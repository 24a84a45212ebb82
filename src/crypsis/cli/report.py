"""`crypsis report`: where the reports of a release are."""

from __future__ import annotations

from crypsis.cli import options
from crypsis.cli.output import say, say_json, table


def report(
    folder: options.ReleaseFolder,
    json: options.Json = False,
) -> None:
    """Print where the reports of a release are."""
    from crypsis.release import verify as verify_release

    sound = verify_release(folder).sound
    public = folder / "public" if (folder / "public").is_dir() else folder
    places = {
        "internal": folder / "internal" / "report.html",
        "internal_json": folder / "internal" / "report.json",
        "external": public / "report.html",
        "external_json": public / "report.json",
    }
    found = {name: str(path) for name, path in places.items() if path.is_file()}
    if json:
        say_json({**found, "sound": sound})
        return
    readers = {"internal": "to sign; internal, never published", "external": "published with the data"}
    rows = [
        (name.replace("_json", ", for programs"), path, readers[name.split("_")[0]]) for name, path in found.items()
    ]
    say(table(("report", "file", "for"), rows))
    say(f"{folder}: {'sound' if sound else 'NOT sound; see crypsis verify'}")
