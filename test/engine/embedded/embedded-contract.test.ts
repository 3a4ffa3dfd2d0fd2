import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { silentLog } from '../../../src/core/log.js';
import { openEmbeddedEngine } from '../../../src/engine/embedded/shared-server.js';
import type { OpenEngineUnderTest } from '../contract/engine-under-test.js';
import { describeKeyValues } from '../contract/key-values-contract.js';
import { describeLedger } from '../contract/ledger-contract.js';
import { describeOutcomes } from '../contract/outcomes-contract.js';
import { describeQueue } from '../contract/queue-contract.js';
import { describeRetention } from '../contract/retention-contract.js';
import { describeRunEngine } from '../contract/run-engine-contract.js';
import { describeRuns } from '../contract/runs-contract.js';

const open: OpenEngineUnderTest = async (options) => {
  const folder = await mkdtemp(join(tmpdir(), 'embedded-'));
  await chmod(folder, 0o711);
  const engine = await openEmbeddedEngine({ folder, log: silentLog(), ...options });
  return {
    engine,
    async close() {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
// It runs the SQL that the PostgreSQL contract tests every day.
describe('the embedded engine', { tags: ['long'] }, () => {
  describeLedger('embedded', open);
  describeOutcomes('embedded', open);
  describeRuns('embedded', open);
  describeRunEngine('embedded', open);
  describeQueue('embedded', open);
  describeKeyValues('embedded', open);
  describeRetention('embedded', open);
});
