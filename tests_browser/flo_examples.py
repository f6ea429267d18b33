"""The scripts of flo's guide, as written there, each with its event and matcher."""

from __future__ import annotations

from typing import Any

BLOCK_RM = """if (toolInput.command?.includes('rm -rf')) {
  return { decision: 'deny', reason: 'Dangerous command blocked' };
}"""

LOG_ALL = """// Event: PreToolUse, Action: script
log('Tool called:', toolName, 'with input:', JSON.stringify(toolInput));"""

BLOCK_ENV = """// Event: PreToolUse, Matcher: ^write_file$, Action: script
if (toolInput.path?.includes('.env')) {
  return { decision: 'deny', reason: 'Cannot modify .env files' };
}"""

FORMAT_PYTHON = """// Event: PostToolUse, Matcher: ^write_file$, Action: script
if (toolInput.path?.endsWith('.py')) {
  await callTool('bash', { command: `black ${toolInput.path}` });
  log('Formatted:', toolInput.path);
}"""

UPDATE_DOM = """// Event: PostToolUse, Action: script
await callTool('runjs', {
  context: 'iframe',
  code: 'var d = document.createElement("div"); d.className = "notification"; d.textContent = "Tool ' + toolName + ' completed"; document.body.appendChild(d);'
});

// or dom (but this reads then appends)
await callTool('dom', {
  action: 'modify',
  selector: 'body',
  innerHTML: document.body.innerHTML + '<div class="notification">Tool ' + toolName + ' completed</div>'
});"""


def _rule(id: str, script: str, matcher: str = "") -> dict[str, Any]:
    rule = {"id": id, "action": "script", "script": script, "continueOnError": False}
    return {**rule, "matcher": matcher} if matcher else rule


RULES: dict[str, Any] = {
    "hooks": {
        "PreToolUse": [
            _rule("block-rm", BLOCK_RM, "^bash$"),
            _rule("log-all", LOG_ALL),
            _rule("block-env", BLOCK_ENV, "^write_file$"),
        ],
        "PostToolUse": [
            _rule("format", FORMAT_PYTHON, "^write_file$"),
            _rule("update-dom", UPDATE_DOM),
        ],
    }
}
