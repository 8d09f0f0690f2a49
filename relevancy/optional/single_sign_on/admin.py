"""Single sign-on in the administration."""

from relevancy.admin.read_only import register_read_only
from relevancy.admin_site import Section

from .models import ExternalAccount

register_read_only(ExternalAccount, "user email issuer connected_at last_used_at", section=Section.USERS)
