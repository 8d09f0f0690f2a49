"""Qualification in the administration."""

from relevancy.admin.read_only import register_read_only

from . import models

register_read_only(models.QualificationRule, "book share distance")
register_read_only(models.QualificationPair, "doc_id query value removed_at")
register_read_only(models.Qualification, "rater book state round agreed answered decided_by decided_at")
register_read_only(models.QualificationAnswer, "pair rater round verdict value at")
