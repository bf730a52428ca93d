"""The web application: which address is which page."""

import sys
from importlib.resources import files

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from ralph.core.errors import RalphError
from ralph.core.safe_text import one_line
from ralph.ui.web.access import BadBody, Keys, RequestCheck, refuse
from ralph.ui.web.feed import Feed
from ralph.ui.web.pages import Pages

STATIC = {
    "style.css": "text/css",
    "page.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}


def application(
    pages: Pages, feed: Feed, keys: Keys, hosts: frozenset[str], *, is_read_only: bool
) -> ASGIApp:
    static = {
        name: (files("ralph.ui.web").joinpath("static", name).read_bytes(), media)
        for name, media in STATIC.items()
    }

    async def asset(request: Request) -> Response:
        found = static.get(request.path_params["name"])
        if found is None:
            return Response(status_code=404)
        return Response(found[0], media_type=found[1])

    async def events(request: Request) -> Response:
        last = request.headers.get("last-event-id") or request.query_params.get("after", "")
        after = int(last) if last.isdecimal() and len(last) < 16 else 0
        return StreamingResponse(feed.events(after), media_type="text/event-stream")

    async def problem(request: Request, error: Exception) -> Response:
        return pages.problem(request, error, 404)

    async def bug(request: Request, error: Exception) -> Response:
        said = one_line(f"this is a bug in Ralph: {type(error).__name__}: {error}", 300)
        sys.stderr.write(f"ralph: {said}\n")
        return pages.problem(request, RalphError(said), 500)

    async def bad_body(_: Request, error: Exception) -> Response:
        assert isinstance(error, BadBody)
        return refuse(error.status, str(error))

    shown = {
        "/": pages.home,
        "/graph": pages.graph,
        "/tasks": pages.tasks,
        "/task/{task}": pages.task,
        "/task/{task}/diff": pages.diff,
        "/task/{task}/{attempt:int}/{number:int}": pages.session,
        "/task/{task}/{attempt:int}/{number:int}/raw": pages.raw_log,
        "/runs": pages.runs,
        "/run/{run}": pages.run,
        "/add": pages.add,
    }
    site = Starlette(
        routes=[
            *(Route(path, pages.with_seq(page)) for path, page in shown.items()),
            Route("/write", pages.with_seq(pages.write), methods=["POST"]),
            Route("/feed", events),
            Route("/static/{name}", asset),
        ],
        exception_handlers={RalphError: problem, BadBody: bad_body, Exception: bug},
    )
    # It would redirect to an address without the root.
    site.router.redirect_slashes = False
    return RequestCheck(site, keys, hosts, is_read_only=is_read_only)
