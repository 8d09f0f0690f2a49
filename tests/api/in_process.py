"""Answers requests of `urllib` by the application in this process, for examples that are executed."""

import io
import urllib.request
from email.message import Message
from urllib.response import addinfourl

from django.test import Client


class ToTheApplication(urllib.request.HTTPHandler):
    """Answers HTTP requests of this process by the application, without a server."""

    def http_open(self, req):
        response = Client().generic(
            req.get_method(),
            req.selector,
            req.data or b"",
            headers=dict(req.header_items()),
            content_type="application/json",
        )
        headers = Message()
        for name, value in response.headers.items():
            headers[name] = value
        answer = addinfourl(io.BytesIO(response.getvalue()), headers, req.full_url, response.status_code)
        answer.msg = response.reason_phrase
        return answer
