import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../parts/icons";
import type { RuleForm } from "./flo_rules";

interface InputMatchersProps {
  inputs: RuleForm["inputs"];
  wrong: Record<string, string>;
  onChange: (inputs: RuleForm["inputs"]) => void;
}

/** Rows of a field of the tool's input and its pattern. All must match. */
export function InputMatchers({ inputs, wrong, onChange }: InputMatchersProps): JSX.Element {
  const set = (index: number, part: Partial<RuleForm["inputs"][number]>): void =>
    onChange(inputs.map((each, at) => (at === index ? { ...each, ...part } : each)));
  const lastField = useRef<HTMLInputElement>(null);
  const addButton = useRef<HTMLButtonElement>(null);
  const before = useRef(inputs.length);
  useEffect(() => {
    if (inputs.length > before.current) lastField.current?.focus();
    if (inputs.length < before.current) addButton.current?.focus();
    before.current = inputs.length;
  }, [inputs.length]);
  return (
    <fieldset class="matchers">
      <legend>Input matchers</legend>
      {inputs.length > 0 && <p class="hint muted">The rule applies if every field matches its pattern.</p>}
      {inputs.map((each, index) => (
        <div key={index} class="matcher-row">
          <input
            ref={index === inputs.length - 1 ? lastField : null}
            class="mono"
            aria-label={`Field ${index + 1}`}
            placeholder="command"
            value={each.field}
            spellcheck={false}
            autocomplete="off"
            aria-invalid={`input-${index}` in wrong}
            onInput={(event) => set(index, { field: event.currentTarget.value })}
          />
          <input
            class="mono"
            aria-label={`Pattern ${index + 1}`}
            placeholder="rm\s+-rf"
            value={each.pattern}
            spellcheck={false}
            autocomplete="off"
            aria-invalid={`input-${index}` in wrong}
            onInput={(event) => set(index, { pattern: event.currentTarget.value })}
          />
          <button type="button" class="plain" aria-label={`Remove matcher ${index + 1}`} onClick={() => onChange(inputs.filter((_, at) => at !== index))}>
            <Icon name="close" />
          </button>
          {wrong[`input-${index}`] && <span class="error">{wrong[`input-${index}`]}</span>}
        </div>
      ))}
      <button ref={addButton} type="button" class="small" onClick={() => onChange([...inputs, { field: "", pattern: "" }])}>
        <Icon name="plus" />
        Add input matcher
      </button>
    </fieldset>
  );
}
