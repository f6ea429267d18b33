/** Who reports to this hub. */

import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { me } from "../../account";
import { type HostRow, listHosts } from "../../api/hosts";
import { connections, join, onEvent } from "../../live/bus";
import { When, useLoad } from "../../parts/load";
import { Empty, Page } from "../../parts/page";
import { Ago } from "../../parts/time";

const REFRESH = 15_000;

export function HostsPage(): JSX.Element {
  const hosts = useLoad("hosts", listHosts, connections.value);
  useEffect(() => {
    const timer = window.setInterval(hosts.reload, REFRESH);
    const ends = [
      join("live"),
      onEvent((event) => {
        if (event.type === "host_up" || event.type === "host_down") hosts.reload();
      }),
      () => window.clearInterval(timer),
    ];
    return () => ends.forEach((end) => end());
  }, []);
  return (
    <Page title="Hosts" lead="Every process that decides with hooks and reports here.">
      <When loaded={hosts}>{({ items }) => (items.length ? <HostTable hosts={items} /> : <Empty title="No host has reported yet." icon="hosts" />)}</When>
      <HowToJoin />
    </Page>
  );
}

function HostTable({ hosts }: { hosts: readonly HostRow[] }): JSX.Element {
  return (
    <div class="grid-table" tabIndex={0} role="region" aria-label="Hosts">
      <table class="stack-table">
        <thead>
          <tr>
            <th scope="col">Host</th>
            <th scope="col">Machine</th>
            <th scope="col">Workspace</th>
            <th scope="col">Last record</th>
            <th scope="col" class="number">
              Records
            </th>
            <th scope="col">Chain</th>
          </tr>
        </thead>
        <tbody>
          {hosts.map((host) => (
            <tr key={host.id}>
              <th scope="row">
                <span class="run-state" data-running={host.running}>
                  <a href={`/?host=${encodeURIComponent(host.kind)}`}>{host.kind || "unknown"}</a>
                  <small>{host.running ? "running" : "ended"}</small>
                </span>
                <div class="muted host-detail">{[host.pid && `pid ${host.pid}`, host.version].filter(Boolean).join(" · ")}</div>
              </th>
              <td data-label="Machine">
                {host.user ? `${host.user}@` : ""}
                {host.machine}
                {host.remote && <span class="tag">by key</span>}
              </td>
              <td data-label="Workspace" class="mono host-workspace">
                {host.workspace}
              </td>
              <td data-label="Last record">
                <Ago at={host.last} />
                {Math.abs(host.skew) > 5 && <div class="muted">clock {host.skew > 0 ? "ahead" : "behind"} by {Math.round(Math.abs(host.skew))} s</div>}
              </td>
              <td data-label="Records" class="number">
                {host.records.toLocaleString()}
              </td>
              <td data-label="Chain">
                <Chain host={host} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const CHAIN_VERDICTS = { intact: "allow", incomplete: "ask", broken: "deny" };

function Chain({ host }: { host: HostRow }): JSX.Element {
  const more = [host.gaps && `${host.gaps} on their way`, host.lost && `${host.lost} lost`].filter(Boolean).join(", ");
  return (
    <>
      <span class="verdict" data-verdict={CHAIN_VERDICTS[host.chain]}>
        {host.chain}
      </span>
      {more && <div class="muted">{more}</div>}
    </>
  );
}

function HowToJoin(): JSX.Element {
  return (
    <section class="card">
      <h2>Add a machine</h2>
      <p class="muted">
        Hosts of the hub's own user and machine report by themselves. For another machine, make a key in{" "}
        <a href="/settings">Settings</a>, then run this there:
      </p>
      <pre class="code">hookline hub join {me.value?.hub.url ?? "URL"} --key KEY</pre>
    </section>
  );
}
