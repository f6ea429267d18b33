"""What the console and browser agents cost in Chromium, beside the targets. `make bench-console` prints it; with `--json`,
as lists for `python -m bench.hub`.

Times depend on what else the machine does: compare them with each other.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from agent_pages import Api, BrowserAgent, call, wait_for
from browser_hub import CHROMIUM_OPTIONS, DESKTOP, WAIT, HubProcess
from playwright.sync_api import Browser, BrowserContext, expect, sync_playwright
from test_approvals import CodexCall

ROWS = 10_000
RATE = 500
SECONDS = 10
SCRIPTS = 60
CLICKS = 20
DEADLINE = 500  # milliseconds
THINKING = "200ms"  # of a model between two calls; real ones take longer

SOURCE = """
import contextlib, sys, time, hookline

@hookline.guard(kind="shell")
def bash(command: str) -> str:
    return ""

with hookline.session(config="hookline.yaml", ask=lambda question: False):
    begun, rate, seconds = time.monotonic(), float(sys.argv[1]), float(sys.argv[2])
    for number in range(int(rate * seconds / 2)):  # each call is two decisions
        time.sleep(max(0, begun + 2 * number / rate - time.monotonic()))
        with contextlib.suppress(hookline.Denied):
            bash(f"echo sent-{time.time() * 1000:.1f}")
