/** Orders of people, in the engine. Records keep pauses too, which an emptied engine gets back. */
import { hostname } from 'node:os';
import type { Engine } from '../engine/engine.js';
import type { OrderEnd, Orders } from '../engine/stores/run-store.js';
import { isJobId, type JobRecord } from './job-folder.js';

/** Times of lifted pauses, by the ids of jobs. */
const RESUMED = 'resumed-files';
/** The engine keeps cancels for the same time. */
const RESUMED_KEPT_MS = 90 * 86_400_000;

export type OrderStores = Pick<Engine, 'runs' | 'keyValues'>;

/** Lifts a pause; returns `ended` without a pause. Throws what the engine throws. */
export async function resume({ runs, keyValues }: OrderStores, owner: string): Promise<OrderEnd> {
  const pauses = isJobId(owner) ? await runs.pauses() : [];
  const pause = pauses.find((each) => each.owner === owner);
  // Written first, so whoever misses the pause finds this.
  if (pause !== undefined) await keyValues.put(RESUMED, owner, String(pause.at));
  return (await runs.resume(owner)) ? 'done' : 'ended';
}

/** Lifts all orders for a file, so that it can run again. Throws what the engine throws. */
export async function liftOrders(engine: OrderStores, id: string): Promise<void> {
  await engine.runs.uncancelJob(id);
  await resume(engine, id);
}

/** Lists the orders of `files`, in their order; restores pauses that the engine forgot. */
export async function ordersOf(
  { runs, keyValues }: OrderStores,
  files: readonly Pick<JobRecord, 'id' | 'run' | 'file' | 'parked'>[],
): Promise<Orders[]> {
  const orders = await runs.orders(files.map(({ id }) => ({ job: id, owner: id })));
  const isForgotten = files.some(({ parked }, at) => parked?.state.pause && orders[at]?.paused === null);
  const lifted = new Map<string, number>();
  for (const { name, text, ageMs } of isForgotten ? await keyValues.list(RESUMED) : [])
    if (ageMs <= RESUMED_KEPT_MS) lifted.set(name, Number(text));
    else await keyValues.remove(RESUMED, name, text);
  for (const [index, { id, run, file, parked }] of files.entries()) {
    const known = orders[index];
    const pause = parked?.state.pause;
    // An order in the engine wins; a resume lifts pauses that are not newer, by the store's clock.
    if (pause == null || known === undefined || (known.paused ?? known.cancelled) !== null) continue;
    if ((lifted.get(id) ?? Number.NEGATIVE_INFINITY) >= pause.at) continue;
    await runs.pauseOwner({ owner: id, label: { host: hostname(), name: file }, run, ...pause });
    orders[index] = { ...known, paused: pause };
  }
  return orders;
}
