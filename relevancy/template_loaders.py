"""Template loading: templates are indented for people, pages are sent without the indentation."""

import re

from django.template import Origin
from django.template.loaders import filesystem

_INDENTATION = re.compile(r"^[ \t]+", re.MULTILINE)


class Loader(filesystem.Loader):
    """Loads templates from `DIRS` without their indentation.

    Indentation is a third of a page with many rows. Line breaks stay, so that errors name the right line. A template must not
    rely on indentation, which HTML shows only inside `<pre>` and `<textarea>`.
    """

    def get_contents(self, origin: Origin) -> str:
        return _INDENTATION.sub("", super().get_contents(origin))
