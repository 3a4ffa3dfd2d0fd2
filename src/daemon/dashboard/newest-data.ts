/**
 * The newest data for everybody who looks: gathered when somebody asks, not more often than once a second, and kept for
 * the time that the engine is away.
 */
import type { Clock } from '../../core/clock.js';
import { withinDeadline } from '../../core/lifecycle.js';
import type { DashboardData } from './dashboard-data.js';

export interface NewestData {
  /** Never rejects. */
  look(): Promise<{ readonly data: DashboardData | null; readonly awayNoticedAt: number | null }>;
}

export interface NewestDataOptions {
  /** May reject, and may take for ever. One is under way at a time. */
  readonly gather: () => Promise<DashboardData>;
  readonly clock: Pick<Clock, 'now'>;
  /** Told once per outage why there is nothing newer. */
  readonly onTrouble: (error: unknown) => void;
  /** How long a looker waits for the engine. Default: 2 s. */
  readonly deadlineMs?: number;
}

const FRESH_MS = 1_000;
const DEADLINE_MS = 2_000;
/** When nobody has looked for so long, the engine may have been back meanwhile: who looks notices its absence anew. */
const NOTICED_ANEW_MS = 60_000;

export function createNewestData(options: NewestDataOptions): NewestData {
  const { gather, clock, deadlineMs = DEADLINE_MS } = options;
  let data: DashboardData | null = null;
  let awayNoticedAt: number | null = null;
  let lookedAt = 0;
  let isTold = false;
  let gathering: Promise<boolean> | null = null;

  function tell(error: unknown): void {
    if (!isTold) options.onTrouble(error);
    isTold = true;
  }

  async function renew(): Promise<boolean> {
    try {
      data = await gather();
      awayNoticedAt = null;
      isTold = false;
      return true;
    } catch (error) {
      tell(error);
      return false;
    }
  }

  return {
    async look() {
      const now = clock.now();
      if (data === null || awayNoticedAt !== null || now - data.at >= FRESH_MS || now < data.at) {
        if (gathering === null && now - lookedAt >= NOTICED_ANEW_MS) awayNoticedAt = null;
        gathering ??= renew().finally(() => {
          gathering = null;
        });
        // Who looks while it is away does not wait for it each time.
        const patienceMs = awayNoticedAt === null ? deadlineMs : deadlineMs / 10;
        lookedAt = now;
        if (!(await withinDeadline(gathering, patienceMs))) {
          awayNoticedAt ??= now;
          tell(new Error(`the engine has not answered within ${patienceMs} ms`));
        }
      }
      return { data, awayNoticedAt };
    },
  };
}
