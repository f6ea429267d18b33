/** A code editor. CodeMirror is loaded when the first one is shown; until then, and if that fails, it is a text area. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { EditorHandle } from "./code_mirror";

export interface EditorProps {
  label: string;
  value: string;
  language: "javascript" | "json";
  /** Names that are completed. */
  names?: readonly { label: string; detail: string }[];
  describedBy?: string;
  invalid?: boolean;
  onInput: (text: string) => void;
}

export function Editor(props: EditorProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const handle = useRef<EditorHandle | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [ready, setReady] = useState(false);
  const typed = useRef(new Set<string>()); // texts of this editor that have not come back as its value yet

  useEffect(() => {
    let gone = false;
    void import("./code_mirror").then(
      ({ createEditor }) => {
        if (gone || !place.current) return;
        handle.current = createEditor(place.current, {
          label: latest.current.label,
          value: latest.current.value,
          language: latest.current.language,
          names: () => latest.current.names ?? [],
          onInput: (text) => {
            typed.current.add(text);
            latest.current.onInput(text);
          },
        });
        setReady(true);
      },
      () => undefined, // the text area stays
    );
    return () => {
      gone = true;
      handle.current?.destroy();
      handle.current = null;
    };
  }, []);

  useEffect(() => {
    if (!typed.current.has(props.value)) handle.current?.setValue(props.value);
    else if (props.value === handle.current?.value()) typed.current.clear(); // else more was typed since
  }, [props.value, ready]);

  return (
    <div class="editor" data-ready={ready}>
      <div ref={place} />
      {!ready && (
        <textarea
          aria-label={props.label}
          aria-invalid={props.invalid ?? false}
          aria-describedby={props.describedBy}
          spellcheck={false}
          value={props.value}
          onInput={(event) => props.onInput(event.currentTarget.value)}
        />
      )}
    </div>
  );
}
