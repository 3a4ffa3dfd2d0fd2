/**
 * What people order, and what stands for files. Orders are in the engine; a pause is in the record
 * of its file too, and holds when the engine has forgotten it, until a later resume.
 */
import { hostname } from 'node:os';
import type { Engine } from '../engine/engine.js';
import type { OrderEnd, Orders, Pause } from '../engine/stores/run-store.js';
import { isJobId, type JobRecord } from './job-folder.js';

/** By the ids of jobs: when the pause was ordered that a person lifted. */
const RESUMED = 'resumed-files';
/** As long as cancels are kept. */
const RESUMED_KEPT_MS = 90 * 86_400_000;

export type OrderStores = Pick<Engine, 'runs' | 'keyValues'>;

/** Pauses a run, an owner that may have none, or all spending. Throws what the engine throws. */
export async function pause(
  { runs }: Pick<Engine, 'runs'>,
  target: { readonly run: string } | Pick<Pause, 'owner' | 'label'>,
  by: string,
): Promise<OrderEnd> {
  if (!('owner' in target)) return runs.pause(target.run, by);
  const { owner, label } = target;
  await runs.pauseOwner({ owner, label, by, run: null });
  return 'done';
}

/** Ends a run, or a job that may have none, for good. Throws what the engine throws. */
export async function cancel(
  { runs }: Pick<Engine, 'runs'>,
  target: { readonly run: string } | { readonly job: string },
  by: string,
): Promise<OrderEnd> {
  if ('run' in target) return runs.cancel(target.run, by);
  await runs.cancelJob({ job: target.job, by });
  return 'done';
}

/** Lifts a pause; `ended` without one. Throws what the engine throws. */
export async function resume({ runs, keyValues }: OrderStores, owner: string): Promise<OrderEnd> {
  const pauses = isJobId(owner) ? await runs.pauses() : [];
  const pause = pauses.find((each) => each.owner === owner);
  // First: whoever sees the pause gone sees this.
  if (pause !== undefined) await keyValues.put(RESUMED, owner, String(pause.at));
  return (await runs.resume(owner)) ? 'done' : 'ended';
}

/** Takes back what was ordered for a file, so that it can run again. Throws engine errors. */
export async function liftOrders(engine: OrderStores, id: string): Promise<void> {
  await engine.runs.uncancelJob(id);
  await resume(engine, id);
}

/** Lists orders in the order of `files`. Gives the engine a forgotten pause again. */
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
    // The engine's own order wins; a resume lifts a pause that is not newer, by the store's clock.
    if (pause == null || known === undefined || (known.paused ?? known.cancelled) !== null) continue;
    if ((lifted.get(id) ?? Number.NEGATIVE_INFINITY) >= pause.at) continue;
    await runs.pauseOwner({ owner: id, label: { host: hostname(), name: file }, run, ...pause });
    orders[index] = { ...known, paused: pause };
  }
  return orders;
}
