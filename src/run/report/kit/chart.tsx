/** Charts as SVG, whose drawing stretches while the words around it keep their size. */
import type { Child, PropsWithChildren } from 'hono/jsx';
import { countOf, countText } from '../../../core/figures.js';
import { Table } from './parts.js';

/** A scale from 0 to `top` in equal steps. */
type Scale = Readonly<ReturnType<typeof scaleTo>>;

/** Returns a scale to `highest` or above, in `steps` steps of 1, 2 or 5 times a power of 10. */
function scaleTo(highest: number, steps: number) {
  const least = Math.max(1, highest / steps);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5].find((each) => each * power >= least) ?? 10);
  return { top: step * Math.max(1, Math.ceil(highest / step)), step };
}

/** `label`: alternative text. `below`: words under it. `children`: SVG of 100 by 100. */
function Chart({
  label,
  unit,
  scale,
  below,
  children,
}: PropsWithChildren<{ label: string; unit: string; scale: Scale; below: Child }>) {
  const steps = Math.round(scale.top / scale.step);
  const ticks = Array.from({ length: steps + 1 }, (_, at) => steps - at);
  return (
    <div class="chart" role="img" aria-label={label}>
      <span class="unit">{unit}</span>
      <div class="ticks">
        {ticks.map((tick) => (
          <span>{countText(tick * scale.step)}</span>
        ))}
      </div>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        <path class="grid" d={ticks.map((tick) => `M0 ${percentOf(tick, steps)}H100`).join('')} />
        {children}
      </svg>
      <div class="below">{below}</div>
    </div>
  );
}

/** Returns percent with two decimals. */
function percentOf(part: number, whole: number): number {
  return Math.round((part / whole) * 10_000) / 100;
}

/** Shows bins as a chart, and as a table below it. `unit`: as `brand`; `measure`: as `Score`. */
export function Histogram(histogram: {
  label: string;
  unit: string;
  measure: string;
  bins: readonly { tone: string; range: string; count: number }[];
  below: Child;
}) {
  const { label, unit, measure, bins, below } = histogram;
  const scale = scaleTo(Math.max(...bins.map(({ count }) => count)), 5);
  const units = `${unit}s`;
  const column = `${units.charAt(0).toUpperCase()}${units.slice(1)}`;
  const { top } = scale;
  const bars = bins.map(({ tone, range, count }, at) => {
    if (count === 0) return null;
    const [x, width] = [percentOf(at + 0.05, bins.length), percentOf(0.9, bins.length)];
    return (
      <rect class={tone} x={x} y={percentOf(top - count, top)} width={width} height={percentOf(count, top)}>
        <title>{`${measure} ${range}: ${countOf(count, unit)}`}</title>
      </rect>
    );
  });
  return (
    <figure class="histogram">
      <Chart label={label} unit={units} scale={scale} below={below}>
        {bars}
      </Chart>
      <details>
        <summary>The chart as a table</summary>
        <Table name="bins" columns={[[measure], [column, 'number']]} caption={label}>
          {bins.map(({ range, count }) => (
            <tr>
              <th scope="row">{range}</th>
              <td class="number">{countText(count)}</td>
            </tr>
          ))}
        </Table>
      </details>
    </figure>
  );
}
