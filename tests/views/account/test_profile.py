"""The profile: default scorer, theme, and deleting the account."""

from django.urls import reverse

from relevancy import cases, scorers
from relevancy.models import RequiredProof, Scorer, ScorerDefinition, User

PASSWORD = "correct horse 12"
PROFILE = {"name": "Edda", "single_keys": "on"}


def test_default_scorer_is_what_new_cases_start_with(sign_in, people):
    wanted = Scorer.objects.get(name="P@10")
    client = sign_in("editor")
    assert client.post(reverse("account"), {**PROFILE, "default_scorer": wanted.pk}).status_code == 302
    form = client.get("/cases/new/", follow=True).context["form"]
    assert form.fields["scorer"].initial == wanted.pk
    people["editor"].refresh_from_db()
    assert scorers.newest_version(cases.create(name="New", owner=people["editor"]).scorers.get()).scorer == wanted
    assert scorers.default_scorer() != wanted


def test_default_scorer_that_is_retired_is_not_used(sign_in, people):
    own = scorers.create(name="mine", definition=ScorerDefinition("P@3"), by=people["editor"])
    User.objects.filter(pk=people["editor"].pk).update(default_scorer=own)
    people["editor"].refresh_from_db()
    assert scorers.default_scorer(people["editor"]) == own
    scorers.retire(scorer=own)
    assert scorers.default_scorer(people["editor"]) == scorers.default_scorer()
    assert sign_in("editor").get(reverse("account")).status_code == 200


def test_default_scorer_of_others_is_not_offered(sign_in, people):
    foreign = scorers.create(name="theirs", definition=ScorerDefinition("P@3"), by=people["stranger"])
    response = sign_in("editor").post(reverse("account"), {**PROFILE, "default_scorer": foreign.pk})
    assert response.status_code == 422
    assert list(response.context["form"].errors) == ["default_scorer"]


def test_theme_of_the_account_counts_unless_the_browser_has_one(sign_in):
    client = sign_in("editor")
    client.cookies["theme"] = "light"
    response = client.post(reverse("account"), {**PROFILE, "theme": "dark"})
    assert response.cookies["theme"]["max-age"] == 0
    assert 'data-theme="dark"' in client.get(reverse("account")).content.decode()
    client.cookies["theme"] = "light"
    assert 'data-theme="light"' in client.get(reverse("account")).content.decode()


def test_deleting_needs_the_password(sign_in, people):
    user, client, url = people["rater"], sign_in("rater"), reverse("account_delete")
    user.set_password(PASSWORD)
    user.save()
    client.force_login(user)
    assert "Former user" in client.get(url).content.decode()
    for data in ({}, {"password": "wrong"}, {"email": user.email}):
        response = client.post(url, data)
        assert response.status_code == 422
        assert list(response.context["form"].errors) == ["password"]
    assert client.post(url, {"password": PASSWORD}).headers["Location"] == reverse("login")
    assert "_auth_user_id" not in client.session
    assert not User.objects.get(pk=user.pk).is_active


def test_deleting_without_a_password_needs_the_address(sign_in, people):
    user, client, url = people["rater"], sign_in("rater"), reverse("account_delete")
    assert client.post(url, {"email": "other@example.org"}).status_code == 422
    assert client.post(url, {"email": user.email.upper()}).status_code == 302
    assert not User.objects.get(pk=user.pk).is_active


def test_deleting_needs_what_signing_in_needs(sign_in, people):
    RequiredProof.objects.create(user=people["rater"], app="an_app")
    client, url = sign_in("rater"), reverse("account_delete")
    assert client.get(url).status_code == 200
    response = client.post(url, {"email": people["rater"].email, "code": "1"})
    assert response.status_code == 422
    assert "relevancy remove_app an_app" in response.content.decode()


def test_the_only_owner_is_told_why_not(sign_in, people):
    client, url = sign_in("owner"), reverse("account_delete")
    page = client.get(url).content.decode()
    assert "only owner of Search" in page
    assert 'type="password"' not in page
    assert client.post(url, {"email": people["owner"].email}).status_code == 422
    assert User.objects.get(pk=people["owner"].pk).is_active
