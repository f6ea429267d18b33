/** The newest rows of a list that grows at both ends: new ones come live, older ones when somebody scrolls down. */

export class Ring<T extends { id: string }> {
  private rows: (T | undefined)[];
  private start = 0; // where the oldest row is
  private count = 0;
  private readonly ids = new Set<string>();

  constructor(readonly capacity: number) {
    this.rows = new Array<T | undefined>(capacity);
  }

  get size(): number {
    return this.count;
  }

  get isFull(): boolean {
    return this.count === this.capacity;
  }

  has(id: string): boolean {
    return this.ids.has(id);
  }

  /** The row at a position; 0 is the newest. */
  at(position: number): T | undefined {
    if (position < 0 || position >= this.count) return undefined;
    return this.rows[(this.start + this.count - 1 - position) % this.capacity];
  }

  clear(): void {
    this.rows = new Array<T | undefined>(this.capacity);
    this.start = this.count = 0;
    this.ids.clear();
  }

  /** Adds a row as the newest one; the oldest goes if there is no room. False if it is there already. */
  add(row: T): boolean {
    if (this.ids.has(row.id)) return false;
    if (this.isFull) {
      this.ids.delete(this.at(this.count - 1)!.id);
      this.start = (this.start + 1) % this.capacity;
      this.count -= 1;
    }
    this.rows[(this.start + this.count) % this.capacity] = row;
    this.count += 1;
    this.ids.add(row.id);
    return true;
  }

  /** Adds rows that are older than all others, newest first, until there is no room. */
  addOlder(rows: readonly T[]): void {
    for (const row of rows) {
      if (this.isFull) return;
      if (this.ids.has(row.id)) continue;
      this.start = (this.start - 1 + this.capacity) % this.capacity;
      this.count += 1;
      this.rows[this.start] = row;
      this.ids.add(row.id);
    }
  }
}
