/** The live list behind the table: older rows by HTTP, new ones from the bus, painted at most once for each frame. */

import { signal } from "@preact/signals";
import { type DecisionFilter, type DecisionRow, listDecisions, matchesFilter, verdictWord } from "../../api/decisions";
import { Ring } from "../../live/ring";

export const CAPACITY = 10_000;
const PAGE = 200;
/** What the filters offer: values of rows that were seen. */
export const OFFERED = ["host", "event", "tool", "hook"] as const;
export type Offered = (typeof OFFERED)[number];

/** What came of a call, told after its decision. */
export interface CallOutcome {
  session?: string;
  call?: string;
  outcome: string;
}

const OUTCOMES_FOR = 500; // newest rows that are looked through for the call of an outcome

type Schedule = (paint: () => void) => void;

export class DecisionFeed {
  readonly ring = new Ring<DecisionRow>(CAPACITY);
  /** Counts up with each paint. */
  readonly version = signal(0);
  /** Rows that came while the list was frozen. */
  readonly waiting = signal(0);
  /** Rows that the hub left out of the live list because there were too many. */
  readonly dropped = signal(0);
  readonly failure = signal<unknown>(undefined);
  readonly isLoaded = signal(false);
  readonly offered = signal<Readonly<Record<Offered, readonly string[]>>>({ host: [], event: [], tool: [], hook: [] });

  private frozen = false;
  private incoming: DecisionRow[] = [];
  private held: DecisionRow[] = [];
  private outcomes: CallOutcome[] = [];
  private isScheduled = false;
  private cursor: string | number | null = null;
  private isLoadingOlder = false;
  private abort = new AbortController();

  constructor(
    readonly filter: DecisionFilter,
    private readonly onRow: (row: DecisionRow, at: number) => void = () => undefined,
    private readonly schedule: Schedule = (paint) => requestAnimationFrame(paint),
  ) {}

  /** Loads the newest page, and again after the connection was away. */
  async load(): Promise<void> {
    try {
      const page = await listDecisions(this.filter, { limit: PAGE, signal: this.abort.signal });
      if (this.abort.signal.aborted) return;
      const overlaps = page.items.some((row) => this.ring.has(row.id));
      if (this.ring.size === 0 || !overlaps) {
        // Nothing is known of the time between: the list begins anew.
        const live = this.takeAll();
        this.ring.clear();
        this.cursor = page.next;
        this.ring.addOlder(page.items);
        for (const row of page.items) this.onRow(row, Date.parse(row.at));
        for (const row of live) this.ring.add(row);
      } else {
        for (const row of [...page.items].reverse()) this.receiveRow(row);
      }
      this.offer(page.items);
      this.failure.value = undefined;
      this.isLoaded.value = true;
      this.requestPaint();
    } catch (failure) {
      if (!this.abort.signal.aborted) this.failure.value = failure;
    }
  }

  async loadOlder(): Promise<void> {
    if (this.cursor === null || this.isLoadingOlder || this.ring.isFull) return;
    this.isLoadingOlder = true;
    try {
      const page = await listDecisions(this.filter, { before: this.cursor, limit: PAGE, signal: this.abort.signal });
      this.cursor = page.next;
      this.ring.addOlder(page.items);
      this.offer(page.items);
      this.requestPaint();
    } catch (failure) {
      if (!this.abort.signal.aborted) this.failure.value = failure;
    } finally {
      this.isLoadingOlder = false;
    }
  }

  receive(rows: readonly DecisionRow[], dropped: number, outcomes: readonly CallOutcome[] = []): void {
    if (dropped) this.dropped.value += dropped;
    if (outcomes.length) this.outcomes.push(...outcomes);
    for (const row of rows) {
      this.onRow(row, Date.now());
      if (matchesFilter(row, this.filter)) this.receiveRow(row);
    }
    this.requestPaint();
  }

  freeze(frozen: boolean): void {
    if (this.frozen === frozen) return;
    this.frozen = frozen;
    if (frozen) return;
    this.incoming = [...this.held, ...this.incoming];
    this.held = [];
    this.requestPaint();
  }

  close(): void {
    this.abort.abort();
  }

  private receiveRow(row: DecisionRow): void {
    this.incoming.push(row);
    if (this.incoming.length > 2 * CAPACITY) this.incoming.splice(0, CAPACITY);
    this.requestPaint();
  }

  private takeAll(): DecisionRow[] {
    const rows = [...this.held, ...this.incoming];
    this.held = [];
    this.incoming = [];
    return rows;
  }

  private requestPaint(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.schedule(() => {
      this.isScheduled = false;
      this.paint();
    });
  }

  private paint(): void {
    const rows = this.incoming;
    this.incoming = [];
    if (this.frozen) {
      this.held.push(...rows.filter((row) => !this.ring.has(row.id)));
      if (this.held.length > CAPACITY) this.held.splice(0, this.held.length - CAPACITY);
    } else {
      for (const row of rows) this.ring.add(row);
    }
    this.applyOutcomes();
    this.offer(rows);
    this.waiting.value = this.held.length;
    this.version.value += 1;
  }

  private applyOutcomes(): void {
    const told = new Map(this.outcomes.filter(({ call }) => call).map(({ session, call, outcome }) => [`${session} ${call}`, outcome]));
    this.outcomes = [];
    if (!told.size) return;
    const apply = (row: DecisionRow | undefined): void => {
      if (row?.event !== "tool.before" || row.verdict === "deny") return;
      const outcome = told.get(`${row.session} ${row.call}`);
      if (outcome) row.outcome = outcome;
    };
    this.held.slice(-OUTCOMES_FOR).forEach(apply);
    for (let position = 0; position < Math.min(this.ring.size, OUTCOMES_FOR); position += 1) apply(this.ring.at(position));
  }

  private offer(rows: readonly DecisionRow[]): void {
    const known = this.offered.value;
    const changed: Partial<Record<Offered, readonly string[]>> = {};
    for (const name of OFFERED) {
      const fresh = new Set(rows.map((row) => row[name]).filter((value): value is string => !!value));
      for (const value of known[name]) fresh.delete(value);
      if (fresh.size && known[name].length < 200) changed[name] = [...known[name], ...fresh].sort();
    }
    if (Object.keys(changed).length) this.offered.value = { ...known, ...changed };
  }
}

/** How many decisions there were in each of the last seconds, by what a person looks for. */
export class Pulse {
  static readonly SECONDS = 60;
  private readonly buckets = new Map<number, { quiet: number; ask: number; stopped: number }>();

  count(row: DecisionRow, at: number): void {
    const second = Math.floor(at / 1000);
    let bucket = this.buckets.get(second);
    if (!bucket) {
      bucket = { quiet: 0, ask: 0, stopped: 0 };
      this.buckets.set(second, bucket);
      if (this.buckets.size > 2 * Pulse.SECONDS) {
        const newest = Math.max(...this.buckets.keys());
        for (const old of this.buckets.keys()) if (old <= newest - Pulse.SECONDS) this.buckets.delete(old);
      }
    }
    const word = verdictWord(row);
    if (word === "deny" || word === "halt") bucket.stopped += 1;
    else if (word === "ask") bucket.ask += 1;
    else bucket.quiet += 1;
  }

  /** Oldest first. */
  last(at: number = Date.now()): { quiet: number; ask: number; stopped: number }[] {
    const end = Math.floor(at / 1000);
    return Array.from(
      { length: Pulse.SECONDS },
      (_, index) => this.buckets.get(end - Pulse.SECONDS + 1 + index) ?? { quiet: 0, ask: 0, stopped: 0 },
    );
  }
}
