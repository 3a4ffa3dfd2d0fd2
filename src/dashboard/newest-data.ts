/**
 * The newest data for everybody who looks: gathered when somebody asks, not more often than once a second, and kept for
 * the time that the engine is away.
 */
import type { Clock } from '../clock.js';
import { withinDeadline } from '../lifecycle.js';
import type { DashboardData } from './dashboard-data.js';

export interface NewestData {
  /** Never rejects. */
  look(): Promise<{ readonly data: DashboardData | null; readonly awaySince: number | null }>;
}

export interface NewestDataOptions {
  /** May reject, and may take for ever. One is under way at a time. */
  readonly gather: () => Promise<DashboardData>;
  readonly clock: Pick<Clock, 'now'>;
  /** How long a looker waits for the engine. Default: 2 s. */
  readonly deadlineMs?: number;
}

const FRESH_MS = 1_000;
const DEADLINE_MS = 2_000;

export function createNewestData({ gather, clock, deadlineMs = DEADLINE_MS }: NewestDataOptions): NewestData {
  let data: DashboardData | null = null;
  let awaySince: number | null = null;
  let gathering: Promise<boolean> | null = null;

  async function renew(): Promise<boolean> {
    try {
      data = await gather();
      awaySince = null;
      return true;
    } catch {
      return false;
    }
  }

  return {
    async look() {
      const now = clock.now();
      if (data === null || awaySince !== null || now - data.at >= FRESH_MS || now < data.at) {
        gathering ??= renew().finally(() => {
          gathering = null;
        });
        // Who looks while it is away does not wait for it each time.
        const patienceMs = awaySince === null ? deadlineMs : deadlineMs / 10;
        if (!(await withinDeadline(gathering, patienceMs))) awaySince ??= now;
      }
      return { data, awaySince };
    },
  };
}
