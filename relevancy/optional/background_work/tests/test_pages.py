"""The page “Work”, for admins."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone
from django_tasks_db.models import DBTaskResult, get_date_max

from relevancy import runs
from relevancy.optional.background_work import workers
from relevancy.optional.background_work.models import WorkerProcess
from tests.factories import make_attempt, make_case, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client):
    client.force_login(make_user("Ada", superuser=True))
    return client


@pytest.fixture
def failed(settings) -> DBTaskResult:
    settings.TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": ["default"]}}
    return DBTaskResult.objects.create(
        task_path="relevancy.tasks.run_chunk",
        args_kwargs={"args": [12], "kwargs": {"reference": "abc123"}},
        backend_name="default",
        run_after=get_date_max(),
        status="FAILED",
        traceback="Traceback:\n  a <b>\nValueError: <script> of the reason",
    )


def page(client) -> str:
    response = client.get(reverse("background_work"))
    assert response.status_code == 200
    return response.content.decode()


def test_a_failed_task_is_shown_with_its_reason_and_repeated(admin, failed):
    html = page(admin)
    assert f'data-task="{failed.pk}"' in html
    assert "&lt;script&gt; of the reason" in html
    assert "abc123" in html
    again = reverse("background_task_again", args=[failed.pk])
    assert f'action="{again}"' in html
    response = admin.post(again, follow=True)
    assert 'id="tasks-failed" data-count="0"' in response.content.decode()
    assert 'id="tasks-waiting" data-count="1"' in response.content.decode()
    assert [str(message) for message in response.context["messages"]] == ["The task waits for a worker again."]
    second = admin.post(again, follow=True)
    assert [message.level_tag for message in second.context["messages"]] == ["warning"]


@pytest.mark.usefixtures("script")
def test_runs_in_progress_are_listed(admin):
    case = make_case(3)
    run = runs.start(attempt=make_attempt(case), by=case.owner)
    assert f'data-run="{run.pk}"' in page(admin)


def test_without_a_living_worker_a_notice_says_so(admin):
    assert 'data-notice="no-worker"' in page(admin)
    workers.record_sign_of_life()
    html = page(admin)
    assert 'data-notice="no-worker"' not in html
    assert re.findall(r'data-silent="(\w+)"', html) == ["no"]
    WorkerProcess.objects.update(seen_at=timezone.now() - 2 * workers.SILENT_AFTER)
    html = page(admin)
    assert 'data-notice="no-worker"' in html
    assert re.findall(r'data-silent="(\w+)"', html) == ["yes"]


def test_with_another_queue_the_page_says_what_cannot_be_listed(admin):
    html = page(admin)
    assert 'data-notice="not-listable"' in html
    assert "tasks-failed" not in html
    assert 'id="workers"' in html


def test_sizes_are_shown(admin):
    html = page(admin)
    assert int(re.search(r'data-free="(\d+)"', html)[1]) > 0


def test_the_administration_links_to_it_for_admins_only(admin, client):
    assert 'id="background-work-link"' in admin.get(reverse("admin:index")).content.decode()
    client.force_login(make_user("Staff", is_staff=True))
    assert 'id="background-work-link"' not in client.get(reverse("admin:index")).content.decode()


def test_the_page_needs_a_bounded_number_of_statements(admin, failed, django_assert_max_num_queries):
    for _ in range(3):
        workers._rows.clear()
        workers.record_sign_of_life()
    with django_assert_max_num_queries(16):
        page(admin)
