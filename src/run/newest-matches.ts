/** The newest matches of a run, for pages. The engine keeps their identifiers. */
import type { Clock } from '../core/clock.js';
import { readIdentifierText } from '../core/identifier.js';
import { attempt, succeeds, withinDeadline } from '../core/lifecycle.js';
import { inJson, list, text } from '../core/shapes.js';
import type { Engine } from '../engine/engine.js';
import type { RunRecord } from '../engine/stores/run-store.js';
import type { RunEvent } from './enrich-request.js';
import { readStoredBrands } from './lookups/trial.js';

const SHOWN = 20;
const SCOPE = 'newest-matches';
const EVERY_MS = 1_000;
const RUNS_KEPT = 30;
/** The end of a run waits no longer, because a page can do without the last matches. */
const PATIENCE_MS = 2_000;
const TEXT_AT_MOST = 100;

const shape = inJson(list(text));

/** Follows a run and stores its newest matches at most once a second. Never throws. */
export function keepNewestMatches(
  { keyValues }: Pick<Engine, 'keyValues'>,
  runId: string,
  clock: Pick<Clock, 'monotonic'>,
) {
  let newest: string[] = [];
  let isNew = false;
  let storedAt = Number.NEGATIVE_INFINITY;
  let storing: Promise<unknown> | null = null;

  async function store(): Promise<void> {
    if (!isNew) return;
    isNew = false;
    storedAt = clock.monotonic();
    await keyValues.put(SCOPE, runId, JSON.stringify(newest.toReversed()));
  }

  async function removeOld(): Promise<void> {
    const entries = await keyValues.list(SCOPE);
    const old = entries.sort((a, b) => a.ageMs - b.ageMs).slice(RUNS_KEPT);
    for (const { name } of old) await keyValues.remove(SCOPE, name, null);
  }

  return {
    note(event: RunEvent): void {
      if (event.type === 'matched') {
        newest = [...newest.slice(1 - SHOWN), event.identifier];
        isNew = true;
      }
      if (event.type !== 'progress' || storing !== null || clock.monotonic() - storedAt < EVERY_MS) return;
      storing = succeeds(store()).finally(() => {
        storing = null;
      });
    },
    async end(): Promise<void> {
      if (newest.length === 0) return;
      const last = Promise.resolve(storing).then(store).then(removeOld);
      await withinDeadline(succeeds(last), PATIENCE_MS);
    },
  };
}

/** A matched brand as a page shows it, in the service's words. */
export type ShownMatch = Awaited<ReturnType<typeof readNewestMatches>>[number];

/** Returns matches whose answers are still stored, the newest first. Throws engine errors. */
export async function readNewestMatches(engine: Pick<Engine, 'keyValues' | 'outcomes'>, run: RunRecord) {
  const entry = (await engine.keyValues.list(SCOPE)).find(({ name }) => name === run.id);
  const identifiers = attempt(() => shape(entry?.text), []).slice(0, SHOWN);
  const brands = await readStoredBrands(engine, run, identifiers);
  return brands.flatMap(({ identifier: text, name, domain, score, color }) => {
    const identifier = readIdentifierText(text)?.value.slice(0, TEXT_AT_MOST);
    return identifier === undefined ? [] : { identifier, name: name ?? domain ?? identifier, score, color };
  });
}
