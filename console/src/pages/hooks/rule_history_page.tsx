/** The versions of a rule set, what each one changed, and the way back. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { may } from "../../account";
import { type RuleVersion, listVersions, rollBack, showVersion } from "../../api/rules";
import { Confirm } from "../../parts/dialog";
import { DiffView } from "../../parts/diff_view";
import { When, useLoad } from "../../parts/load";
import { Empty, Page } from "../../parts/page";
import { Ago } from "../../parts/time";
import { attempt, showToast } from "../../parts/toast";
import { parseDocument, writeDocument } from "./flo_rules";

export function RuleHistoryPage({ set }: { set: string }): JSX.Element {
  const versions = useLoad(set, (signal) => listVersions(set, signal));
  const [target, setTarget] = useState<RuleVersion | null>(null);
  const hooks = set === "everyone" ? "/hooks" : `/hooks?set=${encodeURIComponent(set)}`;
  return (
    <Page title="Rule history" narrow crumbs={<a href={hooks}>Hooks</a>} lead={set === "everyone" ? undefined : set}>
      <When loaded={versions}>
        {({ items }) =>
          items.length ? (
            <ol class="versions">
              {items.map((version, index) => (
                <VersionItem key={version.number} set={set} version={version} before={items[index + 1]} isLast={index === 0} onRollBack={() => setTarget(version)} />
              ))}
            </ol>
          ) : (
            <Empty title="Nothing was saved yet." />
          )
        }
      </When>
      {target && (
        <Confirm
          title={`Roll back to version ${target.number}?`}
          text="The rules of that version are saved as a new version and are in force at once."
          action="Roll back"
          onClose={() => setTarget(null)}
          onConfirm={() =>
            void attempt(async () => {
              await rollBack(set, target.number);
              showToast(`Rolled back to version ${target.number}.`, "success");
              versions.reload();
            })
          }
        />
      )}
    </Page>
  );
}

interface VersionItemProps {
  set: string;
  version: RuleVersion;
  before: RuleVersion | undefined;
  isLast: boolean;
  onRollBack: () => void;
}

function VersionItem({ set, version, before, isLast, onRollBack }: VersionItemProps): JSX.Element {
  const [isOpen, setOpen] = useState(isLast);
  return (
    <li class="card version">
      <header>
        <div>
          <h2>
            Version {version.number} {isLast && <span class="tag">in force</span>}
          </h2>
          <p class="muted">
            {version.by}, <Ago at={version.at} />
            {version.note && ` — ${version.note}`}
          </p>
        </div>
        <div class="actions">
          <button type="button" class="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? "Hide changes" : "Show changes"}
          </button>
          {!isLast && may("editor") && (
            <button type="button" class="small" onClick={onRollBack} aria-label={`Roll back to version ${version.number}`}>
              Roll back
            </button>
          )}
        </div>
      </header>
      {isOpen && <VersionDiff set={set} number={version.number} before={before?.number} />}
    </li>
  );
}

function VersionDiff({ set, number, before }: { set: string; number: number; before: number | undefined }): JSX.Element {
  const texts = useLoad(`${set}:${before}:${number}`, async (signal) => {
    const [old, young] = await Promise.all([
      before === undefined ? Promise.resolve("") : showVersion(set, before, signal).then(({ text }) => text ?? ""),
      showVersion(set, number, signal).then(({ text }) => text ?? ""),
    ]);
    return { old: inLines(old), young: inLines(young) };
  });
  return <When loaded={texts}>{({ old, young }) => <DiffView before={old} after={young} label={`What version ${number} changed`} />}</When>;
}

/** A text that a program saved may be one line. */
function inLines(text: string): string {
  try {
    return text && writeDocument(parseDocument(text));
  } catch {
    return text;
  }
}
