"""Which network addresses may be contacted."""

import pytest

from relevancy.engines import EndpointUnreachable
from relevancy.engines.transport.addresses import AddressRules


def rules(text: str = "", *addresses: str, private_allowed: bool = False) -> AddressRules:
    parsed = AddressRules.parse(text, private_allowed=private_allowed)
    return AddressRules(
        parsed.private_allowed, parsed.hosts, parsed.networks, resolver=lambda host, port: list(addresses) or [host]
    )


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://search.example.com:8983/solr/products/", "https://search.example.com:8983/solr/products"),
        (" http://Search.Example.com/products ", "http://search.example.com:80/products"),
        ("https://search.example.com", "https://search.example.com:443"),
        ("http://[2001:DB8::1]:9200/a", "http://[2001:db8::1]:9200/a"),
        ("http://bücher.example/a", "http://xn--bcher-kva.example:80/a"),
    ],
)
def test_parse_url(url: str, shown: str) -> None:
    assert str(rules().parse_url(url)) == shown


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("ftp://search.example/x", "http://"),
        ("search.example/x", "http://"),
        ("file:///etc/passwd", "http://"),
        ("http:///x", "host"),
        ("http://search.example:99999/x", "not a valid URL"),
        ("http://search.example/x?wt=json", "template"),
        ("http://search.example/x#y", "template"),
        ("http://search.example\\@127.0.0.1/x", "user name|backslash"),
        ("http://search.example/a b", "white space"),
        ("http://search.example/a/../../admin", "path"),
        ("http://[::1/x", "not a valid URL"),
        ("", "http://"),
    ],
)
def test_parse_url_rejects(url: str, message: str) -> None:
    with pytest.raises(EndpointUnreachable, match=message) as caught:
        rules().parse_url(url)
    assert caught.value.hint


@pytest.mark.parametrize(
    "url", ["http://admin:hunter2@search.example/x", "admin:hunter2@search.example", "http://hunter2@x"]
)
def test_parse_url_rejects_credentials_without_showing_them(url: str) -> None:
    with pytest.raises(EndpointUnreachable, match="credentials") as caught:
        rules().parse_url(url)
    assert "hunter2" not in str(caught.value)


def test_parse_url_does_not_show_the_query_string() -> None:
    with pytest.raises(EndpointUnreachable) as caught:
        rules().parse_url("http://search.example/x?apikey=hunter2")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("ip", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::ffff:93.184.215.14"])
def test_resolve_allows_public_addresses(ip: str) -> None:
    assert rules("", ip).resolve("search.example", 443) == [ip]


NEVER = [
    "169.254.169.254",
    "169.254.1.1",
    "fe80::1",
    "fe80::1%eth0",
    "0.0.0.0",
    "0.1.2.3",
    "::",
    "224.0.0.1",
    "ff02::1",
    "255.255.255.255",
    "240.0.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "fd00:ec2::254",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::1",
]


@pytest.mark.parametrize("ip", NEVER)
def test_resolve_never_allows_forbidden_addresses(ip: str) -> None:
    allow_everything = rules("0.0.0.0/0 ::/0 *:*", ip, private_allowed=True)
    with pytest.raises(EndpointUnreachable, match="never contacted"):
        allow_everything.resolve("search.example", 80)


PRIVATE = [
    "127.0.0.1",
    "127.8.8.8",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "::1",
    "fd12::1",
    "fec0::1",
    "feff:ffff::1",
    "::ffff:10.1.2.3",
]


@pytest.mark.parametrize("ip", PRIVATE)
def test_resolve_allows_private_addresses_only_if_configured(ip: str) -> None:
    with pytest.raises(EndpointUnreachable, match="RELEVANCY_ENDPOINT_HOSTS"):
        rules("", ip).resolve("search.example", 80)
    assert rules("", ip, private_allowed=True).resolve("search.example", 80) == [ip]


@pytest.mark.parametrize(
    ("text", "host", "port", "ip", "allowed"),
    [
        ("solr.lan:8983", "solr.lan", 8983, "10.0.0.5", True),
        ("solr.lan:8983", "solr.lan", 8984, "10.0.0.5", False),
        ("solr.lan:8983", "other.lan", 8983, "10.0.0.5", False),
        ("SOLR.lan:*", "solr.lan", 1, "10.0.0.5", True),
        ("*.lan:9200, 10.0.0.0/8", "es.lan", 9200, "192.168.0.1", True),
        ("*.lan:9200, 10.0.0.0/8", "x.example", 80, "10.200.0.1", True),
        ("*.lan:9200, 10.0.0.0/8", "x.example", 80, "192.168.0.1", False),
        ("10.0.0.0/8", "x.example", 80, "::ffff:10.0.0.1", True),
        ("127.0.0.1", "localhost", 80, "127.0.0.1", True),
        ("[::1]:9200", "::1", 9200, "::1", True),
        ("::1", "::1", 1, "::1", True),
        ("fd00::/8", "x.example", 80, "fd12::1", True),
        ("", "x.example", 80, "127.0.0.1", False),
    ],
)
def test_parse_allows_private_addresses(text: str, host: str, port: int, ip: str, allowed: bool) -> None:
    parsed_rules = rules(text, ip)
    if allowed:
        assert parsed_rules.resolve(host, port) == [ip]
    else:
        with pytest.raises(EndpointUnreachable, match="private"):
            parsed_rules.resolve(host, port)


@pytest.mark.parametrize("entry", ["solr.lan", "solr.lan:http", "solr.lan:0", "solr.lan:70000", ":80", "10.0.0.0/33"])
def test_parse_names_the_invalid_entry(entry: str) -> None:
    with pytest.raises(ValueError, match="RELEVANCY_ENDPOINT_HOSTS") as caught:
        AddressRules.parse(f"10.0.0.0/8, {entry}")
    assert entry in str(caught.value)


def test_resolve_rejects_a_name_with_one_forbidden_address() -> None:
    with pytest.raises(EndpointUnreachable):
        rules("", "93.184.215.14", "10.0.0.1").resolve("search.example", 80)


def test_resolve_of_an_unknown_name() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise OSError("no such name")

    with pytest.raises(EndpointUnreachable, match="“nosuch"):
        AddressRules(resolver=unknown).resolve("nosuch.example", 80)


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "127.1", "localhost"])
def test_check_recognizes_other_notations_of_loopback(host: str) -> None:
    with pytest.raises(EndpointUnreachable, match="private"):
        AddressRules().check(f"http://{host}/x")
    assert AddressRules(private_allowed=True).check(f"http://{host}:8983/x").port == 8983
