"""The checks of `evaluate` as JUnit XML, which build servers show as tests."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from .evaluation_json import Check

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def build_junit(*, case: str, seconds: float | None, checks: Sequence[Check]) -> str:
    """Returns one test case per check: scores fail, everything else that goes wrong is an error."""
    errors = sum(check["is_error"] for check in checks)
    failures = sum(not check["passed"] for check in checks) - errors
    suite = ElementTree.Element(
        "testsuite",
        name="relevancy",
        tests=str(len(checks)),
        failures=str(failures),
        errors=str(errors),
        skipped="0",
        time=f"{seconds or 0:.3f}",
    )
    for check in checks:
        name = _remove_invalid(check["name"])
        element = ElementTree.SubElement(suite, "testcase", classname=_remove_invalid(case), name=name)
        if not check["passed"]:
            message = _remove_invalid(check["message"])
            ElementTree.SubElement(element, "error" if check["is_error"] else "failure", message=message).text = message
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _remove_invalid(text: str) -> str:
    """Returns the text without the characters that XML 1.0 cannot contain."""
    return _NOT_IN_XML.sub("", text)
