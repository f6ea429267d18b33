/** The place on an agent's page where its frame stands. The frames, their ports and what runs in them belong to this folder. */

import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { may } from "../account";
import { token } from "../api/client";
import { AgentShell, type ShellState } from "./agent_shell";

/** What the page of an agent tells about its frames. */
export type PageState = ShellState;

export interface FrameAreaProps {
  agent: { id: string; name: string };
  session: string;
  /** Called whenever the state changes; the page shows it, with Take over where another tab drives. */
  onState: (state: PageState) => void;
  /** Counts up when the person chose Take over. */
  takeOver: number;
}

export function FrameArea({ agent, session, onState, takeOver }: FrameAreaProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const shell = useRef<AgentShell | null>(null);
  const drives = may("editor");
  useEffect(() => {
    if (!place.current || !drives) {
      onState("gone");
      return;
    }
    const made = new AgentShell({ session, token: token.value, name: agent.name, parent: place.current, onState });
    shell.current = made;
    return () => made.close();
  }, [session, drives]);
  useEffect(() => {
    if (takeOver > 0) shell.current?.takeOver();
  }, [takeOver]);
  return <div ref={place} class="frame-area" />;
}
