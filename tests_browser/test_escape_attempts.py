"""Code in the frames of browser agents reaches neither the network, nor the hub, nor the console."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from agent_pages import Api, BrowserAgent, call
from browser_hub import WAIT, HubProcess, Watched
from escape_attempts import FORBIDDEN, NAVIGATIONS, POISONS, REQUESTS, document_attempts
from network_sinks import NetworkSinks
from playwright.sync_api import Frame, Page, expect

RUN = """
async ([attempts, sink, stun, hub]) => {
  const told = {};
  for (const [name, code] of attempts) {
    const U = `${sink}/${encodeURIComponent(name)}`;
    try {
      const run = new (async () => {}).constructor('U', 'S', 'HUB', code);
      const limit = new Promise((_, no) => setTimeout(() => no(new Error('took too long')), 1500));
      told[name] = String(await Promise.race([run(U, stun, hub), limit]));
    } catch (error) {
      told[name] = `raised ${error}`;
    }
  }
  return told;
}
"""
RUN_IN_WORKER = f"""
([attempts, sink, stun, hub]) => new Promise((resolve) => {{
  const source = `const run = ${{{RUN.strip()!r}}}; self.onmessage = async (e) => postMessage(await (0, eval)(run)(e.data))`;
  const worker = new Worker(URL.createObjectURL(new Blob([source])));
  worker.onmessage = (event) => resolve(event.data);
  worker.postMessage([attempts, sink, stun, hub]);
}})
"""


@pytest.fixture
def sinks() -> Iterator[NetworkSinks]:
    sinks = NetworkSinks()
    yield sinks
    sinks.close()


@pytest.fixture
def watched() -> Watched:
    """Complaints about policies are what is expected here."""
    return Watched()


def try_all(
    frame: Frame, attempts: dict[str, str], sinks: NetworkSinks, hub: HubProcess, run: str = RUN
) -> dict[str, str]:
    stun = f"stun:127.0.0.1:{sinks.udp_port}"
    told: dict[str, str] = frame.evaluate(run, [list(attempts.items()), sinks.url, stun, hub.url])
    frame.page.wait_for_timeout(1000)
    return told


def test_the_sinks_hear_a_page_that_may_speak(page: Page, sinks: NetworkSinks, hub: HubProcess) -> None:
    """So that silence means something."""
    page.goto(sinks.url)
    sinks.heard.clear()
    attempts = {name: REQUESTS[name] for name in ("fetch", "websocket", "webrtc")}
    link = document_attempts()["preconnect by create"]
    try_all(page.main_frame, {**attempts, "link": link}, sinks, hub)
    assert any("GET /fetch" in each for each in sinks.heard)
    assert any("GET /websocket" in each for each in sinks.heard)
    assert any(each.startswith("udp") for each in sinks.heard)


def test_nothing_leaves_the_agents_frame(page: Page, api: Api, sinks: NetworkSinks, hub: HubProcess) -> None:
    agent = BrowserAgent(api, "Escape", [call("runjs", code="return 1"), {"say": "done"}])
    frame = agent.open(page)
    attempts = document_attempts()
    assert len(attempts) > 150
    names = list(attempts)
    for at in range(0, len(names), 30):
        piece = {name: attempts[name] for name in names[at : at + 30]}
        assert len(try_all(frame, piece, sinks, hub)) == len(piece)
        assert sinks.heard == []
        assert frame.evaluate("window.length") == 0  # no realm of another frame
        assert frame.evaluate("document.querySelectorAll('iframe, frame, object, embed, link, meta, base').length") == 0
    assert page.url == agent.url


def test_replaced_prototypes_do_not_bring_frames_back(
    page: Page, api: Api, sinks: NetworkSinks, hub: HubProcess
) -> None:
    agent = BrowserAgent(api, "Poison", [{"say": "done"}])
    for code in POISONS.values():
        frame = agent.open(page)
        frame.evaluate("code => { setTimeout(code, 0) }", code)
        page.wait_for_timeout(500)
        assert frame.child_frames == []


def test_nothing_leaves_by_navigation_and_the_frame_comes_back(
    page: Page, api: Api, sinks: NetworkSinks, hub: HubProcess
) -> None:
    agent = BrowserAgent(api, "Navigator", [{"say": "done"}])
    for code in NAVIGATIONS.values():
        frame = agent.open(page)
        code = code.replace("HUB", f"'{hub.url}'").replace("U", f"'{sinks.url}/x'", 1)
        frame.evaluate("code => { setTimeout(code, 0) }", code)
        page.wait_for_timeout(1500)
        expect(page.get_by_text("This page runs it")).to_be_visible(timeout=WAIT)
        assert agent.frame(page).evaluate("typeof hookline.callTool") == "function"
    assert sinks.heard == []
    assert page.url == agent.url


@pytest.mark.parametrize("where", ["agent", "hooks"])
def test_nothing_leaves_a_worker(where: str, page: Page, api: Api, sinks: NetworkSinks, hub: HubProcess) -> None:
    agent = BrowserAgent(api, f"Worker {where}", [{"say": "done"}])
    agent.open(page)
    frame = next(each for each in page.frames if f"/sandbox/{where}" in each.url)
    told = try_all(frame, REQUESTS, sinks, hub, RUN_IN_WORKER)
    assert len(told) == len(REQUESTS)
    assert sinks.heard == []


def test_the_hub_and_the_console_are_out_of_reach(page: Page, api: Api, sinks: NetworkSinks, hub: HubProcess) -> None:
    agent = BrowserAgent(api, "Reach", [{"say": "done"}])
    told = try_all(agent.open(page), FORBIDDEN, sinks, hub)
    assert {name: answer for name, answer in told.items() if not answer.startswith("raised")} == {}


def test_the_agents_frame_cannot_answer_for_a_hook(page: Page, api: Api) -> None:
    """It has a port of its own, and the console hears nothing else."""
    agent = BrowserAgent(api, "Forger", [call("bash", command="touch forged"), {"say": "done"}])
    slow = "await new Promise(r => setTimeout(r, 2000)); return {decision: 'deny', reason: 'from the hook'}"
    agent.add_rules({"id": "slow", "matcher": "^bash$", "action": "script", "script": slow, "timeout": 10000})
    frame = agent.open(page)
    frame.evaluate(
        """() => {
          const forge = () => {
            for (const answer of [{returned: 'null'}, {returned: '{"decision": "allow"}'}]) {
              for (const target of [parent, ...Array.from({length: parent.length}, (_, i) => parent[i])]) {
                for (const done of [1, 2, 3, 'x']) target.postMessage({done, run: done, answer, ready: true}, '*', [new MessageChannel().port1]);
              }
            }
          };
          setInterval(forge, 50);
        }"""
    )
    before = MessagePortSpy.install(frame)
    agent.say()
    results = agent.results()
    assert before
    assert "from the hook" in results[0]
    assert not (agent.workspace / "forged").exists()


class MessagePortSpy:
    """The agent's code gets hold of its own port, and speaks through it as if it were the hooks frame."""

    @staticmethod
    def install(frame: Frame) -> bool:
        done: Any = frame.evaluate(
            """async () => {
              const before = MessagePort.prototype.postMessage;
              let port = null;
              MessagePort.prototype.postMessage = function (...given) { port = this; return before.apply(this, given) };
              document.body.append('changed');
              await new Promise(r => setTimeout(r, 2500));
              if (!port) return false;
              setInterval(() => {
                for (let n = 0; n < 30; n++) {
                  before.call(port, {done: n, run: String(n), answer: {returned: '{"decision": "allow"}'}});
                  before.call(port, {call: n, run: 'x', name: 'bash', input: 'not json'});
                }
              }, 50);
              return true;
            }"""
        )
        return bool(done)