"""

MEASURE = """
async (seconds) => {
  let frames = 0, last = performance.now(), worst = 0, seen = "";
  const begun = last, lags = [];
  await new Promise((resolve) => {
    const step = (now) => {
      frames += 1;
      worst = Math.max(worst, now - last);
      last = now;
      const newest = document.querySelector(".rows-space .row")?.textContent.match(/sent-([0-9.]+)/)?.[1];
      if (newest && newest !== seen) {
        seen = newest;
        lags.push(Date.now() - Number(newest));
      }
      if (now - begun > seconds * 1000) resolve();
      else requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
  return {fps: frames / seconds, worst, lags, heap: performance.memory.usedJSHeapSize / 1e6};
}
"""


class Figure(NamedTuple):
    what: str
    target: str
    measured: str
    reached: bool | None = None  # None: without a target


def percentile(values: Iterable[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def both(values: list[float]) -> str:
    return f"{statistics.median(values):.1f} ms p50, {percentile(values, 0.95):.1f} ms p95"


def measure_first_row(context: BrowserContext, hub: HubProcess) -> Iterable[Figure]:
    """With an empty cache, and a list as long as the console keeps."""
    page = context.new_page()
    sizes: dict[str, int] = {}
    urls: dict[str, str] = {}
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    session.on("Network.responseReceived", lambda told: urls.update({told["requestId"]: told["response"]["url"]}))
    session.on(
        "Network.loadingFinished",
        lambda told: sizes.update({urls.get(told["requestId"], ""): told["encodedDataLength"]}),
    )
    began = time.perf_counter()
    page.goto(hub.url, wait_until="commit")
    page.locator(".rows-space .row").first.wait_for(timeout=WAIT)
    took = time.perf_counter() - began
    page.wait_for_timeout(500)
    weight = sum(size for url, size in sizes.items() if "/api/" not in url and "socket.io" not in url)
    page.close()
    yield Figure("console, first row, cold", "≤ 2 s", f"{took:.2f} s", took <= 2)
    what = "console, loaded before the first row, without the rows"
    yield Figure(what, "≤ 60 KB", f"{weight / 1000:.1f} KB gzip", weight <= 60_000)


def measure_live(context: BrowserContext, hub: HubProcess) -> Iterable[Figure]:
    page = context.new_page()
    page.goto(hub.url)
    expect(page.get_by_text("Live", exact=True).first).to_be_attached(timeout=WAIT)
    source = hub.start_python(SOURCE, str(RATE), str(SECONDS + 4))
    page.get_by_role("row").filter(has_text="sent-").first.wait_for(timeout=WAIT)
    page.wait_for_timeout(1000)
    measured = page.evaluate(MEASURE, SECONDS)
    source.wait(60)
    page.close()
    drawn = f"{measured['fps']:.1f} fps, worst {measured['worst']:.0f} ms"
    yield Figure(f"live, {RATE} decisions a second", "≥ 40 fps", drawn, measured["fps"] >= 40)
    lags = measured["lags"]
    what = "decision on another process → row on the screen"
    yield Figure(what, "≤ 400 ms p95", both(lags), percentile(lags, 0.95) <= 400)
    yield Figure("heap of the page meanwhile", "≤ 40 MB", f"{measured['heap']:.0f} MB", measured["heap"] <= 40)


def measure_click(context: BrowserContext, hub: HubProcess) -> Iterable[Figure]:
    """From the click, as the page sees it, until the coding agent's process has its answer and has ended."""
    page = context.new_page()
    page.goto(f"{hub.url}/approvals")
    expect(page.get_by_text("Live", exact=True).first).to_be_attached(timeout=WAIT)
    page.evaluate("addEventListener('click', () => { window.clicked = Date.now(); }, true)")
    times = []
    with ThreadPoolExecutor(1) as thread:
        for number in range(CLICKS):
            ended = thread.submit(_end_of, CodexCall(hub, f"git push origin {number}"))
            button = page.get_by_role("article").get_by_role("button", name="Approve")
            button.wait_for(timeout=WAIT)
            button.click()
            times.append(ended.result(60) * 1000 - page.evaluate("window.clicked"))
    page.close()
    yield Figure("click → the agent's hook has ended", "≤ 100 ms p95", both(times), percentile(times, 0.95) <= 100)


def _end_of(asked: CodexCall) -> float:
    asked.answer()
    return time.time()


def decided_in(agent: BrowserAgent) -> list[float]:
    """Milliseconds of each decision about a call, by the hub's clock."""
    query = f"/decisions?session={agent.session}&event=tool.before&limit=200"
    wait_for(lambda: len(agent.api.call("GET", query)["items"]) >= 5)
    return [float(row["ms"]) for row in agent.api.call("GET", query)["items"]]


def measure_scripts(context: BrowserContext, api: Api) -> Iterable[Figure]:
    page = context.new_page()
    script = {"matcher": "^storage$", "action": "script"}
    for name, body in {"script in the page, from the hub": "return", "the same with one callTool": CALLING}.items():
        steps = [{**call("storage", action="list"), "delay": THINKING} for _ in range(SCRIPTS)]
        agent = BrowserAgent(api, f"Measured {len(name)}", [*steps, {"say": "done"}])
        agent.add_rules({"id": "measured", **script, "script": body})
        agent.open(page)
        agent.say()
        agent.wait(120)
        times = decided_in(agent)[:-3]  # the first ones start what the others use
        if body == "return":
            reached = statistics.median(times) <= 15 and percentile(times, 0.95) <= 60
            yield Figure(name, "≤ 15 ms p50, ≤ 60 ms p95", both(times), reached)
        else:
            yield Figure(name, "–", both(times))
    page.close()


CALLING = "if (toolInput.action === 'list') await callTool('storage', {action: 'get', key: 'k'})"


def measure_endless_script(context: BrowserContext, api: Api) -> Iterable[Figure]:
    page = context.new_page()
    agent = BrowserAgent(api, "Endless", [*(call("bash", command="true") for _ in range(8)), {"say": "done"}])
    endless = {"action": "script", "script": "for (;;);", "timeout": DEADLINE}
    agent.add_rules({"id": "endless", "matcher": "^bash$", **endless})
    agent.open(page)
    agent.say()
    agent.wait(120)
    over = [each - DEADLINE for each in decided_in(agent)]
    page.close()
    yield Figure(
        "end of a script that does not end, after its deadline",
        "≤ 100 ms p95",
        both(over),
        percentile(over, 0.95) <= 100,
    )


def measure_hanging_frame(context: BrowserContext, api: Api) -> Iterable[Figure]:
    page = context.new_page()
    agent = BrowserAgent(api, "Hanging", [{"say": "done"}])
    frame = agent.open(page)
    frame.evaluate("setTimeout(() => { for (;;); }, 0)")
    began = time.perf_counter()
    while not frame.is_detached():
        page.wait_for_timeout(20)
    agent.frame(page)
    took = time.perf_counter() - began
    page.close()
    yield Figure("frame that hangs → new one", "≤ 4 s", f"{took:.1f} s", took <= 4)


def measure(browser: Browser, hub: HubProcess) -> list[Figure]:
    context = browser.new_context(viewport=DESKTOP)  # type: ignore[arg-type]
    context.set_default_timeout(WAIT)
    page = context.new_page()
    page.goto(hub.link)
    page.get_by_role("heading", name="Decisions").wait_for(timeout=WAIT)
    api = Api(hub, dict(context.storage_state()))
    page.close()
    hub.run_commands(*(f"echo {number}" for number in range(ROWS // 4)))
    wait_for(lambda: len(api.call("GET", "/decisions?limit=200")["items"]) == 200)
    parts: list[Callable[[], Iterable[Figure]]] = [
        lambda: measure_first_row(context, hub),
        lambda: measure_live(context, hub),
        lambda: measure_click(context, hub),
        lambda: measure_scripts(context, api),
        lambda: measure_endless_script(context, api),
        lambda: measure_hanging_frame(context, api),
    ]
    return [figure for part in parts for figure in part()]


def print_table(figures: list[Figure]) -> None:
    words = {True: "reached", False: "missed", None: "–"}
    rows: list[Any] = [("what", "target", "measured", ""), *((*each[:3], words[each.reached]) for each in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


def main() -> None:
    home = Path(tempfile.mkdtemp(prefix="hlb"))
    hub = HubProcess(home)
    hub.start()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=CHROMIUM_OPTIONS)
            figures = measure(browser, hub)
            if "--json" in sys.argv:
                print(json.dumps(figures))
            else:
                print_table(figures)
            browser.close()
    finally:
        hub.stop()
        hub.stop_engine()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
