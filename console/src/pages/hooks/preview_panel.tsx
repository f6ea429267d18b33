/** What the rules as they stand in the form would have decided about what was recorded. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Preview, previewText } from "../../api/rules";
import { Icon } from "../../parts/icons";
import { Failure, Loading } from "../../parts/load";
import { formatShort } from "../../parts/time";
import { Verdict } from "../../parts/verdict";

const LAST = 10_000;
const SHOWN = 50;

export function PreviewPanel({ set, text, disabled }: { set: string; text: string; disabled: boolean }): JSX.Element {
  const [state, setState] = useState<{ text: string; preview?: Preview; failure?: unknown } | null>(null);
  const [isBusy, setBusy] = useState(false);
  useEffect(() => () => setBusy(false), []);
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      setState({ text, preview: await previewText(set, text, LAST) });
    } catch (failure) {
      setState({ text, failure });
    } finally {
      setBusy(false);
    }
  };
  const isOld = state !== null && state.text !== text;
  return (
    <section class="card preview" aria-label="Preview">
      <header>
        <h2>Preview</h2>
        <button type="button" onClick={() => void run()} disabled={disabled || isBusy}>
          <Icon name="play_back" />
          {state ? "Preview again" : `Preview against the last ${LAST.toLocaleString()} events`}
        </button>
      </header>
      {isBusy && <Loading />}
      {!state && !isBusy && <p class="muted">Decides what was recorded under these rules. Nothing is called or changed.</p>}
      {state?.failure !== undefined && <Failure failure={state.failure} />}
      {isOld && !isBusy && <p class="notice">You changed the rule since.</p>}
      {state?.preview && !isBusy && <Result preview={state.preview} />}
    </section>
  );
}

function Result({ preview }: { preview: Preview }): JSX.Element {
  const different = preview.loosened + preview.tightened + preview.changed;
  const listed = different + preview.undecided;
  const shown = preview.items.slice(0, SHOWN);
  return (
    <>
      <dl class="preview-counts">
        <Count name="events" value={preview.events} />
        <Count name="matched" value={preview.heard} />
        <Count name="tightened" value={preview.tightened} level="deny" />
        <Count name="loosened" value={preview.loosened} level="ask" />
        <Count name="changed" value={preview.changed} />
        <Count name="undecided" value={preview.undecided} level="ask" />
      </dl>
      {preview.unknown.length > 0 && (
        <p class="notice" data-level="warning">
          What these rules would have said is not known for all events, because they call tools, run programs, read the page or take too long: {preview.unknown.join(", ")}
        </p>
      )}
      {preview.undecided > 0 && (
        <p class="notice" data-level="warning">
          {`${preview.undecided.toLocaleString()} ${preview.undecided === 1 ? "event" : "events"} cannot be decided again: facts were masked or cut when they were recorded.`}
        </p>
      )}
      {listed > 0 && (
        <ul class="preview-list">
          {shown.map((each) => (
            <li key={each.id}>
              <Verdict word={each.before} />
              <span aria-label="becomes">→</span>
              {each.difference === "undecided" ? <span class="tag">undecided</span> : <Verdict word={each.after} />}
              <a class="ellipsis mono" href={`/decisions/${encodeURIComponent(each.id)}`}>
                {[each.tool ?? each.event, each.what].filter(Boolean).join(": ")}
              </a>
              <span class="muted">{formatShort(each.at)}</span>
            </li>
          ))}
        </ul>
      )}
      {listed > shown.length && <p class="muted">… and {listed - shown.length} more.</p>}
      {listed === 0 && <p class="muted">No recorded decision would be different.</p>}
      {different === 0 && listed > 0 && <p class="muted">No other recorded decision would be different.</p>}
    </>
  );
}

function Count({ name, value, level }: { name: string; value: number; level?: string }): JSX.Element {
  return (
    <div data-level={value ? level : undefined}>
      <dt>{name}</dt>
      <dd>{value.toLocaleString()}</dd>
    </div>
  );
}
