/** A list that is loaded, and changed by events from then on. */

import { signal } from "@preact/signals";

export class LiveList<T> {
  readonly items = signal<ReadonlyMap<string, T>>(new Map());
  readonly failure = signal<unknown>(undefined);
  /** What events changed since the list was requested: its answer may be older. */
  private changes: Map<string, T | undefined> | undefined;

  constructor(
    private readonly request: () => Promise<{ items: T[] }>,
    private readonly keyOf: (item: T) => string,
  ) {}

  put(item: T): void {
    this.change(this.keyOf(item), item);
  }

  drop(key: string): void {
    this.change(key, undefined);
  }

  async load(): Promise<void> {
    const mine = (this.changes = new Map<string, T | undefined>());
    try {
      const { items } = await this.request();
      if (mine !== this.changes) return; // A newer list was requested.
      this.items.value = applied(new Map(items.map((each) => [this.keyOf(each), each])), mine);
      this.failure.value = undefined;
    } catch (error) {
      if (mine === this.changes) this.failure.value = error;
    } finally {
      if (mine === this.changes) this.changes = undefined;
    }
  }

  private change(key: string, item: T | undefined): void {
    this.changes?.set(key, item);
    this.items.value = applied(this.items.value, [[key, item]]);
  }
}

function applied<T>(items: ReadonlyMap<string, T>, changes: Iterable<[string, T | undefined]>): ReadonlyMap<string, T> {
  const changed = new Map(items);
  for (const [key, item] of changes) {
    if (item === undefined) changed.delete(key);
    else changed.set(key, item);
  }
  return changed;
}
