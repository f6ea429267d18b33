/** A table of many rows of one height, of which only those on the screen exist. Rows are drawn by position. */

import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

export interface Column<T> {
  name: string;
  title: string;
  cell: (row: T) => ComponentChildren;
}

interface VirtualTableProps<T> {
  label: string;
  columns: readonly Column<T>[];
  count: number;
  rowAt: (position: number) => T | undefined;
  href: (row: T) => string;
  /** What assistive technology reads for the link of a row. */
  rowLabel: (row: T) => string;
  rowHeight: number;
  /** Changes whenever rows were added. */
  version: number;
  onScroll: (top: number) => void;
  onFocus: (inside: boolean) => void;
  onNearEnd: () => void;
}

const SPARE = 4; // rows drawn above and below the visible ones

export function VirtualTable<T>(props: VirtualTableProps<T>): JSX.Element {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  useLayoutEffect(() => {
    const element = scroller.current!;
    const measure = (): void => {
      setView((old) => (old.height === element.clientHeight ? old : { ...old, height: element.clientHeight }));
    };
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, []);
  /** The row that gets the focus once it is drawn. */
  const wanted = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (wanted.current !== null && focusRow(scroller.current!, wanted.current)) wanted.current = null;
  });

  const { count, rowHeight } = props;
  const first = Math.max(0, Math.floor(view.top / rowHeight) - SPARE);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + SPARE);
  const positions = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);

  const onScroll = (): void => {
    const element = scroller.current;
    if (!element) return; // it was scrolled, and then removed
    setView({ top: element.scrollTop, height: element.clientHeight });
    props.onScroll(element.scrollTop);
    if (element.scrollTop + element.clientHeight > count * rowHeight - 20 * rowHeight) props.onNearEnd();
  };

  return (
    <div
      class="rows"
      role="table"
      aria-label={props.label}
      aria-rowcount={count + 1}
      onKeyDown={(event) => {
        const target = targetOf(event, scroller.current!, { wanted: wanted.current, count, rowHeight });
        if (target !== null) wanted.current = focusRow(scroller.current!, target) ? null : target;
      }}
      onFocusIn={() => props.onFocus(true)}
      onFocusOut={(event) => {
        const inside = scroller.current?.contains(event.relatedTarget as Node | null) ?? false;
        if (event.relatedTarget && !inside) wanted.current = null;
        props.onFocus(inside || wanted.current !== null);
      }}
    >
      <div class="rows-scroll" ref={scroller} onScroll={onScroll} role="presentation">
        <div role="rowgroup" class="rows-head">
          <div role="row" class="row" aria-rowindex={1}>
            {props.columns.map((column) => (
              <span key={column.name} role="columnheader" class={`cell cell-${column.name}`}>
                {column.title}
              </span>
            ))}
          </div>
        </div>
        <div class="rows-space" role="rowgroup" style={{ height: `${count * rowHeight}px` }}>
          {positions.map((position) => {
            const row = props.rowAt(position);
            if (row === undefined) return null;
            return (
              <div
                key={position}
                role="row"
                class="row"
                aria-rowindex={position + 2}
                style={{ transform: `translateY(${position * rowHeight}px)`, height: `${rowHeight}px` }}
              >
                {props.columns.map((column, index) => (
                  <span key={column.name} role="cell" class={`cell cell-${column.name}`}>
                    {index === 0 ? (
                      <a class="row-link" href={props.href(row)} data-position={position} aria-label={props.rowLabel(row)}>
                        {column.cell(row)}
                      </a>
                    ) : (
                      column.cell(row)
                    )}
                  </span>
                ))}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

const STEPS: Record<string, (page: number) => number> = {
  ArrowDown: () => 1,
  ArrowUp: () => -1,
  PageDown: (page) => page,
  PageUp: (page) => -page,
  Home: () => -Infinity,
};

interface Place {
  wanted: number | null;
  count: number;
  rowHeight: number;
}

/** The row that a key leads to, scrolled into view. Keys may come faster than rows are drawn: the next one counts from there. */
function targetOf(event: KeyboardEvent, scroller: HTMLElement, { wanted, count, rowHeight }: Place): number | null {
  const step = STEPS[event.key];
  const from = document.activeElement;
  if (!step || !(from instanceof HTMLElement) || from.dataset["position"] === undefined) return null;
  event.preventDefault();
  const page = Math.max(1, Math.floor(scroller.clientHeight / rowHeight) - 1);
  const target = Math.max(0, Math.min(count - 1, (wanted ?? Number(from.dataset["position"])) + step(page)));
  const [top, bottom] = [target * rowHeight, (target + 1) * rowHeight];
  if (top < scroller.scrollTop) scroller.scrollTop = top;
  else if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight;
  return target;
}

function focusRow(scroller: HTMLElement, position: number): boolean {
  const link = scroller.querySelector<HTMLElement>(`[data-position="${position}"]`);
  link?.focus({ preventScroll: true });
  return link !== null;
}
