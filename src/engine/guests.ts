/**
 * Guests: runs of other processes that the holder of a state folder does the lookups for. What is said before such a run begins, and
 * who answers it. How it is carried is `embedded/`'s, what a guest may call is `store-calls.ts`'s.
 */

/** Who holds a state folder, for people. */
export interface Holder {
  readonly pid: number;
  /** What it was started as: `up`, `watch`, `run`. */
  readonly command: string;
  /** ISO 8601. */
  readonly since: string;
}

/** Whose lookups a guest needs. */
export interface WantedLookups {
  readonly queueName: string;
  /** The base URL of the service. */
  readonly service: string;
}

/** Why a holder does no lookups for a guest: for nobody, not with that token or account, or not at that service. */
export type GuestRefusal = 'nobody' | 'token' | 'service';

export interface GuestAnswer {
  readonly by: Holder;
  /** null: it does the lookups. */
  readonly refusal: GuestRefusal | null;
}

/** Where a process says whose lookups it does. Until then it does nobody's. */
export interface GuestDesk {
  /** `judge` is asked for each guest; null welcomes it. In place of an earlier judge. */
  open(judge: (wanted: WantedLookups) => GuestRefusal | null): void;
  /** What a guest is told. */
  answer(wanted: WantedLookups): Promise<GuestAnswer>;
}

export function createGuestDesk(by: Holder): GuestDesk {
  let judge: Parameters<GuestDesk['open']>[0] = () => 'nobody';
  return {
    open(next) {
      judge = next;
    },
    answer: async (wanted) => ({ by, refusal: judge(wanted) }),
  };
}
