"""Dockerfile and docker-compose.yml: valid, without secrets, and consistent with the settings. No container engine is
needed."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from relevancy.engines.errors import EndpointUnreachable
from relevancy.engines.transport.addresses import AddressRules
from tests.compose_files import (
    ROOT,
    command,
    compose,
    compose_text,
    fill,
    health_check,
    image_environment,
    instructions,
    is_ours,
    variables,
)

SERVICES = {"web", "worker", "migrate", "postgres", "redis", "solr", "elasticsearch"}
SECRETS = {"RELEVANCY_SECRET_KEY", "RELEVANCY_CREDENTIALS_KEY", "POSTGRES_PASSWORD", "REDIS_PASSWORD"}
GIVEN = {name: f"given-{name.lower()}" for name in SECRETS}


def services() -> dict[str, dict[str, Any]]:
    by_name: dict[str, dict[str, Any]] = compose()["services"]
    return by_name


def ended(service: dict[str, Any]) -> bool:
    """Whether a service is meant to run once and end."""
    return bool(service.get("restart") == "no")


def test_compose_file_fits_the_schema_of_compose(tmp_path: Path) -> None:
    check = [str(Path(sys.executable).with_name("check-jsonschema")), "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*check, str(ROOT / "docker-compose.yml")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    wrong = tmp_path / "docker-compose.yml"
    wrong.write_text(compose_text().replace("depends_on:", "depend_on:"))
    assert subprocess.run([*check, str(wrong)], capture_output=True, check=False).returncode == 1


def test_services_are_all_there_with_pinned_images() -> None:
    assert set(services()) == SERVICES
    for name, service in services().items():
        if is_ours(service):
            assert service["build"] == ".", name
        else:
            assert re.fullmatch(rf"{name}:\d+\.\d+(\.\d+)?", service["image"]), name
    assert re.fullmatch(r"python:3\.\d+-slim-bookworm", instructions("FROM")[0])


def test_services_have_a_health_check_or_end() -> None:
    assert {name for name, service in services().items() if not health_check(service)} == {"migrate"}
    assert {name for name, service in services().items() if ended(service)} == {"migrate"}


def test_services_wait_for_what_they_need() -> None:
    wanted = {"postgres": "service_healthy", "redis": "service_healthy", "migrate": "service_completed_successfully"}
    for name, needs in (("web", wanted), ("worker", wanted), ("migrate", {"postgres": "service_healthy"})):
        assert {other: how["condition"] for other, how in services()[name]["depends_on"].items()} == needs, name


def test_volumes_are_declared_and_used() -> None:
    used = {volume.partition(":")[0] for service in services().values() for volume in service.get("volumes", [])} - {
        "/tmp"
    }
    assert used == set(compose()["volumes"])
    data = image_environment()["RELEVANCY_DATA_DIR"]
    assert all(f"data:{data}" in service["volumes"] for service in services().values() if is_ours(service))
    assert not image_environment()["RELEVANCY_STATIC_DIR"].startswith(data)  # else an old volume would hide new files


def test_ports_listen_on_this_machine_only() -> None:
    ports = [port for service in services().values() for port in service.get("ports", [])]
    assert len(ports) == 3
    assert all(port.startswith("127.0.0.1:") for port in ports)


# --- secrets ---


@pytest.mark.parametrize("name", sorted(SECRETS))
def test_secrets_must_be_given(name: str) -> None:
    assert variables()[name][0] == "?"
    assert "docs/deploying.md" in variables()[name][1]
    with pytest.raises(KeyError, match=name):
        fill(compose(), {key: value for key, value in GIVEN.items() if key != name})


def test_no_secret_is_in_a_file() -> None:
    assert {name for name, (kind, _) in variables().items() if kind == "?"} == SECRETS
    filled = fill(services(), GIVEN)
    for name, service in filled.items():
        for setting, value in service.get("environment", {}).items():
            if re.search(r"PASSWORD|SECRET|_KEY|AUTH|TOKEN", setting):
                assert value in {"", *GIVEN.values()}, (name, setting)  # optional ones are empty
            if "://" in value:
                assert re.search(r"://\w*:given-[a-z_]+@", value), (name, setting)
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert not re.search(r"^(ARG|ENV)\b.*(PASSWORD|SECRET|_KEY|TOKEN)", dockerfile, re.MULTILINE)


def test_build_context_is_only_what_the_image_copies() -> None:
    lines = (ROOT / ".dockerignore").read_text().split("\n")
    copied = {word for line in instructions("COPY") for word in line.split()[:-1]}
    assert "*" in lines
    assert {line[1:] for line in lines if line.startswith("!")} == copied
    assert all((ROOT / name).exists() for name in copied)


# --- consistent with the settings ---


def test_variables_are_settings() -> None:
    known = set(re.findall(r"^#?(RELEVANCY_[A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    ours = [service["environment"] for service in services().values() if is_ours(service)]
    named = {name for environment in ours for name in environment} | set(variables()) | set(image_environment())
    assert {name for name in named if name.startswith("RELEVANCY_")} - known == set()


def test_variables_are_explained() -> None:
    guides = [ROOT / "docs" / "deploying.md", *ROOT.glob("relevancy/optional/*/docs/*.md")]
    text = "\n".join(path.read_text() for path in guides)
    assert [name for name in sorted(variables()) if name not in text] == []


def test_engines_of_the_file_are_allowed() -> None:
    rules = AddressRules.parse(fill(services()["web"]["environment"]["RELEVANCY_ENDPOINT_HOSTS"], {}).strip())
    private = AddressRules(hosts=rules.hosts, resolver=lambda host, port: ["172.18.0.5"])
    for url in ("http://solr:8983/solr/films", "http://elasticsearch:9200/films"):
        assert str(private.check(url)) == url
    for url in ("http://postgres:5432/", "http://redis:6379/"):
        with pytest.raises(EndpointUnreachable):
            private.check(url)


def test_image_runs_as_an_unprivileged_user() -> None:
    (user,) = instructions("USER")
    made = next(line for line in instructions("RUN") if line.startswith("useradd"))
    assert made.endswith(f" {user}")
    home = re.search(r"--home-dir (\S+)", made)
    assert home is not None
    assert home[1] == image_environment()["RELEVANCY_DATA_DIR"]
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    assert not [line for line in lines[lines.index(f"USER {user}") :] if line.startswith(("RUN", "COPY", "USER root"))]


@pytest.mark.parametrize("name", ["web", "worker", "migrate"])
def test_containers_of_the_image_have_no_more_than_they_need(name: str) -> None:
    service = compose()["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert service["mem_limit"] == "4g"
    assert service["volumes"] == ["data:/srv/relevancy", "/tmp"]  # nothing else is written


def test_image_installs_pinned_requirements() -> None:
    pip = [line for line in instructions("RUN") if line.startswith("pip install")]
    assert [("--require-hashes" in line, "--no-deps --no-build-isolation" in line) for line in pip] == [
        (True, False), (False, True),
    ]  # fmt: skip
    pinned = (ROOT / "requirements" / "base.txt").read_text()
    assert re.search(r"^setuptools==", pinned, re.MULTILINE)  # the second line builds with it
    for needed in ("psycopg", "redis", "django-tasks-fennel", "granian"):  # the extras that compose uses
        assert re.search(rf"^{needed}==", pinned, re.MULTILINE), needed


def test_web_and_worker_are_the_image_with_two_commands() -> None:
    assert command(services()["web"])[0] == "granian"
    assert command(services()["worker"]) == ["relevancy", "worker"]
    assert command(services()["migrate"])[:2] == ["relevancy", "migrate"]
