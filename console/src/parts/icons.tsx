/** The console's icons, drawn on a grid of 24. They decorate a text, so assistive technology skips them. */

import type { JSX } from "preact";

const PATHS = {
  decisions: "M4 6h16M4 12h10M4 18h13M18 12h2",
  approvals: "M9 12.5l2.2 2.2L15.5 10M12 3l7.5 3v5.5c0 4.5-3.2 7.8-7.5 9.5-4.3-1.7-7.5-5-7.5-9.5V6z",
  sessions: "M4 5h16v11H9l-5 4z",
  agents: "M6 9h12v10H6zM12 9V5M12 5h.01M9.5 13.5v1M14.5 13.5v1M3.5 13v3M20.5 13v3",
  hooks: "M9 4v9.5a4 4 0 0 0 8 0V11M14.5 13.5 17 11l2.5 2.5M9 4h.01",
  hosts: "M4 5h16v6H4zM4 13h16v6H4zM7.5 8h.01M7.5 16h.01",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4",
  more: "M4.2 12a.9.9 0 1 0 1.8 0 .9.9 0 1 0-1.8 0M11.1 12a.9.9 0 1 0 1.8 0 .9.9 0 1 0-1.8 0M18 12a.9.9 0 1 0 1.8 0 .9.9 0 1 0-1.8 0",
  search: "M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM20 20l-4.7-4.7",
  pause: "M9 6v12M15 6v12",
  play: "M8 5.5v13l10.5-6.5z",
  plus: "M12 5v14M5 12h14",
  close: "M6 6l12 12M18 6 6 18",
  check: "M5 12.5l4.5 4.5L19 7.5",
  back: "M14.5 5.5 8 12l6.5 6.5",
  up: "M12 19V5M6 11l6-6 6 6",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4.2l2.8 1.8",
  edit: "M5 19l.8-3.6L16 5.2l2.8 2.8L8.6 18.2z",
  trash: "M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.5 11v5M13.5 11v5",
  play_back: "M5 12a7 7 0 1 0 2.3-5.2L5 9M5 4.5V9h4.5",
  send: "M4.5 12 20 4.5 15 20l-3.5-6z",
  download: "M12 4v11M7 10.5l5 4.5 5-4.5M5 20h14",
  upload: "M12 15V4M7 8.5 12 4l5 4.5M5 20h14",
  sign_out: "M10 5H5v14h5M14 8l4 4-4 4M18 12H9",
  key: "M14.5 5a4.5 4.5 0 1 1-3.9 6.7L4 18.3V20h3v-2h2v-2h2l1.2-1.2M15.5 8.5h.01",
  warning: "M12 4 3 19.5h18zM12 10v4M12 16.8h.01",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo(): JSX.Element {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#0f766e" />
      <path d="M11 6v12.5a5.5 5.5 0 0 0 11 0V16" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" />
      <path
        d="m18.4 19.2 3.6-3.9 3.6 3.9"
        fill="none"
        stroke="#fff"
        stroke-width="2.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
      <circle cx="11" cy="6" r="2.2" fill="#fff" />
    </svg>
  );
}
