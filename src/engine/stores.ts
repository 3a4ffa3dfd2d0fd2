/**
 * The part of an engine that commands beside a run need: its stores, without queue and worker. It can be had
 * from another process too, when that one holds the embedded engine's folder.
 */
import type { ChunkCounts, Engine } from './engine.js';

export interface EngineStores
  extends Pick<Engine, 'kind' | 'address' | 'notes' | 'ticks' | 'warnings' | 'close'> {
  readonly ledger: Omit<Engine['ledger'], 'exchange'>;
  readonly outcomes: Pick<Engine['outcomes'], 'read' | 'stats' | 'forget' | 'purge'>;
  readonly runs: Pick<Engine['runs'], 'get' | 'list' | 'cancel'>;
  /** Chunks waiting, being worked on and parked in a queue. */
  queueCounts(name: string): Promise<ChunkCounts>;
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
      const line = engine.openLine(name);
      try {
        return await line.counts();
      } finally {
        await line.close();
      }
    },
  };
}
