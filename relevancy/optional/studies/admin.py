"""Studies in the administration."""

from relevancy.admin.read_only import register_read_only
from relevancy.admin_site import Section

from .models import SealedOpening, SealedTag, Study, StudyAnswer, StudyAttempt, StudyPool, StudyTrial

register_read_only(
    Study, "number case parent status reason requests created_by created_at", related=["parent"], section=Section.WORK
)
register_read_only(StudyAttempt, "attempt study trial sentence", related=["study", "attempt"], section=Section.WORK)
register_read_only(StudyTrial, "study number origin took_ms stopped error", related=["study"], section=Section.WORK)
register_read_only(StudyAnswer, "study position took_ms", related=["study"], section=Section.WORK)
register_read_only(
    SealedOpening,
    "study_number case tag trial opened_by opened_at finished_at",
    related=["case", "opened_by"],
    section=Section.WORK,
)
register_read_only(SealedTag, "case tag", related=["case"], section=Section.WORK)
register_read_only(StudyPool, "study position documents", related=["study"], section=Section.WORK)
