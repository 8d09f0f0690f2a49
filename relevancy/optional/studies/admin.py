"""Studies in the administration."""

from relevancy.admin.read_only import register_read_only
from relevancy.admin_site import Section

from .models import SealedOpening, SealedTag, Study, StudyAttempt

register_read_only(
    Study, "number case parent status reason requests created_by created_at", related=["parent"], section=Section.WORK
)
register_read_only(StudyAttempt, "attempt study trial sentence", related=["study", "attempt"], section=Section.WORK)
register_read_only(SealedTag, "case tag", section=Section.WORK)
register_read_only(SealedOpening, "study queries sentence opened_by opened_at", related=["study"], section=Section.WORK)
