/** What differs between two texts, line by line. */

export interface DiffLine {
  sign: " " | "+" | "−";
  text: string;
}

const MOST_CELLS = 4_000_000; // memory for the table of common lengths

export function diffLines(before: string, after: string): DiffLine[] {
  const [old, young] = [before.split("\n"), after.split("\n")];
  let head = 0;
  while (head < old.length && head < young.length && old[head] === young[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < young.length - head && old.at(-1 - tail) === young.at(-1 - tail)) tail += 1;
  const same = (text: string): DiffLine => ({ sign: " ", text });
  return [
    ...old.slice(0, head).map(same),
    ...diffMiddle(old.slice(head, old.length - tail), young.slice(head, young.length - tail)),
    ...(tail ? old.slice(-tail).map(same) : []),
  ];
}

function diffMiddle(old: string[], young: string[]): DiffLine[] {
  const width = young.length + 1;
  if (old.length * width > MOST_CELLS) {
    return [
      ...old.map((text): DiffLine => ({ sign: "−", text })),
      ...young.map((text): DiffLine => ({ sign: "+", text })),
    ];
  }
  const common = new Uint32Array((old.length + 1) * width);
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = young.length - 1; column >= 0; column -= 1) {
      common[row * width + column] =
        old[row] === young[column]
          ? common[(row + 1) * width + column + 1]! + 1
          : Math.max(common[(row + 1) * width + column]!, common[row * width + column + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  let [row, column] = [0, 0];
  while (row < old.length && column < young.length) {
    if (old[row] === young[column]) {
      lines.push({ sign: " ", text: old[row]! });
      row += 1;
      column += 1;
    } else if (common[(row + 1) * width + column]! >= common[row * width + column + 1]!) {
      lines.push({ sign: "−", text: old[row]! });
      row += 1;
    } else {
      lines.push({ sign: "+", text: young[column]! });
      column += 1;
    }
  }
  while (row < old.length) lines.push({ sign: "−", text: old[row++]! });
  while (column < young.length) lines.push({ sign: "+", text: young[column++]! });
  return lines;
}

export interface DiffGap {
  hidden: number;
}

/** Leaves out equal lines that are further than `around` lines from a difference. */
export function foldEqual(lines: readonly DiffLine[], around = 3): (DiffLine | DiffGap)[] {
  const near = new Uint8Array(lines.length);
  for (const [index, line] of lines.entries()) {
    if (line.sign === " ") continue;
    near.fill(1, Math.max(0, index - around), index + around + 1);
  }
  const folded: (DiffLine | DiffGap)[] = [];
  for (const [index, line] of lines.entries()) {
    const last = folded.at(-1);
    if (near[index]) folded.push(line);
    else if (last && "hidden" in last) last.hidden += 1;
    else folded.push({ hidden: 1 });
  }
  return folded;
}
