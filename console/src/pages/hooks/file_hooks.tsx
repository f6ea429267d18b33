/** The hooks of files in workspaces: shown, never edited here. A person's files are the person's. */

import type { JSX } from "preact";
import { type HookList, type HookRow, RULES, problemText } from "../../api/rules";
import { CodeText } from "../../parts/code_text";
import { type Loaded, When } from "../../parts/load";
import { Place } from "../../parts/place";
import { Ago } from "../../parts/time";
import { Tags } from "../../parts/verdict";

export function FileHooks({ hooks }: { hooks: Loaded<HookList> }): JSX.Element {
  return (
    <section class="file-hooks">
      <header>
        <h2>Hooks in files</h2>
        <span class="muted">read-only here; edit the file where it stands</span>
      </header>
      <When loaded={hooks}>
        {({ items, problems }) => (
          <>
            {(problems ?? []).map((problem, index) => (
              <p key={index} class="notice" data-level={problem.severity === "warning" ? "warning" : "error"}>
                <code>
                  {problem.file}:{problem.line}
                </code>
                <span>
                  <CodeText text={problemText(problem)} />
                </span>
              </p>
            ))}
            {items.some(isInFile) ? <HookTable hooks={items.filter(isInFile)} /> : <p class="muted">No hook stands in a file that this hub knows.</p>}
          </>
        )}
      </When>
    </section>
  );
}

const SHOWN = 160;
const cut = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);

const isInFile = (hook: HookRow): boolean => !hook.file.startsWith(RULES);

function HookTable({ hooks }: { hooks: readonly HookRow[] }): JSX.Element {
  return (
    <div class="grid-table" tabIndex={0} role="region" aria-label="Hooks in files">
      <table class="stack-table">
        <thead>
          <tr>
            <th scope="col">Hook</th>
            <th scope="col">Event</th>
            <th scope="col">When</th>
            <th scope="col">Then</th>
            <th scope="col" class="number">
              Fires
            </th>
          </tr>
        </thead>
        <tbody>
          {hooks.map((hook) => (
            <tr key={`${hook.path}:${hook.line}:${hook.id}:${hook.event}:${hook.in[0]?.machine}`}>
              <th scope="row">
                <a href={`/?hook=${encodeURIComponent(hook.id)}`}>{hook.id}</a>
                <div class="muted host-detail">
                  <Place file={hook.file} line={hook.line} /> <Tags tags={hook.tags} />
                </div>
              </th>
              <td data-label="Event">{hook.event}</td>
              <td data-label="When" class="hook-text">
                {hook.condition}
              </td>
              <td data-label="Then" class="hook-text">
                {hook.action.map(({ name, value }) => (
                  <div key={name}>
                    {name} {value && <span class="muted">{cut(value)}</span>}
                  </div>
                ))}
              </td>
              <td data-label="Fires" class="number">
                {hook.fires}
                {hook.last_fire && (
                  <div class="muted">
                    <Ago at={hook.last_fire} />
                  </div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
