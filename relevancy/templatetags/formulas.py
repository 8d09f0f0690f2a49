"""Formulas: LaTeX as MathML, which browsers typeset themselves."""

from functools import lru_cache
from xml.etree import ElementTree as ET

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from latex2mathml.converter import convert

REMARK = r", \quad "  # what stands between a formula and its remarks
# What MathML needs and no more: nothing of it may run or bring a style, which the content security policy forbids.
_ELEMENTS = frozenset(
    {
        "math",
        "mrow",
        "mi",
        "mn",
        "mo",
        "mtext",
        "mspace",
        "mfrac",
        "msqrt",
        "mroot",
        "mstyle",
        "msub",
        "msup",
        "msubsup",
    }
    | {"munder", "mover", "munderover", "mtable", "mtr", "mtd", "mpadded", "mphantom"}
)
_ATTRIBUTES = frozenset(
    {
        "display",
        "displaystyle",
        "stretchy",
        "fence",
        "form",
        "separator",
        "symmetric",
        "movablelimits",
        "largeop",
        "accent",
    }
    | {
        "lspace",
        "rspace",
        "width",
        "height",
        "depth",
        "mathvariant",
        "linethickness",
        "columnalign",
        "minsize",
        "maxsize",
    }
)
_SUMS = frozenset("∑∏")


@lru_cache(maxsize=500)
def formula(latex: str) -> SafeString:
    """LaTeX → `<math>` elements, one for the formula and one for each remark after it; as it stands, in `<code>`, where
    it cannot be read. "" stays empty."""
    if not latex:
        return SafeString("")
    try:
        return mark_safe("".join(_typeset(part) for part in latex.split(REMARK)))
    except Exception:  # a measure of another package may bring anything; its page must not fail over it
        return format_html('<code class="formula">{}</code>', latex)


def _typeset(latex: str) -> str:
    root = ET.fromstring(convert(latex, display="block").replace(' xmlns="http://www.w3.org/1998/Math/MathML"', ""))
    for element in root.iter():
        if element.tag not in _ELEMENTS or element.attrib.keys() - _ATTRIBUTES:
            raise ValueError(f"{element.tag} is not a MathML element that formulas use")
        if element.tag in {"msubsup", "msub"} and len(element) and element[0].text in _SUMS:
            # The bounds of a sum above and below it, also within a fraction.
            element.tag = {"msubsup": "munderover", "msub": "munder"}[element.tag]
            element.set("displaystyle", "true")
    return ET.tostring(root, encoding="unicode")
