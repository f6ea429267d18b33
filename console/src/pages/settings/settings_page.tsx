/** Users, keys, signed-in browsers, and what this hub is. */

import type { JSX } from "preact";
import { type Me, may, me } from "../../account";
import { get } from "../../api/client";
import { Icon } from "../../parts/icons";
import { When, useLoad } from "../../parts/load";
import { Page } from "../../parts/page";
import { KeyList } from "./key_list";
import { SignInList } from "./sign_in_list";
import { UserList } from "./user_list";

export function SettingsPage(): JSX.Element {
  return (
    <Page
      title="Settings"
      narrow
      actions={
        <a class="button" href="/settings/hooks">
          <Icon name="hooks" />
          Hooks
        </a>
      }
    >
      {may("owner") ? (
        <>
          <UserList />
          <KeyList />
          <SignInList />
        </>
      ) : (
        me.value && <p class="notice">You are signed in as {me.value.role}. Owners manage users and keys.</p>
      )}
      <About />
    </Page>
  );
}

interface Health {
  version: string;
  uptime: number;
  problem?: string;
}

function About(): JSX.Element {
  const health = useLoad("health", (signal) => get<Health>("/healthz", { signal }));
  return (
    <section class="card">
      <h2>About this hub</h2>
      <When loaded={health}>
        {(told) => (
          <dl class="facts">
            <dt>Name</dt>
            <dd>{me.value?.hub.name}</dd>
            <dt>Address</dt>
            <dd>{me.value?.hub.url}</dd>
            <dt>Version</dt>
            <dd>hookline {told.version}</dd>
            <dt>Running for</dt>
            <dd>{formatDuration(told.uptime)}</dd>
            {me.value && <Limits {...me.value.hub} />}
            <dt>API</dt>
            <dd>
              <a href="/api/openapi.json">/api/openapi.json</a>
            </dd>
            {told.problem && (
              <>
                <dt>Problem</dt>
                <dd class="notice" data-level="error">
                  {told.problem}
                </dd>
              </>
            )}
          </dl>
        )}
      </When>
    </section>
  );
}

/** They are set in the hub's file. */
function Limits({ record, patience }: Me["hub"]): JSX.Element {
  return (
    <>
      <dt>Records</dt>
      <dd>
        kept for {formatDuration(record.keep)}, {record.most.toLocaleString()} at most
      </dd>
      <dt>Questions</dt>
      <dd>of its own agents wait {formatDuration(patience)}</dd>
    </>
  );
}

export function formatDuration(seconds: number): string {
  const [days, hours, minutes] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  if (days) return hours ? `${days} d ${hours} h` : `${days} d`;
  return hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min` : `${Math.floor(seconds)} s`;
}
