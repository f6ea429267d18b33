"""The screen of `hookline watch`: decisions as they are made, why each was made, and calls that wait for a person."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.text import Text
from textual import on, work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen, Screen
from textual.widgets import DataTable, Footer, Input, Label, Static

from hookline.cli.output import collect_output, format_json
from hookline.cli.record_options import input_text, local_time, quiet_hooks
from hookline.cli.waiting_approvals import WaitingApprovals
from hookline.cli.why import explain_record
from hookline.errors import HooklineError
from hookline.formatting import printable
from hookline.record.live_log import LiveLog
from hookline.record.record_reader import Record
from hookline.record.segment import RecordDirectory

if TYPE_CHECKING:
    from hookline.runtime.storage.tables import ApprovalRow

_LOOK_SECONDS: Final = 0.2
_APPROVAL_SECONDS: Final = 0.5
_COLUMNS: Final = ("time", "verdict", "host", "hook", "outcome", "call")
_MAX_NAME: Final = 14  # of a host or hook: in 80 columns, there must be room for the call
_APPROVAL_COLUMNS: Final = ("time left", "tool", "hook", "what", "reason")
_STYLES: Final = {"deny": "bold red", "ask": "bold yellow", "allow": "green", "silent": "dim"}


class WatchApp(App[None]):
    TITLE = "hookline watch"
    CSS = """
    #status { height: 1; background: $panel; color: $foreground; padding: 0 1; }
    #approvals { height: auto; max-height: 8; border-left: thick $warning; display: none; }
    #decisions { height: 1fr; }
    #filter { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Find"),
        Binding("escape", "leave_filter", "All", show=False),
        Binding("a", "approvals", "Approvals"),
        Binding("q", "quit", "Quit"),
    ]

    def __init__(self, directory: RecordDirectory, approvals: WaitingApprovals) -> None:
        super().__init__()
        self._directory = directory
        self._approvals = approvals
        self._live = LiveLog(directory)
        self._words: tuple[str, ...] = ()
        self._status = Static(id="status")
        self._approval_table: DataTable[Text] = DataTable(id="approvals", cursor_type="row", zebra_stripes=True)
        self._decision_table: DataTable[Text] = DataTable(id="decisions", cursor_type="row")
        self._filter = Input(id="filter", placeholder="words that a decision must have: deny bash push")
        self._waiting: dict[str, ApprovalRow] = {}

    def compose(self) -> ComposeResult:
        yield self._status
        yield self._approval_table
        yield self._decision_table
        yield self._filter
        yield Footer()

    def on_mount(self) -> None:
        self._decision_table.add_columns(*((name, name) for name in _COLUMNS))
        self._approval_table.add_columns(*((name, name) for name in _APPROVAL_COLUMNS))
        self._show_all()
        self._decision_table.focus()
        self.set_interval(_LOOK_SECONDS, self._look)
        self._watch_approvals()

    async def on_unmount(self) -> None:
        await self._approvals.close()

    def _show_all(self) -> None:
        table = self._decision_table
        table.clear()
        for id, row in self._live.rows.items():
            if self._is_wanted(row):
                table.add_row(*_cells(row), key=id)
        table.move_cursor(row=table.row_count - 1)
        self._show_status()

    def _look(self) -> None:
        table = self._decision_table
        if not table.is_attached:  # the screen is closing
            return
        was_last = table.cursor_row >= table.row_count - 1
        changed = self._live.refresh()
        for id in changed:
            row = self._live.rows[id]
            if id in table.rows:
                for column, cell in zip(_COLUMNS, _cells(row), strict=True):
                    table.update_cell(id, column, cell)
            elif self._is_wanted(row):
                table.add_row(*_cells(row), key=id)
        for key in [key for key in table.rows if key.value not in self._live.rows]:
            table.remove_row(key)
        if changed and was_last:
            table.move_cursor(row=table.row_count - 1)
        self._show_status()

    def _is_wanted(self, row: dict[str, Any]) -> bool:
        if not self._words:
            return True
        shown = f"{' '.join(cell.plain for cell in _cells(row))} {row['hook']} {row['event']} {row['session']} {row['reason']}".lower()
        return all(word in shown for word in self._words)

    def _show_status(self) -> None:
        shown, known = self._decision_table.row_count, len(self._live.rows)
        counts = f"{shown} of {known} decisions" if self._words else f"{known} decisions"
        waiting = f"   {len(self._waiting)} waiting for approval (press a)" if self._waiting else ""
        problem = f"   {printable(self._approvals.problem)}" if self._approvals.problem else ""
        status = Text.assemble(("hookline watch", "bold"), f"   {counts}", (waiting, "bold yellow"), (problem, "red"))
        self._status.update(status)

    @work
    async def _watch_approvals(self) -> None:
        """Beside the screen, which must not wait for a database that does not answer."""
        while True:
            await self._look_for_approvals()
            await asyncio.sleep(_APPROVAL_SECONDS)

    async def _look_for_approvals(self) -> None:
        self._waiting = {row.id: row for row in await self._approvals.find()}
        table = self._approval_table
        if not table.is_attached:
            return
        for key in [key for key in table.rows if key.value not in self._waiting]:
            table.remove_row(key)
        for id, approval in self._waiting.items():
            if id in table.rows:
                table.update_cell(id, "time left", Text(_time_left(approval)))
            else:
                what = (approval.tool, _short_name(approval.hook), input_text(approval.input), approval.reason)
                table.add_row(Text(_time_left(approval)), *(Text(printable(text)) for text in what), key=id)
        table.display = bool(self._waiting)
        self._show_status()

    def action_filter(self) -> None:
        self._filter.display = True
        self._filter.focus()

    def action_leave_filter(self) -> None:
        self._filter.value = ""
        self._filter.display = False
        self._decision_table.focus()

    def action_approvals(self) -> None:
        """Opens the one under the cursor, or the oldest: nothing is approved without being shown whole."""
        if not self._waiting:
            self.notify("No call waits for approval.", markup=False)
            return
        table = self._approval_table
        at = table.cursor_row if table.has_focus and table.is_valid_row_index(table.cursor_row) else 0
        self._open_approval(str(table.ordered_rows[at].key.value))

    @on(Input.Changed, "#filter")
    def _change_filter(self, event: Input.Changed) -> None:
        self._words = tuple(event.value.lower().split())
        self._show_all()

    @on(Input.Submitted, "#filter")
    def _submit_filter(self) -> None:
        self._decision_table.focus()

    @on(DataTable.RowSelected, "#decisions")
    def _open_decision(self, event: DataTable.RowSelected) -> None:
        self.push_screen(DecisionScreen(self._directory, self._live.record(str(event.row_key.value))))

    @on(DataTable.RowSelected, "#approvals")
    def _select_approval(self, event: DataTable.RowSelected) -> None:
        self._open_approval(str(event.row_key.value))

    @work
    async def _open_approval(self, id: str) -> None:
        approval = self._waiting[id]
        approve = await self.push_screen_wait(ApprovalScreen(approval))
        if approve is None:
            return
        try:
            counted = await self._approvals.answer(approval, approve=approve)
        except HooklineError as error:
            self.notify(printable(str(error)), severity="error", markup=False)
            return
        said = f"{approval.tool} was {'approved' if approve else 'denied'}."
        self.notify(said if counted else "It was answered already, or it has expired.", markup=False)
        await self._look_for_approvals()


