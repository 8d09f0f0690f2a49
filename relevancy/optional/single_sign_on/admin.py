"""Single sign-on in the administration."""

from relevancy.admin.read_only import register_read_only

from .models import ExternalAccount

register_read_only(ExternalAccount, "user email issuer connected_at last_used_at")
