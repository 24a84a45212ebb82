"""Whatever does not come from the studio's own pages in the admitted browser is refused."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from browsing import whole_studio
from crypsis.studio import access
from crypsis.studio.access import DOOR, AccessControl, Credentials, access_file_with_token, own_host
from crypsis.studio.server import listen
from crypsis.studio.session import Session
from crypsis.studio.studio import Studio

HOME = "http://127.0.0.1:8000"
SECRET = "Zebulon Q. Rarename"
PEOPLE = "name,age,sex,income\n" + "".join(f"P{n},{20 + n % 9},{'fm'[n % 2]},{n}\n" for n in range(60))


@pytest.fixture
def entry() -> Credentials:
    return Credentials(8000)


@pytest.fixture
def studio(tmp_path: Path) -> Studio:
    source = tmp_path / "people.csv"
    source.write_text(PEOPLE.replace("P7,", f"{SECRET},"), encoding="utf-8")
    session = Session(source, tmp_path / "people-plan.toml")
    session.reading.wait()
    assert session.reading.problem == ""
    return Studio(tmp_path, session)


@pytest.fixture
def client(studio: Studio, entry: Credentials) -> Iterator[TestClient]:
    with TestClient(AccessControl(whole_studio(studio), entry), base_url=HOME, follow_redirects=False) as made:
        yield made


@pytest.fixture
def admitted(client: TestClient, entry: Credentials) -> TestClient:
    answer = client.get(f"/?token={entry.token}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    return client


def test_the_printed_address_works_again_and_in_another_browser(admitted: TestClient, entry: Credentials) -> None:
    assert admitted.get("/data").status_code == 200
    assert admitted.get(f"/?token={entry.token}").status_code == 303
    admitted.cookies.clear()
    assert admitted.get("/data").status_code == 403
    assert admitted.get(f"/?token={entry.token}").status_code == 303
    assert admitted.get("/data").status_code == 200


def test_the_cookie_ends_with_the_browser(client: TestClient, entry: Credentials) -> None:
    cookie = client.get(f"/?token={entry.token}").headers["set-cookie"].lower()
    assert "max-age" not in cookie
    assert "expires" not in cookie
    assert "domain" not in cookie  # it goes to the one name of this studio


@pytest.mark.parametrize(
    "foreign",
    [
        "theme",
        "a=b=c",
        "=x",
        "we ird=1",
        'x="unclosed',
        "k\x01=1",
        "ké=ü",
        "a,b=1; c@d={json: [1,2]}",
        ";;;",
        "a=\\303",
    ],
)
def test_foreign_cookies_however_malformed_lock_nobody_out(
    client: TestClient, entry: Credentials, foreign: str
) -> None:
    own = f"{entry.name}={entry.cookie}"
    for header in (f"{foreign}; {own}", f"{own}; {foreign}", f"{entry.name}=old; {foreign}; {own}"):
        assert client.get("/data", headers={"cookie": header.encode("latin-1")}).status_code == 200
    assert client.get("/data", headers={"cookie": foreign.encode("latin-1")}).status_code == 403


def test_the_entry_file_posts_the_token_and_goes(client: TestClient, entry: Credentials, tmp_path: Path) -> None:
    path = access_file_with_token(tmp_path, entry)
    assert path.stat().st_mode & 0o777 == 0o600
    assert entry.token in path.read_text(encoding="utf-8")
    from_a_file = {"origin": "null", "sec-fetch-site": "cross-site"}
    assert client.post(DOOR, headers=from_a_file, data={"token": "wrong"}).status_code == 403
    assert client.post(DOOR, headers=from_a_file, content=b"token=" + b"x" * 10_000).status_code == 403
    assert path.exists()
    answer = client.post(DOOR, headers=from_a_file, data={"token": entry.token})
    assert answer.status_code == 200
    assert 'content="0; url=/"' in answer.text
    assert "samesite=strict" in answer.headers["set-cookie"].lower()
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert not path.exists()
    assert client.get("/data").status_code == 200


def test_an_entry_file_of_a_killed_studio_is_removed(tmp_path: Path, entry: Credentials) -> None:
    left = access_file_with_token(tmp_path, Credentials(8001))
    assert access_file_with_token(tmp_path, entry).exists()
    assert not left.exists()


def test_every_studio_has_a_name_of_its_own() -> None:
    names = {own_host() for _ in range(20)}
    assert len(names) == 20
    assert all(re.fullmatch(r"crypsis-[0-9a-f]{16}\.localhost", name) for name in names)
    entry = Credentials(8000, "crypsis-0.localhost")
    assert entry.first_address.startswith("http://crypsis-0.localhost:8000/?token=")


def test_a_studio_with_a_name_of_its_own_answers_to_no_other(studio: Studio) -> None:
    entry = Credentials(8000, own_host())
    with TestClient(AccessControl(whole_studio(studio), entry), base_url=entry.home, follow_redirects=False) as client:
        assert client.get(f"/?token={entry.token}").status_code == 303
        assert client.get("/data").status_code == 200
        for host in ("127.0.0.1:8000", "localhost:8000", "crypsis-1.localhost:8000"):
            assert client.get(f"/?token={entry.token}", headers={"host": host}).status_code == 421


def test_both_loopback_addresses_are_taken() -> None:
    """A name that ends in .localhost may lead to either; on the one left free another user could wait for tokens."""
    listeners = listen(0)
    port = listeners[0].getsockname()[1]
    try:
        for listener in listeners:
            with socket.socket(listener.family) as other, pytest.raises(OSError, match="in use"):
                other.bind((listener.getsockname()[0], port))
    finally:
        for listener in listeners:
            listener.close()


def test_a_column_that_is_not_there_is_refused(admitted: TestClient, studio: Studio) -> None:
    before = studio.session.document
    for path in ("/data/column", "/data/preview", "/data/order"):
        asked = {"column": "agee", "role": "quasi", "kind": "numeric"}
        answer = admitted.post(path, headers={"origin": HOME}, data=asked)
        assert answer.status_code == 422
        assert "there is no column 'agee' (did you mean 'age'?)" in answer.json()["problems"][0]
    assert studio.session.document == before


def test_no_token_no_page(client: TestClient) -> None:
    for path in ("/", "/data", "/explore.json", "/static/studio.js", "/events", "/nothing"):
        answer = client.get(path)
        assert answer.status_code == 403
        assert "No access" in answer.text


def test_a_wrong_token_or_cookie_is_refused(client: TestClient, entry: Credentials) -> None:
    assert client.get("/?token=wrong").status_code == 403
    assert client.get("/", headers={"cookie": f"{entry.name}=wrong"}).status_code == 403
    assert client.get("/", headers={"cookie": f"{entry.name}={entry.token}"}).status_code == 403


def test_a_token_in_a_later_address_is_refused(admitted: TestClient, entry: Credentials) -> None:
    assert admitted.get(f"/data?token={entry.token}").status_code == 403


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:8001", "localhost", "127.0.0.1:8000.evil"])
def test_a_wrong_host_is_refused(admitted: TestClient, host: str) -> None:
    assert admitted.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8000", "http://127.0.0.1:8001"])
def test_a_wrong_origin_is_refused(admitted: TestClient, origin: str) -> None:
    assert admitted.get("/", headers={"origin": origin}).status_code == 403
    assert admitted.post("/search/start", headers={"origin": origin}).status_code == 403


def test_a_post_from_elsewhere_is_refused(admitted: TestClient, studio: Studio) -> None:
    assert admitted.post("/search/start").status_code == 403
    crossed = {"origin": HOME, "sec-fetch-site": "cross-site"}
    assert admitted.post("/search/start", headers=crossed).status_code == 403
    assert admitted.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 403
    assert studio.session.run_folder is None


def test_other_methods_are_refused(admitted: TestClient) -> None:
    assert admitted.put("/data", headers={"origin": HOME}).status_code == 405
    assert admitted.delete("/", headers={"origin": HOME}).status_code == 405


def test_a_large_body_is_refused(admitted: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = {"origin": HOME}
    assert admitted.post("/limits", headers=own, content=b"x" * (access.SMALL + 1)).status_code == 413
    monkeypatch.setattr(access, "LARGEST", 1000)
    upload = {**own, "x-file-name": "big.csv"}
    assert admitted.post(access.UPLOAD, headers=upload, content=b"x" * 1001).status_code == 413
    pieces = (b"x" * 600 for _ in range(3))  # no length is announced
    assert admitted.post(access.UPLOAD, headers=upload, content=pieces).status_code == 413
    assert list(tmp_path.glob("uploads/*/*")) == []


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2f..%2fgate.py", "/static//etc/passwd",
     "/release/report/..%2f..%2finternal", "/static/%2e%2e%2f%2e%2e%2f%2e%2e%2fpeople.csv"],
)  # fmt: skip
def test_no_way_out_of_the_folders(admitted: TestClient, path: str) -> None:
    answer = admitted.get(path)
    assert answer.status_code in (404, 422)
    assert "import" not in answer.text
    assert SECRET not in answer.text


def test_a_hierarchy_file_must_lie_beside_the_plan(admitted: TestClient) -> None:
    for spec in ("../../../etc/passwd", "/etc/passwd", "file:/etc/passwd"):
        asked = {"column": "age", "hierarchy": spec, "kind": "numeric", "role": "quasi"}
        answer = admitted.post("/data/preview", headers={"origin": HOME}, data=asked)
        assert answer.status_code == 422
        assert "must be in the folder of the plan" in answer.text


def test_an_order_names_every_value_once(admitted: TestClient, studio: Studio) -> None:
    own = {"origin": HOME}
    ask = lambda **fields: admitted.post("/data/order", headers=own, data={"column": "sex", **fields})  # noqa: E731
    assert "is not ordinal" in ask(value=["m", "f"]).text
    made = {"column": "sex", "role": "quasi", "kind": "ordinal"}
    assert admitted.post("/data/column", headers=own, data=made).json()["problems"] == []
    assert "its values have changed" in ask(value=["m"]).text
    assert ask(value=["m", "f"]).json()["problems"] == []
    assert studio.session.document["columns"]["sex"]["order"] == ["m", "f"]
    assert studio.session.table.attribute("sex").categories == ("m", "f")
    assert ask().text.index('data-value="m"') < ask().text.index('data-value="f"')
    assert "is numeric" in admitted.post("/data/order", headers=own, data={"column": "age"}).text


def test_the_policy_allows_nothing_unsafe(admitted: TestClient) -> None:
    for path in ("/", "/data", "/goal", "/explore", "/release", "/static/studio.js", "/nothing"):
        answer = admitted.get(path)
        policy = answer.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert policy.startswith("default-src 'none'")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "://" not in answer.text  # nothing on a page points outside


def test_no_value_and_no_token_in_a_log(
    admitted: TestClient, entry: Credentials, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: Studio, *_: object, **__: object) -> None:
        raise RuntimeError(f"a message that quotes {SECRET}")

    monkeypatch.setattr(Studio, "page", broken)
    answer = admitted.get("/data")
    assert answer.status_code == 500
    assert SECRET not in answer.text
    assert "RuntimeError at /data" in caplog.text
    assert SECRET not in caplog.text
    assert entry.token not in caplog.text


def test_few_raw_rows_and_few_marks(admitted: TestClient) -> None:
    rows = admitted.get("/data/rows").text.count("<tr>")
    assert 1 < rows <= 201
    assert len(admitted.get("/explore.json").json()["points"]) <= 5000


def test_the_folders_are_private(admitted: TestClient, tmp_path: Path) -> None:
    sent = {"origin": HOME, "x-file-name": "more.csv"}
    answer = admitted.post(access.UPLOAD, headers=sent, content=PEOPLE.encode())
    assert answer.json()["problems"] == []
    (folder,) = (tmp_path / "uploads").iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "more.csv").stat().st_mode & 0o777 == 0o600
