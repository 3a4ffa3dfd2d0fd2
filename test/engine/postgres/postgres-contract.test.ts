import { afterAll, beforeAll, describe } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { openPostgresEngine } from '../../../src/engine/postgres/open-postgres-engine.js';
import type { PostgresServer } from '../../support/postgres-server.js';
import { createDatabase, startPostgres } from '../../support/postgres-server.js';
import type { OpenEngineUnderTest } from '../contract/engine-under-test.js';
import { describeKeyValues } from '../contract/key-values-contract.js';
import { describeLedger } from '../contract/ledger-contract.js';
import { describeOutcomes } from '../contract/outcomes-contract.js';
import { describeQueue } from '../contract/queue-contract.js';
import { describeRetention } from '../contract/retention-contract.js';
import { describeRunEngine } from '../contract/run-engine-contract.js';
import { describeRuns } from '../contract/runs-contract.js';

describe('on a PostgreSQL server', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync=off']);
  });
  afterAll(() => server.stop());

  const open: OpenEngineUnderTest = async (options) => {
    const engine = await openPostgresEngine({
      url: await createDatabase(server),
      log: silentLog(),
      ...options,
    });
    return { engine, close: () => engine.close() };
  };
  describeLedger('postgres', open);
  describeOutcomes('postgres', open);
  describeRuns('postgres', open);
  describeRunEngine('postgres', open);
  describeQueue('postgres', open);
  describeKeyValues('postgres', open);
  describeRetention('postgres', open);
});
