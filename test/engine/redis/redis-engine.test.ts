/** The engine contracts, run against Redis. */
import { afterAll, beforeAll, describe } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { openRedisEngine } from '../../../src/engine/redis/open-redis-engine.js';
import { hasRedisServer, type RedisServer, startRedis } from '../../support/redis-server.js';
import type { OpenEngineUnderTest } from '../contract/engine-under-test.js';
import { describeKeyValues } from '../contract/key-values-contract.js';
import { describeLedger } from '../contract/ledger-contract.js';
import { describeOutcomes } from '../contract/outcomes-contract.js';
import { describeQueue } from '../contract/queue-contract.js';
import { describeRunEngine } from '../contract/run-engine-contract.js';
import { describeRuns } from '../contract/runs-contract.js';

describe.skipIf(!hasRedisServer())('on a Redis server', () => {
  let redis: RedisServer | null = null;
  let opened = 0;
  beforeAll(async () => {
    redis = await startRedis({ args: ['--appendonly', 'yes'] });
  });
  afterAll(() => redis?.stop());

  const open: OpenEngineUnderTest = async ({ clockOffsetMs }) => {
    opened += 1;
    const engine = await openRedisEngine({
      url: redis?.url ?? '',
      namespace: `test-${opened}`,
      log: silentLog(),
      clockOffsetMs,
    });
    return { engine, close: () => engine.close() };
  };

  describeLedger('redis', open, 200);
  describeOutcomes('redis', open);
  describeRuns('redis', open);
  describeRunEngine('redis', open);
  describeQueue('redis', open);
  describeKeyValues('redis', open);
});
