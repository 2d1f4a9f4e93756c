"""Malformed requests are refused with a reason and cause no error."""

import pytest

from adapters.web.access.forms import MOST_FIELDS
from tests.adapters.web.page_office import PageOffice
from tests.fuzz.office import errors_logged, failures, page_and_api, tools
from tests.fuzz.requests import answer_to

_CUT_SHORT = ("ClientDisconnect", "LocalProtocolError")  # what uvicorn and mcp log of requests that break off

pytestmark = pytest.mark.e2e


async def test_no_request_to_the_page_or_the_api_leads_to_an_error_of_ours() -> None:
    with errors_logged() as logged:
        async with page_and_api(seed=41) as fuzzer:
            assert not await failures(fuzzer, 800)
    assert logged == []


async def test_no_request_to_the_tools_leads_to_an_error_of_ours() -> None:
    with errors_logged() as logged:
        async with tools(seed=41) as fuzzer:
            assert not await failures(fuzzer, 200)
    assert [one for one in logged if not any(name in one for name in _CUT_SHORT)] == []


@pytest.mark.parametrize("path", ["/ask", "/knowledge"])
async def test_a_cookie_and_a_token_that_are_no_text_are_nobodys(path: str) -> None:
    async with page_and_api(seed=0) as fuzzer:
        origin = b"Host: %(host)s\r\nOrigin: http://%(host)s\r\n" % {b"host": fuzzer.host.encode()}
        stranger = b"GET %s HTTP/1.1\r\n%sCookie: footnote=\xff\r\n\r\n" % (path.encode(), origin)
        assert (await answer_to(fuzzer.host, stranger))[0] == 303
        cookie = fuzzer.identities[1].headers[0][1].encode()
        form = b"POST /forget-me HTTP/1.1\r\n%sCookie: %s\r\nX-CSRF-Token: \xff\r\n\r\n" % (origin, cookie)
        assert (await answer_to(fuzzer.host, form))[0] == 403


async def test_a_form_of_many_fields_is_refused_before_anybody_signed_in() -> None:
    async with PageOffice().open() as office:
        reply = await office.browser().post("/sign-in", {f"f{number}": "x" for number in range(MOST_FIELDS + 1)})
        assert reply.status == 422


async def test_a_body_that_is_not_compressed_as_it_says_is_answered_with_400() -> None:
    async with page_and_api(seed=0) as fuzzer:
        program = fuzzer.identities[3].headers[0][1]
        head = f"POST /v1/search HTTP/1.1\r\nHost: {fuzzer.host}\r\nAuthorization: {program}\r\nContent-Length: 2\r\n"
        assert (await answer_to(fuzzer.host, f"{head}Content-Encoding: gzip\r\n\r\n{{}}".encode()))[0] == 400


FIELD = b'--B\r\nContent-Disposition: form-data; name="a%d"\r\n\r\nx\r\n'
UPLOADS = {
    "without the end of a field": (b'--B\r\nContent-Disposition: form-data; name="a"\r\n\r\nx', b"ended before"),
    "without its first boundary": (b"preamble", b"cannot be read"),
    "of half a boundary": (b"--B", b"ended before"),
    "of nothing": (b"", b"ended before"),
    "of 100,000 fields": (b"".join(FIELD % number for number in range(100_000)), b"form has over"),
    "of parts without names": (b"--B\r\n\r\n\r\n" * 5_000, b"over 1,000 parts"),
}


@pytest.mark.parametrize("name", UPLOADS)
async def test_an_upload_that_no_browser_sends_is_refused_with_a_reason(name: str) -> None:
    body, reason = UPLOADS[name]
    async with page_and_api(seed=0) as fuzzer:
        cookie, host = fuzzer.identities[1].headers[0][1], fuzzer.host
        head = (
            f"POST /knowledge/files HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\n"
            f"X-CSRF-Token: {fuzzer.identities[1].csrf}\r\nContent-Type: multipart/form-data; boundary=B\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        status, text = await answer_to(host, head.encode() + body)
        assert status == 422
        assert reason in text
