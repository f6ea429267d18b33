import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { pageTitle } from "../title";
import { Icon, type IconName } from "./icons";

interface PageProps {
  title: string;
  /** What the heading shows, if it is more than the title. */
  heading?: ComponentChildren;
  lead?: ComponentChildren;
  crumbs?: ComponentChildren;
  actions?: ComponentChildren;
  narrow?: boolean;
  class?: string;
  children: ComponentChildren;
}

export function Page(props: PageProps): JSX.Element {
  useEffect(() => {
    pageTitle.value = props.title;
  }, [props.title]);
  return (
    <div class={`page ${props.narrow ? "page-narrow" : ""} ${props.class ?? ""}`}>
      <header class="page-head">
        <div>
          {props.crumbs && (
            <nav class="crumbs" aria-label="Breadcrumb">
              {props.crumbs}
            </nav>
          )}
          <h1>{props.heading ?? props.title}</h1>
          {props.lead && <p>{props.lead}</p>}
        </div>
        {props.actions && <div class="actions">{props.actions}</div>}
      </header>
      {props.children}
    </div>
  );
}

export function Empty({ title, icon, children }: { title: string; icon?: IconName; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      {icon && <Icon name={icon} />}
      <strong>{title}</strong>
      {children}
    </div>
  );
}
