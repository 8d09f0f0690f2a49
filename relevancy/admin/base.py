"""Base classes: models that cannot be deleted, read-only models, rows with an owner, and read-only rows on another model's page."""

from typing import Any, ClassVar

from django.contrib import admin
from django.contrib.admin.widgets import AutocompleteSelect, AutocompleteSelectMultiple
from django.db.models import Model, QuerySet
from django.http import HttpRequest


class IdSelect(AutocompleteSelect):
    """Django's list that completes what is typed, which fails on ids that are not numbers when it shows the form again."""

    def optgroups(self, name: str, value: Any, attr: Any = None) -> Any:
        return super().optgroups(name, [pk for pk in value if str(pk).isdecimal() and len(str(pk)) < 19], attr)


class IdSelectMultiple(IdSelect, AutocompleteSelectMultiple):
    """As `IdSelect`, for several ids."""


class IdSelectMixin:
    """Uses `IdSelect` for `autocomplete_fields`."""

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        if db_field.name in self.get_autocomplete_fields(request):  # type: ignore[attr-defined]
            options.setdefault("widget", IdSelect(db_field, self.admin_site))  # type: ignore[attr-defined]
        return super().formfield_for_foreignkey(db_field, request, **options)  # type: ignore[misc]

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **options: Any) -> Any:
        if db_field.name in self.get_autocomplete_fields(request):  # type: ignore[attr-defined]
            options.setdefault("widget", IdSelectMultiple(db_field, self.admin_site))  # type: ignore[attr-defined]
        return super().formfield_for_manytomany(db_field, request, **options)  # type: ignore[misc]


class UndeletableAdmin(IdSelectMixin, admin.ModelAdmin):
    """Rows that other rows refer to: they can be archived or retired on the pages, but never deleted."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyAdmin(UndeletableAdmin):
    """Rows that only the application writes."""

    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class OwnedAdmin(UndeletableAdmin):
    """Rows with an owner, who is changed here; they are created on the pages."""

    list_select_related: ClassVar[tuple[str, ...]] = ("owner",)
    search_fields: ClassVar[tuple[str, ...]] = ("name", "owner__email", "owner__name")
    autocomplete_fields = ("owner", "teams")

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ReadOnlyInline(admin.TabularInline):
    """Rows on another model's page, read with one SQL statement."""

    extra = 0
    can_delete = False
    related: tuple[str, ...] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).select_related(*self.related)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
