/** Parts of pages: cards, facts, key figures, bars. */
import type { Child, PropsWithChildren } from 'hono/jsx';

/** A judgement; `calm` is neither good nor bad. */
export type Tone = 'good' | 'warn' | 'bad' | 'calm';

/** A state: its words, and its colour. */
export type Mark = readonly [label: string, tone: Tone];

/** `id`: of its heading. `more`: further classes. `isPart`: true if an open page refreshes it. */
export function Card({
  id,
  title,
  more,
  isPart = false,
  children,
}: PropsWithChildren<{ id: string; title: string; more?: string; isPart?: boolean }>) {
  return (
    <section
      class={more === undefined ? 'card' : `card ${more}`}
      aria-labelledby={id}
      data-part={isPart ? id : undefined}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

/** The heading of a page with its state. `isPart`: as for `Card`. */
export function Title({
  mark,
  isPart = false,
  children,
}: PropsWithChildren<{ mark?: Mark; isPart?: boolean }>) {
  return (
    <div class="title">
      <h1>{children}</h1>
      {mark && (
        <span class={`verdict ${mark[1]}`} data-part={isPart ? 'verdict' : undefined}>
          {mark[0]}
        </span>
      )}
    </div>
  );
}

/** A coloured dot before words. */
export function Dot({ tone, children }: PropsWithChildren<{ tone: string }>) {
  return (
    <>
      <span class={`dot ${tone}`} />
      {children}
    </>
  );
}

export type Fact = readonly [term: Child, value: Child, className?: string] | false | null;

/** Terms with their descriptions; false ones are omitted. */
export function Facts({ rows, name }: { rows: readonly Fact[]; name?: string }) {
  return (
    <dl class={name}>
      {rows.map(
        (row) =>
          row && (
            <div class={row[2]}>
              <dt>{row[0]}</dt>
              <dd>{row[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

/** `caption`: for screen readers. `foot`: the last row. `children`: the rows. */
export function Table({
  name,
  columns,
  caption,
  foot,
  children,
}: PropsWithChildren<{
  name: string;
  columns: readonly (readonly [words: string, className?: string] | false)[];
  caption?: string;
  foot?: Child;
}>) {
  const heads = columns.map(
    (column) =>
      column && (
        <th scope="col" class={column[1]}>
          {column[0]}
        </th>
      ),
  );
  return (
    <table class={name}>
      {caption !== undefined && <caption class="unseen">{caption}</caption>}
      <thead>
        <tr>{heads}</tr>
      </thead>
      <tbody>{children}</tbody>
      {foot !== undefined && <tfoot>{foot}</tfoot>}
    </table>
  );
}

/** A term, its figure, a line below it, and its tone. */
export type KeyFigure = readonly [term: string, figure: string, below: string, tone?: Tone];

export function KeyFigures({ figures, isPart = false }: { figures: readonly KeyFigure[]; isPart?: boolean }) {
  return (
    <dl class="key" aria-label="Key figures" data-part={isPart ? 'key' : undefined}>
      {figures.map(([term, figure, below, tone]) => (
        <div class={tone && `tone-${tone}`}>
          <dt>{term}</dt>
          <dd>
            {figure}
            <span class="below">{below}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** Draws shares of 1, each wide enough to see, by colour class; `stored` is striped. */
export function Bar({ parts }: { parts: readonly (readonly [tone: string, share: number])[] }) {
  const rounded = (value: number) => Math.round(value * 100) / 100;
  let x = 0;
  const drawn = parts.map(([tone, share]) => {
    if (share <= 0) return null;
    const width = Math.min(100 - x, Math.max(share * 100, 0.8));
    const [from, size] = [rounded(x), rounded(width)];
    x += width;
    return (
      <>
        <rect class={tone} x={from} width={size} height="8" />
        {tone === 'stored' && <path class="stripes" d={`M${from} 4h${size}`} />}
      </>
    );
  });
  return (
    <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
      {drawn}
    </svg>
  );
}
