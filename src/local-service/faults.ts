/**
 * Faults around a service, to test clients against: a decoration that is off unless asked for and knows nothing of
 * brands or accounts. In this order:
 *
 *   wait -> outage, drop, throughput 429, 500, 503: the service is not asked, nothing is billed
 *        -> the service answers: usage header late or hidden, body damaged or cut short, connection reset (billed)
 *        -> error dialect
 */
import type { Clock } from '../core/clock.js';
import { USAGE_HEADER } from '../lookup/response-headers.js';
import { coded, damaged, faultAnswer, truncated, withoutUsage, withUsage } from './fault-answers.js';
import type { Faults } from './fault-settings.js';
import { type Chance, createChance } from './generate-random.js';
import type { Service, ServiceRequest, ServiceResponse } from './handle.js';
import { createLaggedUsage, type LaggedUsage } from './usage-lag.js';

/** Closing it closes the service within. */
export function withFaults(service: Service, faults: Faults, clock: Clock): Service {
  const isTooMany = createRollingSecond(faults.perSecond);
  const lagged = new Map<string, LaggedUsage>();
  const startedAt = clock.now();
  let arrived = 0;

  /** A free HEAD tells what the usage was before the first request of a caller. */
  const laggedUsageOf = async (authorization: string): Promise<LaggedUsage> => {
    const known = lagged.get(authorization);
    if (known !== undefined) return known;
    const before = await service.handle({ method: 'HEAD', path: '/v2/brands/x', authorization });
    const usage =
      lagged.get(authorization) ??
      createLaggedUsage(faults.usageLagMs, Number(before.headers[USAGE_HEADER] ?? 0));
    lagged.set(authorization, usage);
    return usage;
  };

  const withoutAsking = (rolls: Rolls): ServiceResponse | null => {
    const now = clock.now();
    const sinceStart = now - startedAt - faults.outageFromMs;
    if (sinceStart >= 0 && sinceStart < faults.outageForMs) return faultAnswer(503, now);
    if (rolls.drop < faults.drop) return { ...faultAnswer(503, now), cut: 'before-headers' };
    if (isTooMany(now)) {
      const after = faults.retryAfterSeconds;
      return faultAnswer(429, now, after > 0 ? { 'retry-after': String(after) } : {});
    }
    if (rolls.error < faults.error500) return faultAnswer(500, now);
    return rolls.error < faults.error500 + faults.error503 ? faultAnswer(503, now) : null;
  };

  const ask = async (request: ServiceRequest, rolls: Rolls): Promise<ServiceResponse> => {
    const late =
      faults.usageLagMs > 0 && request.authorization !== undefined
        ? await laggedUsageOf(request.authorization)
        : null;
    let response = await service.handle(request);
    const usage = response.headers[USAGE_HEADER];
    if (late !== null && usage !== undefined)
      response = withUsage(response, late.show(clock.now(), Number(usage)));
    if (faults.hidesUsage) response = withoutUsage(response);
    if (rolls.reset < faults.reset) return { ...response, cut: 'before-headers' };
    if (response.status !== 200 || request.method === 'HEAD') return response;
    if (rolls.body < faults.truncate) return truncated(response, rolls.where);
    return rolls.body < faults.truncate + faults.damage ? damaged(response, rolls.where) : response;
  };

  return {
    async handle(request) {
      const rolls = rollFor(createChance(faults.seed, arrived++));
      const waitMs = faults.latencyMs + rolls.jitter * faults.jitterMs;
      if (waitMs > 0) await clock.sleep(waitMs);
      const refusal = withoutAsking(rolls);
      const response = refusal ?? (await ask(request, rolls));
      if (faults.dialect === 'spec') return response;
      const isCrawlQueued = rolls.where < faults.crawlQueued;
      return coded(response, request, { isThroughput: refusal !== null, isCrawlQueued });
    },
    close: () => service.close(),
  };
}

/** Everything that chance decides about one request, drawn when it arrives. */
interface Rolls {
  readonly jitter: number;
  readonly drop: number;
  readonly error: number;
  readonly reset: number;
  readonly body: number;
  readonly where: number;
}

function rollFor(chance: Chance): Rolls {
  return {
    jitter: chance.fraction(),
    drop: chance.fraction(),
    error: chance.fraction(),
    reset: chance.fraction(),
    body: chance.fraction(),
    where: chance.fraction(),
  };
}

/** Whether a request is one more than `limit` in the second that ends with it; refused ones do not count. */
function createRollingSecond(limit: number): (nowMs: number) => boolean {
  const accepted: number[] = [];
  let next = 0;
  return (nowMs) => {
    if (limit === 0) return false;
    const oldest = accepted[next];
    if (oldest !== undefined && nowMs - oldest < 1000) return true;
    accepted[next] = nowMs;
    next = (next + 1) % limit;
    return false;
  };
}
