import type { OrderStores } from '../../src/jobs/file-orders.js';

export const NO_ORDERS = {
  runs: {
    get: async () => null,
    uncancelJob: async () => undefined,
    pauses: async () => [],
    resume: async () => false,
  },
  keyValues: {},
  ledger: {},
} as unknown as OrderStores;
