"""The list of models of the administration, in sections instead of one for each Django app.

Not in `relevancy.admin`, whose modules register models with the site while they are imported.
"""

from enum import StrEnum
from typing import Any

from django.contrib import admin
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest


class Section(StrEnum):
    """A part of the list. The values are its headings; the names, in lower case, its ids on the page."""

    USERS = "Users"
    SCORERS = "Scorers and site settings"
    WORK = "Work"
    DATA = "Data"


FIRST = (
    "User",
    "Team",
    "Membership",
    "Invitation",
    "Policy",
    "Scorer",
    "Run",
    "DBTaskResult",
    "Case",
    "Book",
    "Endpoint",
)
PACKAGES = {"auth": Section.USERS, "django_tasks_database": Section.WORK}  # apps of others
NAMES = {"auth.Group": "Groups of permissions"}  # not groups of cases


class AdministrationSite(admin.AdminSite):
    """Django's administration site with sections: a model is where the attribute `section` of its `ModelAdmin` says."""

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        if app_label is not None:
            return super().get_app_list(request, app_label)
        sections: dict[Section, list[Any]] = {section: [] for section in Section}
        for label, app in self._build_app_dict(request).items():
            for entry in app["models"]:
                entry["name"] = NAMES.get(f"{label}.{entry['object_name']}", entry["name"])
                default = PACKAGES.get(label, Section.DATA)
                sections[getattr(self.get_model_admin(entry["model"]), "section", default)].append(entry)
        listed = [
            {
                "name": section.value,
                "app_label": section.name.lower(),
                "app_url": f"#{section.name.lower()}",
                "has_module_perms": True,
                "models": sorted(entries, key=_position),
            }
            for section, entries in sections.items()
            if entries
        ]
        for part in listed:
            part["alone"] = [part]  # as Django's template of a list takes it
        return listed


def _position(entry: dict[str, Any]) -> tuple[int, str]:
    name = entry["object_name"]
    return (FIRST.index(name) if name in FIRST else len(FIRST), str(entry["name"]).lower())


class AdministrationConfig(AdminConfig):
    """`django.contrib.admin` with this site."""

    default_site = "relevancy.admin_site.AdministrationSite"
