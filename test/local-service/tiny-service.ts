/** A service over a handful of brands, named after their purpose, with a clock turned by hand. */
import { silentLog } from '../../src/core/log.js';
import { type Accounts, parseAccounts } from '../../src/local-service/accounts.js';
import { type AdultStatus, Catalogue, type KeyKind } from '../../src/local-service/catalogue.js';
import { LocalService, type LocalServiceOptions } from '../../src/local-service/local-service.js';
import type { Service, ServiceResponse } from '../../src/local-service/service-request.js';

export const OWN_DOMAIN = 'brand-service.example';
export const NOON = Date.parse('2026-03-15T12:00:00Z');

type Keys = Partial<Record<KeyKind, readonly string[]>>;

/** `sun` is a ticker and a coin, `both.io` a domain too, `vice` withheld as a ticker alone. */
const BRANDS: readonly (readonly [name: string, keys: Keys, adult?: AdultStatus])[] = [
  ['Acme', { id: ['id_Acme01'], domain: ['acme.com'], ticker: ['ACME'], isin: ['US0378331005'] }],
  ['Sun Stock', { id: ['id_SunStk'], ticker: ['SUN'] }],
  ['Sun Coin', { id: ['id_SunCoi'], crypto: ['SUN'] }],
  ['Both Site', { id: ['id_BothSi'], domain: ['both.io'] }],
  ['Both Stock', { id: ['id_BothSt'], ticker: ['BOTH.IO'] }],
  ['Isin Stock', { id: ['id_IsinSt'], isin: ['DE0007164600'] }],
  ['Isin Coin', { id: ['id_IsinCo'], crypto: ['DE0007164600'] }],
  ['Coin', { id: ['id_Coin01'], crypto: ['BTC'] }],
  ['Flagged', { id: ['id_Flag01'], domain: ['flagged.com'] }, 'flagged'],
  ['Withheld', { id: ['id_With01'], domain: ['withheld.com'], ticker: ['VICE'] }, 'withheld'],
  ['Vice Coin', { id: ['id_ViceCo'], crypto: ['VICE'] }],
  ['Own', { id: ['id_Own001'], domain: [OWN_DOMAIN], ticker: ['OWN'] }],
];

function tinyCatalogue(): Catalogue {
  const index = new Catalogue();
  BRANDS.forEach(([name, keys, adult = 'none'], line) => {
    const body = Buffer.from(JSON.stringify({ name, isNsfw: adult !== 'none' }));
    index.add({ body, adult, line, keys: { domain: [], ticker: [], isin: [], crypto: [], id: [], ...keys } });
  });
  return index;
}

export function accountsOf(...accounts: readonly Record<string, unknown>[]): Accounts {
  const entries = accounts.map((account) => ({ token: `token-${account.name}`, ...account }));
  return parseAccounts(JSON.stringify({ accounts: entries }), 'test');
}

export function createHandClock(start = NOON) {
  let now = start;
  const slept: number[] = [];
  return {
    now: () => now,
    monotonic: () => now,
    /** Sets the time, as milliseconds or as ISO text. */
    set(time: number | string): void {
      now = typeof time === 'number' ? time : Date.parse(time);
    },
    /** The requested sleeps, in order; sleeping takes no time. */
    slept,
    async sleep(ms: number): Promise<void> {
      slept.push(ms);
    },
  };
}

export type TinyService = ReturnType<typeof createTinyService>;

/** One paid account `data` with a quota of 100 unless accounts are given. */
type TinyOptions = Partial<LocalServiceOptions> & { terms?: Record<string, unknown> };
export function createTinyService({ terms, ...given }: TinyOptions = {}) {
  const clock = createHandClock();
  const service = new LocalService({
    catalogue: tinyCatalogue(),
    accounts: accountsOf({ name: 'data', plan: 'paid', quota: 100, ...terms }),
    ownDomain: OWN_DOMAIN,
    clock,
    log: silentLog(),
    ...given,
  });
  return { service, clock, get: getFrom(service) };
}

/** How many requests the account `data` was billed, by the usage header. */
export async function billedBy(service: Service): Promise<number> {
  const { headers } = await getFrom(service)(`/v2/brands/${OWN_DOMAIN}`, { method: 'HEAD' });
  return Number(headers[USAGE]);
}

type As = { account?: string; authorization?: string | undefined; method?: string };
/** Sends one GET as the account `data`, unless given another. */
export function getFrom(service: Service) {
  return async (path: string, as: As = {}) =>
    service.handle({
      method: as.method ?? 'GET',
      path,
      authorization: 'authorization' in as ? as.authorization : `Bearer token-${as.account ?? 'data'}`,
    });
}

export function nameIn(response: ServiceResponse): string | null {
  const brand = JSON.parse(response.body.toString()) as { name?: string };
  return response.status === 200 ? (brand.name ?? null) : null;
}

export const QUOTA = 'x-api-key-quota';
export const USAGE = 'x-api-key-approximate-usage';
