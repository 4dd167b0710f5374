"""Who is looking: a random name in a cookie, so that a browser finds its own runs again and nobody else's."""

import uuid

import gradio as gr
from fastapi import FastAPI, Request

COOKIE = "dcoco-viz"


def recognise(app: FastAPI) -> None:
    """Give every browser that comes without the cookie one of its own."""

    @app.middleware("http")
    async def _name(request: Request, call_next):
        response = await call_next(request)
        if request.url.path == "/" and COOKIE not in request.cookies:
            response.set_cookie(COOKIE, uuid.uuid4().hex, max_age=365 * 86400, httponly=True, samesite="lax")
        return response


def visitor(request: gr.Request) -> str:
    """The owner of what this request makes; a client without cookies is its own session, for as long as it lasts.

    Never "", who owns what all may see: who has no session either is somebody new each time.
    """
    name = request.cookies.get(COOKIE) or request.session_hash or uuid.uuid4().hex
    return f"visitor {name}"  # no cookie names an owner of another kind
