import type { PGlite } from '@electric-sql/pglite';
import { describe, expect, test } from 'vitest';
import { createUpkeep, logPosition } from '../../../src/engine/embedded/database-upkeep.js';

describe('the upkeep of the embedded database', () => {
  test.each([
    ['0/0', 0],
    ['0/10', 16],
    ['1/0', 2 ** 32],
    ['16/B374D848', 22 * 2 ** 32 + 0xb374d848],
  ])('%s is %i bytes into the log', (lsn, bytes) => {
    expect(logPosition(lsn)).toBe(bytes);
  });

  test('looks at the log now and then, and tidies up only when it grew by 64 MB', async () => {
    let lsn = '0/1000000';
    let looks = 0;
    const done: string[] = [];
    const upkeep = createUpkeep({
      query: async () => {
        looks += 1;
        return { rows: [{ lsn }], fields: [] };
      },
      exec: async (sql: string) => {
        done.push(sql.replace(/ \(.*/, ' of the short-lived'));
        return [];
      },
    } as unknown as PGlite);
    await upkeep.begin();
    expect([looks, done.splice(0)]).toEqual([1, ['VACUUM', 'CHECKPOINT']]);
    const statements = async (count: number) => {
      for (let i = 0; i < count; i += 1) await upkeep.afterStatement();
      return done.splice(0);
    };
    lsn = '0/4FFFFFF';
    expect(await statements(1_000)).toEqual([]);
    expect(looks).toBe(3);
    lsn = '0/5000000';
    expect(await statements(499)).toEqual([]);
    expect(await statements(1)).toEqual([
      'VACUUM of the short-lived',
      'VACUUM brand_enrich.outcome',
      'CHECKPOINT',
    ]);
    expect(await statements(500)).toEqual([]);
  });
});
