"""Worker processes in the administration."""

from relevancy.admin.read_only import register_read_only
from relevancy.admin_site import Section

from .models import WorkerProcess

register_read_only(WorkerProcess, "host pid started_at seen_at", section=Section.WORK)
