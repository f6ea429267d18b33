/** The frame around every page: navigation, who is signed in, and which page belongs to the address. */

import { computed } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useErrorBoundary } from "preact/hooks";
import { loadMe, me, signOut } from "./account";
import { describeError, token } from "./api/client";
import { busState } from "./live/bus";
import { problems, sentence, watchProblems } from "./live/problems";
import { Icon, type IconName, Logo } from "./parts/icons";
import { lazyPage } from "./parts/lazy_page";
import { Failure } from "./parts/load";
import { Empty, Page } from "./parts/page";
import { Toasts, attempt } from "./parts/toast";
import { ApprovalsPage } from "./pages/approvals/approvals_page";
import { watchApprovals } from "./pages/approvals/waiting";
import { DecisionPage } from "./pages/decision/decision_page";
import { DecisionsPage } from "./pages/decisions/decisions_page";
import { EnterPage } from "./pages/enter/enter_page";
import { HostsPage } from "./pages/hosts/hosts_page";
import { type Route, matchPath, path } from "./router";
import { waitingCount } from "./title";

// What the first page does not need is loaded when it is opened.
const AgentPage = lazyPage(() => import("./pages/agent/agent_page").then((module) => module.AgentPage));
const AgentsPage = lazyPage(() => import("./pages/agents/agents_page").then((module) => module.AgentsPage));
const HooksPage = lazyPage(() => import("./pages/hooks/hooks_page").then((module) => module.HooksPage));
const RuleHistoryPage = lazyPage(() => import("./pages/hooks/rule_history_page").then((module) => module.RuleHistoryPage));
const RulePage = lazyPage(() => import("./pages/hooks/rule_page").then((module) => module.RulePage));
const SessionPage = lazyPage(() => import("./pages/session/session_page").then((module) => module.SessionPage));
const SessionsPage = lazyPage(() => import("./pages/sessions/sessions_page").then((module) => module.SessionsPage));
const SettingsPage = lazyPage(() => import("./pages/settings/settings_page").then((module) => module.SettingsPage));

const ROUTES: readonly Route[] = [
  { pattern: "/", page: DecisionsPage, section: "/" },
  { pattern: "/decisions/:id", page: DecisionPage, section: "/" },
  { pattern: "/approvals", page: ApprovalsPage, section: "/approvals" },
  { pattern: "/sessions", page: SessionsPage, section: "/sessions" },
  { pattern: "/sessions/:id", page: SessionPage, section: "/sessions" },
  { pattern: "/agents", page: AgentsPage, section: "/agents" },
  { pattern: "/agents/:id", page: AgentPage, section: "/agents" },
  { pattern: "/agents/:id/sessions/:session", page: AgentPage, section: "/agents" },
  { pattern: "/hooks", page: HooksPage, section: "/hooks" },
  { pattern: "/settings/hooks", page: HooksPage, section: "/hooks" },
  { pattern: "/hooks/:set/rule", page: RulePage, section: "/hooks" },
  { pattern: "/hooks/:set/history", page: RuleHistoryPage, section: "/hooks" },
  { pattern: "/hosts", page: HostsPage, section: "/hosts" },
  { pattern: "/settings", page: SettingsPage, section: "/settings" },
];

interface Section {
  href: string;
  title: string;
  icon: IconName;
}

const SECTIONS: readonly Section[] = [
  { href: "/", title: "Decisions", icon: "decisions" },
  { href: "/approvals", title: "Approvals", icon: "approvals" },
  { href: "/sessions", title: "Sessions", icon: "sessions" },
  { href: "/agents", title: "Agents", icon: "agents" },
  { href: "/hooks", title: "Hooks", icon: "hooks" },
  { href: "/hosts", title: "Hosts", icon: "hosts" },
  { href: "/settings", title: "Settings", icon: "settings" },
];
const TABS = ["/", "/approvals", "/sessions", "/hooks"];

const current = computed(() => {
  for (const route of ROUTES) {
    const parts = matchPath(route.pattern, path.value);
    if (parts) return { route, parts };
  }
  return null;
});

export function App(): JSX.Element {
  return (
    <>
      {token.value ? <Shell /> : <EnterPage />}
      <Toasts />
    </>
  );
}

