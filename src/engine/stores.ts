/**
 * The part of an engine that commands beside a run need: its stores, without queue and worker. It can be had
 * from another process too, when that one holds the embedded engine's folder.
 */
import type { Engine } from './engine.js';

export interface EngineStores
  extends Pick<
    Engine,
    'kind' | 'address' | 'ledger' | 'outcomes' | 'runs' | 'notes' | 'ticks' | 'warnings' | 'close'
  > {
  /** Chunks waiting, being worked on and parked in a queue; null where only its owner could tell. */
  queueCounts(name: string): Promise<Record<string, number> | null>;
}

/** The stores of an engine that this process has open. */
export function storesOf(engine: Engine): EngineStores {
  return {
    kind: engine.kind,
    address: engine.address,
    ledger: engine.ledger,
    outcomes: engine.outcomes,
    runs: engine.runs,
    notes: engine.notes,
    ticks: engine.ticks,
    warnings: engine.warnings,
    close: () => engine.close(),
    async queueCounts(name) {
      const queue = engine.openQueue(name);
      try {
        return await queue.getJobCounts('waiting', 'active', 'delayed');
      } finally {
        await queue.close();
      }
    },
  };
}
