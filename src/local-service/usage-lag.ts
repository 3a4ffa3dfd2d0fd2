/** A usage header that lags: remembers what was shown when, and answers with what was true some time ago. */

export interface LaggedUsage {
  /** Takes the usage of this moment and returns the one of `lagMs` before it, or the oldest known. */
  show(nowMs: number, usage: number): number;
}

/** Readings closer together than this share of the lag are remembered as one. */
const GRAIN = 1 / 200;

/** `firstUsage`: what the header showed before the first request. */
export function createLaggedUsage(lagMs: number, firstUsage: number): LaggedUsage {
  let shown = firstUsage;
  const coming: { readonly atMs: number; usage: number }[] = [];
  return {
    show(nowMs, usage) {
      const last = coming.at(-1);
      if (last !== undefined && nowMs - last.atMs < lagMs * GRAIN) last.usage = usage;
      else coming.push({ atMs: nowMs, usage });
      for (let first = coming[0]; first !== undefined && first.atMs <= nowMs - lagMs; first = coming[0]) {
        shown = first.usage;
        coming.shift();
      }
      return shown;
    },
  };
}
