"""Judge models in the administration."""

from relevancy.admin.read_only import register_read_only
from relevancy.admin_site import Section

from . import models

register_read_only(models.AutomaticJudging, "judge book is_on budget created_by note checked_at", section=Section.WORK)
register_read_only(models.CalibrationSample, "book seed created_by created_at")
register_read_only(models.JudgeAnswer, "doc_id query judge state value model cost answered_at")
register_read_only(models.JudgeJob, "judge book created_by created_at status budget spent", section=Section.WORK)
register_read_only(models.JudgeModel, "name owner protocol url model prompt created_at archived_at")
