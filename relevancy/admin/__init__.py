"""The administration site: every model to look at; what has rules of its own is changed on the pages, which keep them.

Ratings, rankings, scores and versions are for reading only: changing them here would pass by the log, the revisions and the
rescoring. Nothing secret is in any form or list; endpoints say only whether something is set.
"""

from django.contrib import admin

from . import people, results, things

__all__ = ["people", "results", "things"]

admin.site.site_header = "Relevancy administration"
admin.site.site_title = "Relevancy"
admin.site.index_title = "Everything that is stored"
