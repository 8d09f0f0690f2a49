"""Addresses of links and forms: one address for htmx and for browsers without JavaScript."""

import pytest
from django.core.paginator import Paginator
from django.template.loader import render_to_string
from django.test import RequestFactory

from relevancy.templatetags import addresses
from tests.views.workbench.example_cases import attributes, elements, tree

URL = "/cases/1/?q=a&down=1"
ESCAPED = "/cases/1/?q=a&amp;down=1"


@pytest.mark.parametrize(
    ("tag", "attributes"),
    [
        (addresses.link_to, f'href="{ESCAPED}" hx-get="{ESCAPED}"'),
        (addresses.post_to, f'method="post" action="{ESCAPED}" hx-post="{ESCAPED}"'),
        (addresses.submit_to, f'formaction="{ESCAPED}" hx-post="{ESCAPED}"'),
    ],
)
def test_tag_writes_the_address_for_both(tag, attributes: str) -> None:
    assert tag(URL) == attributes


def test_tag_without_htmx() -> None:
    assert addresses.link_to(URL, htmx=False) == f'href="{ESCAPED}"'
    assert addresses.post_to(URL, htmx=False) == f'method="post" action="{ESCAPED}"'


def _pages(count: int, number: int):
    return Paginator(range(count), 10).page(number)


def _pager(page, address="/", **context):
    request = RequestFactory().get(address)
    return render_to_string("_ui/pager.html", {"page": page, **context}, request)


@pytest.mark.parametrize(("number", "before", "after"), [(1, [], "2"), (2, ["1"], "3"), (3, ["2"], "")])
def test_pages_keep_the_other_parameters_of_the_address(number: int, before: list[str], after: str) -> None:
    links = _links(_pager(_pages(25, number), f"/list/?sort=gap&page={number}"))
    assert [link["href"] for link in links] == [f"?sort=gap&page={to}" for to in (*before, after) if to]


def test_pages_of_a_list_that_knows_its_own_address() -> None:
    links = _links(_pager(_pages(25, 3), "/other/?x=1", list_url="/list/", list_query={"sort": "gap"}))
    assert [link["href"] for link in links] == ["/list/?sort=gap&page=2"]


def _links(html: str) -> list[dict[str, str]]:
    return [attributes(link) for link in elements(tree(html), _name="a")]


def test_pager_loads_pages_with_htmx_only_if_it_has_a_target() -> None:
    plain = _links(_pager(_pages(25, 2)))
    assert [(link["href"], "hx-get" in link) for link in plain] == [("?page=1", False), ("?page=3", False)]
    loaded = _links(_pager(_pages(25, 2), target="#queries"))
    assert [(link["href"], link["hx-get"]) for link in loaded] == [("?page=1", "?page=1"), ("?page=3", "?page=3")]
    assert {link["hx-target"] for link in loaded} == {"#queries"}


def test_pager_is_empty_for_one_page() -> None:
    assert _pager(_pages(10, 1)).strip() == ""
