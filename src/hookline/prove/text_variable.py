"""The texts of one fact as a variable."""

from __future__ import annotations

from hookline.hooks.event import FactPath, path_text
from hookline.hooks.protocols import TextPattern
from hookline.lazy_dataclasses import dataclass
from hookline.patterns.pattern import Pattern
from hookline.prove.formula import Formula, Variable
from hookline.prove.pattern_language import MatchedTexts, NotTranslatable, matched_texts
from hookline.prove.regular_language import Language


@dataclass(frozen=True, slots=True, eq=False)
class TextMatch:
    """Whether one of the variable's texts matches the pattern."""

    variable: TextVariable
    pattern: TextPattern
    holds: Variable
    language: MatchedTexts | None  # None: the pattern cannot be translated


class TextVariable:
    """The texts of a fact in one reading. `form` matches all of its texts, `common_form` those that people write; no text is
    one of `excluded`."""

    def __init__(
        self,
        path: FactPath,
        form: Pattern | None = None,
        common_form: Pattern | None = None,
        *,
        optional: bool = True,
        has_many_texts: bool = False,
        excluded: frozenset[str] = frozenset(),
    ) -> None:
        self.path = path
        self.name = path_text(path)
        self.form = form
        self.common_form = common_form
        self.excluded = excluded
        self.has_many_texts = has_many_texts  # one reading may have several texts
        self.is_present: Formula = Variable(f"{self.name} is there") if optional else True
        self.exists = Variable(f"{self.name} exists")
        self.matches: dict[TextPattern, TextMatch] = {}

    def match(self, compiled: TextPattern) -> TextMatch:
        found = self.matches.get(compiled)
        if found is None:
            try:
                language = matched_texts(compiled)
            except NotTranslatable:
                language = None
            found = TextMatch(self, compiled, Variable(f"{self.name} matches {compiled.source}"), language)
            self.matches[compiled] = found
        return found

    def languages(self, *, common: bool) -> list[Language]:
        forms = (self.form, self.common_form if common else None)
        return [matched_texts(form).surely for form in forms if form is not None]
