"""Addresses of links and forms: one address for htmx and for browsers without JavaScript."""

import pytest
from django.core.paginator import Paginator
from django.template.loader import render_to_string

from relevancy.templatetags import addresses
from relevancy.templatetags.relevancy import pager
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


@pytest.mark.parametrize(
    ("number", "before", "after"),
    [(1, "", "/list/?sort=gap&page=2"), (2, "/list/?sort=gap&page=1", "/list/?sort=gap&page=3")],
)
def test_page_links(number: int, before: str, after: str) -> None:
    links = addresses.page_links(_pages(25, number), url="/list/", query="sort=gap")
    assert [link.url for link in links] == [before, after]


def test_page_links_without_a_query() -> None:
    assert [link.url for link in addresses.page_links(_pages(25, 3))] == ["?page=2", ""]


def _links(html: str) -> list[dict[str, str]]:
    return [attributes(link) for link in elements(tree(html), _name="a")]


def test_pager_loads_pages_with_htmx_only_if_it_has_a_target() -> None:
    plain = _links(render_to_string("_ui/pager.html", pager(_pages(25, 2))))
    assert [(link["href"], "hx-get" in link) for link in plain] == [("?page=1", False), ("?page=3", False)]
    loaded = _links(render_to_string("_ui/pager.html", pager(_pages(25, 2), target="#queries")))
    assert [(link["href"], link["hx-get"]) for link in loaded] == [("?page=1", "?page=1"), ("?page=3", "?page=3")]
    assert {link["hx-target"] for link in loaded} == {"#queries"}


def test_pager_is_empty_for_one_page() -> None:
    assert render_to_string("_ui/pager.html", pager(_pages(10, 1))).strip() == ""
