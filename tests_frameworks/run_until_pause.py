"""One process of a run that pauses for a person: reads what to do as JSON, and prints what happened."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from trial import Trial, driver


def main(place: Path) -> None:
    given = json.load(sys.stdin)
    trial = Trial(given["steps"], options={"config": given["config"]}, shares_ids=given["shares_ids"])
    asked: dict[str, str] = {}
    try:
        asked = driver().run_until_pause(trial, place, given["answers"])
    except Exception as error:  # a framework may refuse what it was given
        trial.halted = f"{type(error).__name__}: {error}"
    told = {"asked": asked, "ran": trial.ran, "read": trial.read_last, "halted": trial.halted}
    print(json.dumps(told), file=sys.__stdout__)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
