"""What Prometheus reads."""

import hmac
import ipaddress

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from relevancy import accounts
from relevancy.api.authentication import READ, TooManyRequests

from .case_metrics import CaseCollector
from .event_metrics import EventCollector
from .site_metrics import SiteCollector


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """The metrics of the site: for those who send the token of the settings, or come from one of its addresses.

    404 if the settings have neither, so that a site does not show that it has metrics; 403 for all others.
    """
    if not (settings.METRICS_TOKEN or settings.METRICS_ADDRESSES):
        raise Http404
    if not (_has_token(request) or _comes_from_address(request)):
        raise PermissionDenied("Send the token of RELEVANCY_METRICS_TOKEN as “Authorization: Bearer …”.")
    return _exposition(request, SiteCollector(), EventCollector())


@login_not_required
@require_safe
def case_metrics(request: HttpRequest) -> HttpResponse:
    """The scores of the cases that the user of an API token may see."""
    try:
        token = READ(request)
    except TooManyRequests as error:
        return HttpResponse(str(error), status=429, content_type="text/plain", headers={"Retry-After": error.seconds})
    if token is None:
        text = "Send an API token as “Authorization: Bearer …”. The page “API tokens” of your account creates one."
        headers = {"WWW-Authenticate": "Bearer"}
        return HttpResponse(text, status=401, content_type="text/plain; charset=utf-8", headers=headers)
    return _exposition(request, CaseCollector(token.user))


def _has_token(request: HttpRequest) -> bool:
    scheme, _, sent = request.headers.get("Authorization", "").partition(" ")
    is_bearer = bool(settings.METRICS_TOKEN) and scheme.lower() == "bearer"
    return is_bearer and hmac.compare_digest(sent.strip().encode(), settings.METRICS_TOKEN.encode())


def _comes_from_address(request: HttpRequest) -> bool:
    try:
        client = ipaddress.ip_network(accounts.client_address(request))  # of IPv6, the network of 64 bits
    except ValueError:
        return False
    networks = map(ipaddress.ip_network, settings.METRICS_ADDRESSES)
    return any(client.version == network.version and client.overlaps(network) for network in networks)


def _exposition(request: HttpRequest, *collectors: Collector) -> HttpResponse:
    """Returns metrics in the format that the client prefers: that of Prometheus, or OpenMetrics."""
    registry = CollectorRegistry(auto_describe=False)
    for collector in collectors:
        registry.register(collector)
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(registry), content_type=content_type)
