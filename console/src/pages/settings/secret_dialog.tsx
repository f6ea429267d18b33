import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "../../parts/dialog";

/** Shows a secret that nobody can read again. */
export function SecretDialog(props: { title: string; text: string; secret: string; onClose: () => void }): JSX.Element {
  const [copied, setCopied] = useState(false);
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form method="dialog">
        <p class="muted">{props.text}</p>
        <pre class="code secret" tabIndex={0}>
          {props.secret}
        </pre>
        <div class="actions">
          <button
            type="button"
            onClick={() => {
              void navigator.clipboard.writeText(props.secret).then(() => setCopied(true));
            }}
          >
            {copied ? "Copied" : "Copy"}
          </button>
          <button type="submit" class="primary">
            Done
          </button>
        </div>
      </form>
    </Dialog>
  );
}
