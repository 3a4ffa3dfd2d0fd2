/** What the people who run it look for: queue, workers, stored answers, engine. */
import { countOf, countText, momentText, spanText } from '../core/figures.js';
import { Facts } from '../run/report/kit/parts.js';
import type { DashboardData } from './gather-dashboard.js';

/** Folded. Its parts are renewed one by one, so that it stays open. */
export function TechnicalSection({ data }: { data: DashboardData }) {
  const { engine, address, account } = data;
  const parts = [
    ['queue', 'Queue', <Queue data={data} />],
    ['workers', 'Workers', <Workers data={data} />],
    ['answers', 'Stored answers', <Answers data={data} />],
  ] as const;
  return (
    <details class="card technical" id="technical">
      <summary>
        <h2>Technical</h2> <span class="muted">queue, workers, stored answers, engine</span>
      </summary>
      <div class="trio">
        {parts.map(([id, title, content]) => (
          <section data-part={id} aria-labelledby={id}>
            <h3 id={id}>{title}</h3>
            {content}
          </section>
        ))}
      </div>
      <div class="engine" data-part="engine">
        <Facts
          rows={[
            ['Engine', `${engine} at ${address}`],
            account !== null && ['Account', <code>{account}</code>],
          ]}
          name="facts"
        />
        <p class="actions">
          <a href="/status.json">This page as JSON</a>
        </p>
      </div>
    </details>
  );
}

function Queue({ data: { queue, ledger } }: { data: DashboardData }) {
  if (queue === null) return <p class="empty">Shown when an account is set.</p>;
  const pace = ledger?.pace.rate ?? null;
  return (
    <Facts
      rows={[
        ['Chunks waiting', countText(queue.waiting ?? 0)],
        ['In progress', countText(queue.active ?? 0)],
        ['Parked until later', countText(queue.delayed ?? 0)],
        ['Pace of all workers', pace === null ? 'no limit' : `${pace.toFixed(1)} a second`],
      ]}
    />
  );
}

function Workers({ data: { workers, at } }: { data: DashboardData }) {
  if (workers === null)
    return <p class="empty">Unknown: the server of the engine does not list its sessions.</p>;
  const up = <code>brand-enrich up</code>;
  if (workers.length === 0)
    return (
      <p class="empty">
        None: nothing is looked up until {up}, <code>run</code> or <code>worker</code> is started.
      </p>
    );
  return (
    <>
      <p class="muted">{countOf(workers.length, 'worker')}</p>
      <ul class="workers">
        {workers.map(({ host, pid, since }) => (
          <li>
            <bdi>{host}</bdi>, process {pid}, for {spanText(at - since)}
          </li>
        ))}
      </ul>
    </>
  );
}

function Answers({ data: { outcomes } }: { data: DashboardData }) {
  const { oldestFetchedAt: oldest, newestFetchedAt: newest } = outcomes;
  const moment = (time: number) => momentText(new Date(time).toISOString());
  if (oldest === null || newest === null)
    return <p class="empty">None yet. Paid answers are stored and not bought twice.</p>;
  return (
    <Facts
      rows={[
        ['Matched', countText(outcomes.matched)],
        ['Not found', countText(outcomes.notFound)],
        ['Oldest', moment(oldest)],
        ['Newest', moment(newest)],
      ]}
    />
  );
}
