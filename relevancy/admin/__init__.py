"""The administration site. It shows every model; data with rules of its own can only be changed on the pages.

Ratings, rankings, scores and versions are read-only: a change here would bypass the log, the revisions and the rescoring.
No form or list contains a secret; endpoints only show whether one is set.
"""

from django.contrib import admin

from . import cases, people, read_only, scorers

__all__ = ["cases", "people", "read_only", "scorers"]

admin.site.site_header = "Relevancy administration"
admin.site.site_title = "Relevancy"
admin.site.index_title = "All data"
