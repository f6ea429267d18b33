"""Results as JUnit XML, which build servers read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from hookline.cli.output import safe
from hookline.errors import HooklineError

if TYPE_CHECKING:
    from hookline.cli.test import Ran


def write_junit(path: Path, ran: Sequence[Ran]) -> None:
    failed = sum(not each.ok for each in ran)
    seconds = f"{sum(each.seconds for each in ran):.3f}"
    suite = ElementTree.Element(
        "testsuite", name="hookline", tests=str(len(ran)), failures=str(failed), errors="0", skipped="0", time=seconds
    )
    for each in ran:
        name = each.note or f"{each.file}:{each.line}"
        attributes = {"classname": safe(each.file), "name": safe(name), "time": f"{each.seconds:.3f}"}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        if not each.ok:
            failure = ElementTree.SubElement(case, "failure", message="not as expected")
            failure.text = safe(each.report)
    try:
        ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise HooklineError(f"{path} cannot be written: {error.strerror}") from None
