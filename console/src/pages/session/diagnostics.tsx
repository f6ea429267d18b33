import type { JSX } from "preact";
import type { Diagnostic } from "../../api/sessions";

const LEVELS: Record<string, string> = { error: "error", warning: "warning" };

/** What checkers said about files, the newest state of each. */
export function Diagnostics({ diagnostics }: { diagnostics: readonly Diagnostic[] }): JSX.Element | null {
  if (!diagnostics.length) return null;
  return (
    <section class="card" aria-label="Diagnostics">
      <h2>Diagnostics</h2>
      {diagnostics.map((file) => (
        <details key={file.file_path} open>
          <summary>
            <code>{file.file_path}</code>
            <span class="tag">{file.items.length}</span>
          </summary>
          <ul class="problems">
            {file.items.map((item, index) => (
              <li key={index} class="notice" data-level={LEVELS[item.severity ?? file.severity_max] ?? "info"}>
                {item.line !== undefined && <code>{[item.line, item.column].filter((each) => each !== undefined).join(":")}</code>}
                <span>{item.message}</span>
              </li>
            ))}
          </ul>
        </details>
      ))}
    </section>
  );
}
