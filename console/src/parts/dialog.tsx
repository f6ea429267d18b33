import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** A native modal dialog: it keeps the focus, and Escape closes it. */
export function Dialog({ title, onClose, children }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog ref={element} aria-labelledby={id} onCancel={onClose} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  text: ComponentChildren;
  action: string;
  onConfirm: () => void;
  onClose: () => void;
}

export function Confirm({ title, text, action, onConfirm, onClose }: ConfirmProps): JSX.Element {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          onConfirm();
        }}
      >
        <p class="muted">{text}</p>
        <div class="actions">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="danger">
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
