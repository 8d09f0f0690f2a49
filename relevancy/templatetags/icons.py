"""Inline icons, drawn on a 16 × 16 grid with a line of 1.4 unless they say otherwise.

Our own, because icons of `heroicons` and `lucide` are made for a grid of 24: scaled to the 9 to 16 pixels of the pages, their line of 2
is about 1 pixel wide and fades, and each icon would need its own width of line in each place. If pages ever need many more icons, or
larger ones, `lucide` is the package to take: its tag takes the same arguments.
"""

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

# name: (width of the line, empty for a drawing that is filled, drawing)
_ICONS: dict[str, tuple[str, str]] = {
    "search": ("1.5", '<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3 3"/>'),
    "theme": (
        "1.3",
        '<circle cx="8" cy="8" r="3"/><path d="M8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7'
        'M12.6 3.4l-.7.7M4.1 11.9l-.7.7"/>',
    ),
    "note": ("1.3", '<path d="M3 3h10v7l-3 3H3zM10 13v-3h3"/>'),
    "pin": ("1.3", '<path d="M6 2h4l-.5 4.5L12 9H4l2.5-2.5zM8 9v5"/>'),
    "more": (
        "",
        '<circle cx="3" cy="8" r="1.3"/><circle cx="8" cy="8" r="1.3"/><circle cx="13" cy="8" r="1.3"/>',
    ),
    "menu": ("1.5", '<path d="M2.5 4h11M2.5 8h11M2.5 12h11"/>'),
    "run": ("", '<path d="M4 2.5v11L13 8z"/>'),
    "stop": ("", '<rect x="3" y="3" width="10" height="10" rx="1.5"/>'),
    "caret": ("1.8", '<path d="m6 4 4 4-4 4"/>'),
    "chevron": ("1.6", '<path d="m4 6 4 4 4-4"/>'),
    "plus": ("1.5", '<path d="M8 3v10M3 8h10"/>'),
    "tune": (
        "1.5",
        '<path d="M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6"/><circle cx="10" cy="5" r="1.5"/>'
        '<circle cx="6" cy="11" r="1.5"/>',
    ),
    "undo": ("1.4", '<path d="M5.5 3 2.5 6l3 3"/><path d="M2.5 6h7a3.5 3.5 0 0 1 0 7H6"/>'),
    "close": ("1.6", '<path d="m4 4 8 8M12 4l-8 8"/>'),
    "check": ("1.7", '<path d="m3 8.5 3.5 3.5L13 4.5"/>'),
    "alert": ("1.4", '<path d="M8 2.2 14.3 13H1.7z"/><path d="M8 6.5v3M8 11.3v.1"/>'),
    "info": ("1.4", '<circle cx="8" cy="8" r="5.8"/><path d="M8 7.4v3.4M8 5.2v.1"/>'),
    "swap": ("1.5", '<path d="M3 5.5h9M9.5 3 12 5.5 9.5 8M13 10.5H4M6.5 8 4 10.5 6.5 13"/>'),
    "edit": ("1.3", '<path d="M10.8 2.8 13.2 5.2 5.6 12.8 2.6 13.4 3.2 10.4z"/><path d="m9.2 4.4 2.4 2.4"/>'),
    "trash": ("1.3", '<path d="M3 4.5h10M6.2 4.5V3h3.6v1.5M4.3 4.5l.6 8.5h6.2l.6-8.5M6.9 7v3.6M9.1 7v3.6"/>'),
    "copy": (
        "1.3",
        '<rect x="5.5" y="5.5" width="7.5" height="7.5" rx="1.2"/><path d="M10.5 3H4.2A1.2 1.2 0 0 0 3 4.2v6.3"/>',
    ),
    "download": ("1.5", '<path d="M8 2.5v7.5M5 7.2 8 10.2l3-3M3 13.2h10"/>'),
    "upload": ("1.5", '<path d="M8 10.2V2.8M5 5.7l3-3 3 3M3 13.2h10"/>'),
    "share": (
        "1.3",
        '<circle cx="6" cy="5.5" r="2.3"/>'
        '<path d="M1.8 13c.2-2.7 1.9-4.2 4.2-4.2s4 1.5 4.2 4.2M12.3 5.2v4.6M10 7.5h4.6"/>',
    ),
    "lock": (
        "1.3",
        '<rect x="3.5" y="7" width="9" height="6.2" rx="1.2"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/>',
    ),
    "clock": ("1.3", '<circle cx="8" cy="8" r="5.6"/><path d="M8 4.8V8l2.2 1.6"/>'),
    "link": ("1.3", '<path d="M6.5 3H3v10h10V9.5M9 2.8h4.2V7M13 3 7.5 8.5"/>'),
    "up": ("1.6", '<path d="m4 10 4-4 4 4"/>'),
    "filter": ("1.4", '<path d="M2.5 4h11M4.5 8h7M6.5 12h3"/>'),
    "home": ("1.3", '<path d="M2.5 7.5 8 2.8l5.5 4.7M4 6.5V13h8V6.5"/>'),
}

NAMES = tuple(_ICONS)


def icon(name: str, size: int = 14, label: str = "") -> SafeString:
    """The icon as inline SVG; hidden from screen readers unless it has a label. Raises KeyError for an unknown name."""
    if name not in _ICONS:
        raise KeyError(f'There is no icon "{name}"; there are: {", ".join(NAMES)}')
    width, drawing = _ICONS[name]
    paint = (
        format_html(
            'fill="none" stroke="currentColor" stroke-width="{}" stroke-linecap="round" stroke-linejoin="round"', width
        )
        if width
        else mark_safe('fill="currentColor"')
    )
    meaning = format_html('role="img" aria-label="{}"', label) if label else mark_safe('aria-hidden="true"')
    return format_html(
        '<svg width="{0}" height="{0}" viewBox="0 0 16 16" {1} {2}>{3}</svg>', size, paint, meaning, mark_safe(drawing)
    )
