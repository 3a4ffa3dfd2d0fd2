/**
 * An administrator ends the PostgreSQL sessions of a run again and again while it finishes; it
 * finishes nevertheless.
 *
 * @module-tag long
 */
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { postgresEngine } from '../support/engines.js';
import { readRows } from '../support/output-files.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { onEngines } from './commands.js';

const postgres = postgresEngine();
onEngines([postgres], () => {
  /** The administrator, connected beforehand: the run may end soon. */
  async function connectTo(scene: Scene): Promise<Client> {
    const client = new Client({ connectionString: scene.env.BRAND_ENRICH_ENGINE ?? '' });
    await client.connect();
    return client;
  }

  /**
   * Ends all sessions of the database fifty times a second, for a while or until `done` settles.
   * Returns how many there were.
   */
  async function endSessionsUntil(client: Client, done: Promise<unknown>): Promise<number> {
    let isDone = false;
    void done.finally(() => {
      isDone = true;
    });
    let ended = 0;
    try {
      for (let times = 0; times < 60 && !isDone; times += 1) {
        const { rowCount } = await client.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'brand-enrich'",
        );
        ended += rowCount ?? 0;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    } finally {
      await client.end();
    }
    return ended;
  }

  test.each([
    { what: 'that is complete', quota: 1_000_000, code: 0, billed: 300, file: 'list.enriched.csv' },
    { what: 'that its quota stops', quota: 200, code: 7, billed: 200, file: 'list.enriched.partial.csv' },
  ])('cost a run $what neither its file nor a request', async ({ quota, code, billed, file }) => {
    const scene = await createScene(postgres, { quota }, domainList(300));
    const administrator = await connectTo(scene);
    const running = scene.start(['run', 'list.csv']);
    await scene.service.until((meter) => meter.billed >= billed);
    expect(await endSessionsUntil(administrator, running.done)).toBeGreaterThan(0);
    const result = await running.done;
    expect(result.code, result.stderr).toBe(code);
    expect([scene.service.meter.billed, scene.service.meter.mostBilledOnce()]).toEqual([billed, 1]);
    expect(await readRows(scene.path(file))).toHaveLength(300);
  });
});
