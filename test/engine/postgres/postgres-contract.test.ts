import { afterAll, beforeAll, describe } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { openPostgresEngine } from '../../../src/engine/postgres/open-postgres-engine.js';
import { hasPgBouncer, startPgBouncer } from '../../support/pgbouncer.js';
import { createDatabase, type PostgresServer, startPostgres } from '../../support/postgres-server.js';
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

  /** On a database of its own; `port`: of the server, or of what stands before it. */
  const openAt = async (port: number | null, options: Parameters<OpenEngineUnderTest>[0]) => {
    const url = new URL(await createDatabase(server));
    if (port !== null) url.port = String(port);
    const engine = await openPostgresEngine({ url: url.href, log: silentLog(), ...options });
    return { engine, close: () => engine.close() };
  };
  const open: OpenEngineUnderTest = (options) => openAt(null, options);
  describeLedger('postgres', open);
  describeOutcomes('postgres', open);
  describeRuns('postgres', open);
  describeRunEngine('postgres', open);
  describeQueue('postgres', open);
  describeKeyValues('postgres', open);
  describeRetention('postgres', open);

  describe.skipIf(!hasPgBouncer())('behind PgBouncer in session mode', () => {
    let bouncer: Awaited<ReturnType<typeof startPgBouncer>>;
    beforeAll(async () => {
      bouncer = await startPgBouncer(server.url);
    });
    afterAll(() => bouncer.stop());
    describeQueue('postgres', (options) => openAt(bouncer.port, options));
  });
});
