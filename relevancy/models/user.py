"""Users: people, and raters that cannot sign in."""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from .statements import compiled
from .team import Membership, Role
from .text import LineField


def validate_ascii(address: str) -> None:
    """Refuses letters that databases and `lower()` take for others, such as `ı` for `I` and the Kelvin sign for `k`."""
    if not address.isascii():
        raise ValidationError(f"The address {address!r} has characters other than ASCII. Use one without them.")


def normalize_address(address: str) -> str:
    """Returns an e-mail address as it is stored. Raises `ValidationError` if it is not ASCII."""
    validate_ascii(address)
    return address.strip().lower()


class UserManager(BaseUserManager["User"]):
    """Users by e-mail address."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Creates a person. Without a password the account cannot sign in with one."""
        if not email or "@" not in email:
            raise ValueError(f"{email!r} is not an e-mail address.")
        user = self.model(email=normalize_address(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Creates an admin."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        if user := self.find(username or ""):
            return user
        raise User.DoesNotExist

    def find(self, address: str) -> "User | None":
        """Returns the user with an e-mail address. Every look-up of a person by address is this one.

        The database may compare letters in ways of its own, so what it found is compared again.
        """
        if not address.isascii():
            return None
        address = normalize_address(address)
        user = self.filter(email=address).first()
        return user if user is not None and user.email == address else None

    def only_raters(self) -> models.QuerySet["User"]:
        """Users with no other role anywhere than that of a rater: in each of their teams, and without a case or book of their own."""
        own = Membership.objects.filter(user=models.OuterRef("pk"))
        roles = [models.Exists(own.filter(role=Role.RATER)), ~models.Exists(own.exclude(role=Role.RATER))]
        return self.filter(*roles, is_superuser=False, cases=None, books=None)

    def read_for_request(self, pk: int) -> "User | None":
        """Returns a user with `is_only_rater`. One SQL statement."""
        return next(iter(_for_request(pk)), None)


@compiled
def _for_request(pk: int) -> "models.QuerySet[User]":
    is_rater = models.Exists(User.objects.only_raters().filter(pk=models.OuterRef("pk")))
    users: Any = User.objects.filter(pk=pk)
    annotated: models.QuerySet[User] = users.annotate(is_only_rater=is_rater)
    return annotated


class User(AbstractBaseUser, PermissionsMixin):
    """A person, or a rater that cannot sign in: a name in a file, or a machine: a model whose grades count.

    is_only_rater: of the user of a request, whether it is one of `UserManager.only_raters`.
    """

    is_only_rater: bool = False

    class Kind(models.TextChoices):
        PERSON = "person"
        FILE = "file", "Name in a file"
        MACHINE = "machine"  # its grades are not the judgments of a person

    class Theme(models.TextChoices):
        SYSTEM = "", "Same as the system"
        LIGHT = "light", "Light"
        DARK = "dark", "Dark"

    email = models.EmailField("e-mail", unique=True, validators=[validate_ascii])
    name = LineField(max_length=120, blank=True)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.PERSON)
    single_keys = models.BooleanField(default=True, help_text="Enable keyboard shortcuts of a single letter or digit.")
    theme = models.CharField(max_length=5, choices=Theme, default=Theme.SYSTEM, blank=True)
    default_scorer = models.ForeignKey(
        "Scorer",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="What new cases of this user start with. None: the default of the site.",
    )
    has_confirmed_email = models.BooleanField(
        "e-mail confirmed",
        default=True,
        help_text="The address is known to be this person's. Otherwise invitations for it do not appear on the person's pages.",
    )
    is_staff = models.BooleanField("admin site", default=False)
    is_active = models.BooleanField(default=True)
    can_create_endpoints = models.BooleanField(
        default=False,
        help_text="May enter addresses of search engines, which this server then sends requests to. Admins always may.",
    )
    date_joined = models.DateTimeField(default=timezone.now, editable=False)

    objects = UserManager()
    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"

    class Meta:
        ordering = ("email",)
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_any_case")]

    def __str__(self) -> str:
        return self.name or self.email

    def clean_fields(self, exclude: Any = None) -> None:
        super().clean_fields(exclude=exclude)
        self.email = self.email.strip().lower()

    def get_full_name(self) -> str:
        """The name to display."""
        return str(self)
