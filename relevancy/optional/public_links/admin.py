"""Public links in the administration."""

from relevancy.admin.read_only import register_read_only

from .models import PublicLink

register_read_only(PublicLink, "case created_by created_at expires_at withdrawn_at")
