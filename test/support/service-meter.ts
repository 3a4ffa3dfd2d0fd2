/** The accounting of the test service, the ground truth of the end-to-end tests. */

type SeenRequest = {
  /** Milliseconds since the service started, by a monotonic clock. */
  readonly atMs: number;
  /** `domain:acme.com`; empty for requests refused before they were parsed. */
  readonly identifier: string;
  readonly status: number;
  readonly isBilled: boolean;
  /** In which month it was billed, `YYYY-MM`; absent: it was not. */
  readonly month?: string;
  /** Why it was refused or damaged; empty for a normal answer. */
  readonly why: string;
};

export type ServiceMeter = ReturnType<typeof createServiceMeter>;

export function createServiceMeter() {
  const startedAt = performance.now();
  const requests: SeenRequest[] = [];
  const billedOf = new Map<string, number>();
  const billedTimes: { readonly atMs: number; readonly month: string }[] = [];
  const billedIn = new Map<string, number>();
  let inFlight = 0;
  let billedInFlight = 0;
  let mostInFlight = 0;
  const nowMs = () => performance.now() - startedAt;
  return {
    requests: requests as readonly SeenRequest[],
    billedOf: billedOf as ReadonlyMap<string, number>,
    /** Milliseconds since the service started. */
    nowMs,
    get billed() {
      return billedTimes.length;
    },
    get inFlight() {
      return inFlight;
    },
    /** Of those in flight: billed already. */
    get billedInFlight() {
      return billedInFlight;
    },
    get mostInFlight() {
      return mostInFlight;
    },
    enter() {
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
    },
    leave(isBilled: boolean) {
      inFlight -= 1;
      if (isBilled) billedInFlight -= 1;
    },
    note(request: Omit<SeenRequest, 'atMs'>) {
      const atMs = nowMs();
      requests.push({ ...request, atMs });
      if (!request.isBilled) return;
      billedInFlight += 1;
      const { month = '' } = request;
      billedTimes.push({ atMs, month });
      billedIn.set(month, (billedIn.get(month) ?? 0) + 1);
      billedOf.set(request.identifier, (billedOf.get(request.identifier) ?? 0) + 1);
    },
    /** Requests that were answered like this, or damaged for this reason. */
    count({ status, why }: { status?: number; why?: string }) {
      return requests.filter(
        (request) =>
          (status === undefined || request.status === status) && (why === undefined || request.why === why),
      ).length;
    },
    /** How often the most billed identifier was billed; 0 when none was. */
    mostBilledOnce: () => Math.max(0, ...billedOf.values()),
    /** Requests of a month that were billed this many milliseconds ago or before. */
    billedAsOf(lagMs: number, month: string) {
      const until = nowMs() - lagMs;
      let count = billedIn.get(month) ?? 0;
      for (let at = billedTimes.length - 1; lagMs > 0 && at >= 0; at -= 1) {
        const billed = billedTimes[at];
        if (billed === undefined || billed.atMs <= until) break;
        if (billed.month === month) count -= 1;
      }
      return count;
    },
    /** Requests billed beyond `quota` in each month. */
    overage: (quota: number) =>
      [...billedIn.values()].reduce((sum, count) => sum + Math.max(0, count - quota), 0),
  };
}