_MARGINS: Final = 6  # columns: the padding below, and a scroll bar


class DecisionScreen(Screen[None]):
    """Why a decision was made, as `hookline why` prints it."""

    CSS = "DecisionScreen VerticalScroll { padding: 1 2; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "app.pop_screen", "Back"),
        Binding("t", "toggle_today", "Today's hooks or those of then"),
    ]

    def __init__(self, directory: RecordDirectory, record: Record) -> None:
        super().__init__()
        self._directory = directory
        self._record = record
        self._under_today = False

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(id="why")
        yield Footer()

    async def on_resize(self) -> None:
        """Textual also calls this when it first shows the screen."""
        await self._explain()

    async def action_toggle_today(self) -> None:
        self._under_today = not self._under_today
        await self._explain()

    async def _explain(self) -> None:
        try:
            with quiet_hooks():
                explained = await explain_record(self._directory, self._record, under_today=self._under_today)
            with collect_output(self.size.width - _MARGINS) as printed:
                explained.show()
            shown = Text.from_ansi(printed())
        except HooklineError as error:
            shown = Text(f"{printable(str(error))}\n\n{format_json(self._record)}")
        self.query_one("#why", Static).update(shown)


class ApprovalScreen(ModalScreen[bool | None]):
    """One call that waits, with its whole input. True approves it, False denies it, None leaves it waiting."""

    CSS = """
    ApprovalScreen { align: center middle; }
    #question { width: 90%; max-width: 100; height: auto; max-height: 90%; border: thick $warning; padding: 1 2; background: $surface; }
    #input { height: auto; max-height: 20; margin: 1 0; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "dismiss(True)", "Approve"),
        Binding("n", "dismiss(False)", "Deny"),
        Binding("escape,q", "dismiss(None)", "Later"),
    ]

    def __init__(self, approval: ApprovalRow) -> None:
        super().__init__()
        self._approval = approval

    def compose(self) -> ComposeResult:
        approval = self._approval
        about = f"{printable(approval.tool)}   session {printable(approval.session)}"
        is_named = f"(hook {approval.hook}" in approval.reason  # the agent's own words name it, with its file
        hook = f" (hook {printable(approval.hook)})" if approval.hook and not is_named else ""
        with Vertical(id="question"):
            yield Static(Text.assemble((about, "bold")))
            yield Static(Text(f"{printable(approval.reason)}{hook}"))
            with VerticalScroll(id="input"):
                yield Static(Text(format_json(approval.input)))
            yield Label(
                Text.assemble(("y", "bold"), " approve   ", ("n", "bold"), " deny   ", ("esc", "bold"), " later")
            )


def _cells(row: dict[str, Any]) -> tuple[Text, ...]:
    tool = row["tool"] or ""
    subject = tool if row["event"] == "tool.before" else f"{row['event']} {tool}".rstrip()
    names = [printable(_short_name(row[key] or "")) for key in ("host", "hook", "outcome")]
    verdict = row["verdict"] or ""
    return (
        Text(local_time(row["at"]), style="dim"),
        Text(printable(verdict), style=_STYLES.get(verdict, "")),
        *map(Text, names),
        Text.assemble((printable(subject), "bold"), " ", printable(input_text(row["input"]))),
    )


def _short_name(name: str) -> str:
    return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"


def _time_left(approval: ApprovalRow) -> str:
    return str(timedelta(seconds=max(0, round(approval.expires - time.time())))).removeprefix("0:")
