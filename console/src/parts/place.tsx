import type { JSX } from "preact";

const SHOWN = 2; // parts of a path

/** The end of a long path: `…/shop/hookline.yaml`. */
export function shortPath(path: string): string {
  const parts = path.split("/");
  return parts.length > SHOWN + 1 ? `…/${parts.slice(-SHOWN).join("/")}` : path;
}

/** Where a hook is written; the whole path is its title. */
export function Place({ file, line }: { file: string; line?: number | undefined }): JSX.Element {
  return (
    <span class="muted" title={file}>
      {shortPath(file)}
      {line ? `:${line}` : ""}
    </span>
  );
}
