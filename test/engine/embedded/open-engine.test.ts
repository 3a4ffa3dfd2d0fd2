import { describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { openEngine } from '../../../src/engine/open-engine.js';

describe('an engine address', () => {
  test.each([
    ['mysql://user:hidden@host/db', 'mysql'],
    ['', ''],
    ['user:hidden@host', 'user'],
    ['/var/run/redis.sock', ''],
  ])('%s is refused, and no password is shown', async (engine, subject) => {
    const opening = openEngine({ engine, stateFolder: '/nowhere', log: silentLog() });
    await expect(opening).rejects.toMatchObject({ code: 'usage-invalid', subject });
    await expect(opening).rejects.not.toThrow('hidden');
  });

  test.each(['postgres', 'postgresql'])('%s:// is PostgreSQL, here unreachable', async (scheme) => {
    const engine = `${scheme}://user:hidden@127.0.0.1:1/db`;
    const opening = openEngine({ engine, stateFolder: '/nowhere', log: silentLog() });
    await expect(opening).rejects.toMatchObject({
      code: 'engine-unreachable',
      subject: 'postgres://127.0.0.1:1/db (nothing listens at 127.0.0.1:1)',
    });
    await expect(opening).rejects.not.toThrow('hidden');
  });
});
