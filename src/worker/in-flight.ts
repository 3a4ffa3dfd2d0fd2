/** The requests of a worker that have their permits: so many are in flight, the others wait. */
export class Sending {
  #inFlight = 0;
  readonly #waiting = new Set<(mayLeave: boolean) => void>();

  /** `atOnce`: requests in flight at most. */
  constructor(private readonly atOnce: number) {}

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Those that have their permits and wait for others to end. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Requests that could leave at once; negative: so many wait. */
  get free(): number {
    return this.atOnce - this.#inFlight - this.#waiting.size;
  }

  /** Counts a request that leaves now, whatever else is in flight. */
  begin(): void {
    this.#inFlight += 1;
  }

  /**
   * Counts a request when it may leave: true, at once, or a promise, in the order of the calls.
   * False: it was called back, or the signal was aborted, and is not counted.
   */
  enter(signal: AbortSignal): true | Promise<boolean> {
    if (this.#inFlight >= this.atOnce) return this.#untilTurn(signal);
    this.begin();
    return true;
  }

  #untilTurn(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const leave = (mayLeave: boolean) => {
        this.#waiting.delete(leave);
        signal.removeEventListener('abort', onAbort);
        resolve(mayLeave);
      };
      const onAbort = () => leave(false);
      this.#waiting.add(leave);
      signal.addEventListener('abort', onAbort);
      if (signal.aborted) onAbort();
    });
  }

  /** Calls back all that wait: what their permits were granted under holds no more. */
  callBack(): void {
    for (const leave of this.#waiting) leave(false);
  }

  /** It has its answer, or was not sent. */
  end(): void {
    this.#inFlight -= 1;
    if (this.#inFlight >= this.atOnce) return;
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.begin();
    next(true);
  }
}

/** Requests under way in this process, of all workers: who ends it must say the possible cost. */
const counts = new Set<() => number>();

/** Counts those of one more worker, until what is returned is called. */
export function countInFlight(count: () => number): () => void {
  counts.add(count);
  return () => counts.delete(count);
}

/** The requests in flight when a process quits now, in one sentence; empty for none. */
export function inFlightWarning(): string {
  let requests = 0;
  for (const count of counts) requests += count();
  if (requests === 0) return '';
  const many = requests === 1 ? '1 request was' : `${requests} requests were`;
  return `quit at once: ${many} in flight and may have been billed; they count as spent`;
}