function Shell(): JSX.Element {
  useEffect(() => {
    if (!me.value) void attempt(loadMe);
    const ends = [watchApprovals(), watchProblems()];
    return () => ends.forEach((end) => end());
  }, []);
  return (
    <div class="shell">
      <a class="skip button" href="#main">
        Skip to the page
      </a>
      <aside class="sidebar">
        <a class="brand" href="/">
          <Logo />
          <span>
            hookline
            {me.value && <small>{me.value.hub.name}</small>}
          </span>
        </a>
        <nav class="nav" aria-label="Pages">
          {SECTIONS.map((section) => (
            <NavLink key={section.href} {...section} />
          ))}
        </nav>
        <div class="sidebar-foot">
          <Connection />
          <div class="who">
            <span>
              <strong>{me.value?.user.name}</strong>
              <small>{me.value?.role}</small>
            </span>
            <button type="button" class="plain small" onClick={() => void attempt(signOut)} aria-label="Sign out" title="Sign out">
              <Icon name="sign_out" />
            </button>
          </div>
        </div>
      </aside>
      <header class="topbar">
        <a class="brand" href="/">
          <Logo />
          <span>hookline</span>
        </a>
        <Connection />
      </header>
      <main class="main" id="main" tabIndex={-1}>
        <Problems />
        <CurrentPage key={path.value} />
      </main>
      <Tabs />
    </div>
  );
}

function Problems(): JSX.Element {
  return (
    <div class="hub-problems" role="status">
      {problems.value.map((problem) => (
        <p key={`${problem.hub} ${problem.part}`} class="notice" data-level="error">
          <Icon name="hosts" />
          <span>{sentence(problem.text)}</span>
        </p>
      ))}
    </div>
  );
}

function CurrentPage(): JSX.Element {
  const [failure] = useErrorBoundary((error) => console.error(describeError(error)));
  if (failure) {
    return (
      <Page title="Something broke">
        <Failure failure={failure} />
      </Page>
    );
  }
  const found = current.value;
  if (!found) {
    return (
      <Page title="Not found">
        <Empty title="There is no page at this address.">
          <a href="/">See the decisions</a>
        </Empty>
      </Page>
    );
  }
  const { page: PageOf } = found.route;
  return <PageOf {...found.parts} />;
}

function isCurrent(href: string): boolean {
  return current.value?.route.section === href;
}

function NavLink({ href, title, icon }: Section): JSX.Element {
  return (
    <a href={href} aria-current={isCurrent(href) ? "page" : undefined}>
      <Icon name={icon} />
      {title}
      {href === "/approvals" && <WaitingBadge />}
    </a>
  );
}

function WaitingBadge(): JSX.Element | null {
  const count = waitingCount.value;
  if (!count) return null;
  return (
    <span class="badge">
      {count}
      <span class="visually-hidden"> waiting</span>
    </span>
  );
}

function Connection(): JSX.Element {
  const words = { live: "Live", connecting: "Connecting…", away: "Reconnecting…" };
  return (
    <span class="connection" data-state={busState.value}>
      {words[busState.value]}
    </span>
  );
}

function Tabs(): JSX.Element {
  const others = SECTIONS.filter((section) => !TABS.includes(section.href));
  return (
    <nav class="tabs" aria-label="Pages, short">
      {SECTIONS.filter((section) => TABS.includes(section.href)).map((section) => (
        <NavLink key={section.href} {...section} />
      ))}
      <button type="button" popovertarget="more" data-current={others.some(({ href }) => isCurrent(href))}>
        <Icon name="more" />
        More
      </button>
      <div id="more" class="more" popover="auto">
        <div class="nav">
          {others.map((section) => (
            <a
              key={section.href}
              href={section.href}
              aria-current={isCurrent(section.href) ? "page" : undefined}
              onClick={() => document.getElementById("more")?.hidePopover()}
            >
              <Icon name={section.icon} />
              {section.title}
            </a>
          ))}
          <button type="button" class="plain" onClick={() => void attempt(signOut)}>
            <Icon name="sign_out" />
            Sign out {me.value?.user.name}
          </button>
        </div>
      </div>
    </nav>
  );
}
