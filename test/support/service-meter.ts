/**
 * The books of the test service: what each identifier was billed, what was refused, who was in flight when. The ground truth of
 * the end-to-end tests, so it counts at the service's side and believes nothing that a client says.
 */

/** One request as the service saw it. */
interface SeenRequest {
  /** Milliseconds since the service started, by a clock that does not jump. */
  readonly atMs: number;
  /** `domain:acme.com`; empty for what was refused before it was read. */
  readonly identifier: string;
  readonly status: number;
  readonly isBilled: boolean;
  /** Why it was refused or spoilt; empty for a plain answer. */
  readonly why: string;
}

export interface ServiceMeter {
  readonly requests: readonly SeenRequest[];
  /** Billed requests in all, and for each identifier. */
  readonly billed: number;
  readonly billedOf: ReadonlyMap<string, number>;
  readonly inFlight: number;
  readonly mostInFlight: number;
  enter(): void;
  leave(): void;
  note(request: Omit<SeenRequest, 'atMs'>): void;
  /** Requests that were answered like this, or spoilt for this reason. */
  count(which: { status?: number; why?: string }): number;
  /** The most often that one identifier was billed; 0 when none was. */
  mostBilledOnce(): number;
  /** What `used` was so many milliseconds ago, of `others` and of what was billed since. */
  billedAsOf(lagMs: number): number;
  /** Milliseconds since the service started. */
  nowMs(): number;
}

export function createServiceMeter(): ServiceMeter {
  const startedAt = performance.now();
  const requests: SeenRequest[] = [];
  const billedOf = new Map<string, number>();
  const billedTimes: number[] = [];
  let inFlight = 0;
  let mostInFlight = 0;
  const nowMs = () => performance.now() - startedAt;
  return {
    requests,
    billedOf,
    nowMs,
    get billed() {
      return billedTimes.length;
    },
    get inFlight() {
      return inFlight;
    },
    get mostInFlight() {
      return mostInFlight;
    },
    enter() {
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
    },
    leave() {
      inFlight -= 1;
    },
    note(request) {
      const atMs = nowMs();
      requests.push({ ...request, atMs });
      if (!request.isBilled) return;
      billedTimes.push(atMs);
      billedOf.set(request.identifier, (billedOf.get(request.identifier) ?? 0) + 1);
    },
    count({ status, why }) {
      return requests.filter(
        (request) =>
          (status === undefined || request.status === status) && (why === undefined || request.why === why),
      ).length;
    },
    mostBilledOnce: () => Math.max(0, ...billedOf.values()),
    billedAsOf(lagMs) {
      if (lagMs === 0) return billedTimes.length;
      const until = nowMs() - lagMs;
      let count = billedTimes.length;
      while (count > 0 && (billedTimes[count - 1] ?? 0) > until) count -= 1;
      return count;
    },
  };
}
