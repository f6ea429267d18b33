import type { JSX } from "preact";
import { now } from "../../parts/time";
import { Pulse } from "./feed";

const [WIDTH, HEIGHT] = [240, 34];

/** A bar for each of the last sixty seconds. */
export function PulseView({ pulse }: { pulse: Pulse }): JSX.Element {
  const buckets = pulse.last(now.value);
  const highest = Math.max(4, ...buckets.map((each) => each.quiet + each.ask + each.stopped));
  const total = buckets.reduce((sum, each) => sum + each.quiet + each.ask + each.stopped, 0);
  const step = WIDTH / Pulse.SECONDS;
  const paths = { stopped: "", ask: "", quiet: "" };
  for (const [index, each] of buckets.entries()) {
    let y = HEIGHT;
    const sum = each.quiet + each.ask + each.stopped;
    const scale = sum ? (Math.sqrt(sum / highest) * (HEIGHT - 2)) / sum : 0; // a burst leaves the other bars visible
    for (const kind of ["stopped", "ask", "quiet"] as const) {
      const height = each[kind] * scale;
      if (height) paths[kind] += `M${index * step} ${y - height}h${step - 1}v${height}h${1 - step}z`;
      y -= height;
    }
  }
  return (
    <figure class="pulse">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={`${total} decisions in the last minute`} preserveAspectRatio="none">
        <path class="pulse-quiet" d={paths.quiet} />
        <path class="pulse-ask" d={paths.ask} />
        <path class="pulse-stopped" d={paths.stopped} />
      </svg>
      <figcaption>{total} in the last minute</figcaption>
    </figure>
  );
}
