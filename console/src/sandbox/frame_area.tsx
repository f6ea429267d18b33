/** The place on an agent's page where its frame stands. The frames, their ports and what runs in them belong to this folder. */

import type { JSX } from "preact";

/** What the page of an agent tells about its frames. */
export type PageState = "attaching" | "attached" | "elsewhere" | "hangs" | "gone";

export interface FrameAreaProps {
  agent: { id: string; name: string };
  session: string;
  /** Called whenever the state changes; the page shows it, with Take over where another tab drives. */
  onState: (state: PageState) => void;
  /** Counts up when the person chose Take over. */
  takeOver: number;
}

export function FrameArea(_: FrameAreaProps): JSX.Element {
  return <p class="muted">This session runs on the hub. No page is attached to it.</p>;
}
