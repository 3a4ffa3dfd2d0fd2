/**
 * A brand service for tests on a real port: written by hand from the specification and from what is
 * known of live services, and independent of `src/local-service`, so that a misunderstanding shared
 * by the product's two halves shows.
 *
 * A request passes: token · route · throughput · fault of the service · quota · bill · answer. It
 * is billed when it is accepted, not when its answer arrives: what a client kills in flight has
 * cost money.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { periodOf } from '../../src/ledger/period.js';
import { profileText, type ServiceKind, shareOf } from './brand-profile.js';
import { listenAnew } from './listen-anew.js';
import { createServiceMeter, type ServiceMeter } from './service-meter.js';
import { type ServiceFaults, type ServiceOptions, serviceOptions } from './service-options.js';

export type BrandService = Awaited<ReturnType<typeof startBrandService>>;

const KINDS: readonly string[] = ['domain', 'ticker', 'isin', 'crypto'];

interface Asked {
  readonly kind: ServiceKind;
  readonly value: string;
}

export async function startBrandService(changes: Parameters<typeof serviceOptions>[0] = {}) {
  const options = serviceOptions(changes);
  const meter = createServiceMeter();
  const watchers = new Set<() => void>();
  const recent: number[] = [];
  const billed = new Set<ServerResponse>();
  let serial = 0;

  /** By the clock that dates answers: each billing period is metered by itself. */
  const monthNow = () => periodOf(Date.now() + options.dateOffsetMs, options.period);

  function refuse(response: ServerResponse, status: number, code: string, why: string, asked?: Asked): void {
    meter.note({ identifier: asked ? nameOf(asked) : '', status, isBilled: false, why });
    if (options.dialect === 'coded' && code !== '') response.setHeader('x-bf-error', code);
    const body =
      options.dialect === 'spec'
        ? {}
        : {
            message: `refused: ${why}`,
            ...(options.dialect === 'body' && code !== '' ? { error: code } : {}),
          };
    sendJson(response, status, JSON.stringify(body));
  }

  function isOverThroughput(): boolean {
    if (options.perSecond === null) return false;
    const now = meter.nowMs();
    while ((recent[0] ?? now) <= now - 1_000) recent.shift();
    if (recent.length >= options.perSecond) return true;
    recent.push(now);
    return false;
  }

  function usageHeaders(response: ServerResponse, isRefusal = false): void {
    if (!options.hasHeaders) return;
    if (options.hasQuota || isRefusal) response.setHeader('x-api-key-quota', String(options.quota));
    response.setHeader(
      'x-api-key-approximate-usage',
      String(options.others + meter.billedAsOf(options.headerLagMs, monthNow())),
    );
  }

  function retryLater(response: ServerResponse): void {
    if (options.retryAfter > 0) response.setHeader('retry-after', String(options.retryAfter));
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const credential = judgeCredential(request.headers.authorization, options);
    if (credential !== null) {
      await wait(options.latencyMs);
      return refuse(response, credential, 'unauthorized', 'credentials');
    }
    const asked = readAsked(request.url ?? '/');
    if (request.method !== 'GET') return refuse(response, 405, '', 'method');
    if (asked === null) return refuse(response, 404, '', 'route');
    const isOwn = (asked.kind === 'domain' || asked.kind === 'generic') && asked.value === options.ownDomain;
    if (isOverThroughput()) {
      retryLater(response);
      return refuse(response, 429, '', 'throughput', asked);
    }
    serial += 1;
    const fault = isOwn ? null : faultOf(options.faults, shareOf('fault', String(serial), nameOf(asked)));
    const latencyMs = options.latencyMs + options.jitterMs * shareOf('jitter', String(serial));
    if (fault === 'unavailable' || fault === 'broken') {
      await wait(latencyMs);
      if (fault === 'unavailable') retryLater(response);
      return refuse(response, fault === 'broken' ? 500 : 503, '', fault, asked);
    }
    if (!isOwn && shareOf('bad', nameOf(asked)) < options.badShare) {
      await wait(latencyMs);
      return refuse(response, 400, '', 'bad request', asked);
    }
    const used = options.others + meter.billedAsOf(0, monthNow());
    const limit = options.quota + (options.plan === 'paid' ? options.overageTenths : 0);
    if (!isOwn && used >= limit) {
      usageHeaders(response, true);
      return refuse(response, 429, 'quota_exceeded', 'quota', asked);
    }
    const text = isOwn
      ? (profileText('domain', 'known-brand.com') ?? '{"name":"own","logos":[]}')
      : profileText(asked.kind, asked.value);
    const status = options.alwaysStatus ?? (text === null ? 404 : 200);
    const isBilled = !isOwn && status < 500 && status !== 400;
    meter.note({ identifier: nameOf(asked), status, isBilled, month: monthNow(), why: fault ?? '' });
    if (isBilled) billed.add(response);
    await wait(latencyMs);
    await options.held;
    usageHeaders(response);
    deliver(response, status, status === 200 ? (text ?? '{}') : '{}', fault);
  }

  const server = createServer((request, response) => {
    // Dated when it is accepted, as it is billed.
    response.setHeader('date', new Date(Date.now() + options.dateOffsetMs).toUTCString());
    meter.enter();
    response.on('close', () => {
      meter.leave(billed.delete(response));
      for (const look of watchers) look();
    });
    answer(request, response).catch(() => response.destroy());
    for (const look of watchers) look();
  });
  server.keepAliveTimeout = 60_000;
  const port = await listenAnew(server);

  return {
    url: `http://127.0.0.1:${port}`,
    meter,
    /** The test may change it; the next request sees the change. */
    options,
    /** Resolves once `condition`, checked after every request, holds; rejects at a stop. */
    until(condition: (seen: ServiceMeter) => boolean) {
      return new Promise<void>((resolve, reject) => {
        const look = () => {
          if (!condition(meter)) return;
          watchers.delete(look);
          server.off('close', tooLate);
          resolve();
        };
        const tooLate = () => reject(new Error('the service was stopped before what was awaited happened'));
        server.once('close', tooLate);
        watchers.add(look);
        look();
      });
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The status of the refusal; null if accepted. */
function judgeCredential(header: string | undefined, options: ServiceOptions): number | null {
  const token = /^Bearer (\S+)$/.exec(header ?? '')?.[1];
  const isCoded = options.dialect !== 'spec';
  if (header === undefined) return isCoded ? 402 : 401;
  if (token === undefined) return 401;
  const isValid = options.tokens.includes(token) && !options.revoked.includes(token);
  return isValid ? null : isCoded ? 403 : 401;
}

function readAsked(url: string): Asked | null {
  const path = url.split('?')[0] ?? '';
  const match = /^\/v2\/brands\/(?:([^/]+)\/)?([^/]+)$/.exec(path);
  if (!match?.[2]) return null;
  const kind = match[1] ?? 'generic';
  if (kind !== 'generic' && !KINDS.includes(kind)) return null;
  const value = decodeURIComponent(match[2]);
  return { kind: kind as ServiceKind, value: kind === 'crypto' ? value.toUpperCase() : value };
}

function nameOf({ kind, value }: Asked): string {
  return `${kind}:${value}`;
}

function faultOf(faults: ServiceFaults, share: number): keyof ServiceFaults | null {
  let left = share;
  for (const name of Object.keys(faults) as (keyof ServiceFaults)[]) {
    left -= faults[name];
    if (left < 0) return name;
  }
  return null;
}

function sendJson(response: ServerResponse, status: number, body: string): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length }).end(body);
}

function deliver(response: ServerResponse, status: number, body: string, fault: keyof ServiceFaults | null) {
  const half = body.slice(0, Math.floor(body.length / 2));
  switch (fault) {
    case 'resetBefore':
      response.socket?.resetAndDestroy();
      return;
    case 'resetWithin':
      response.writeHead(status, { 'content-type': 'application/json' });
      response.write(half, () => response.socket?.resetAndDestroy());
      return;
    case 'truncated':
      response.writeHead(status, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      response.write(half, () => response.socket?.end());
      return;
    case 'truncatedSilently':
      response.writeHead(status, { 'content-type': 'application/json' });
      response.write(half);
      response.end();
      return;
    case 'damaged':
      sendJson(response, status, status === 200 ? body.replace('"domain":', '"domain"') : '<html>no</html>');
      return;
    default:
      sendJson(response, status, body);
  }
}

function wait(ms: number): Promise<void> {
  return ms <= 0 ? Promise.resolve() : new Promise((resolve) => setTimeout(resolve, ms));
}
