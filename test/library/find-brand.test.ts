import { describe, expect, it } from 'vitest';
import type { Identifier } from '../../src/core/identifier.js';
import { findBrand } from '../../src/library/enrich-rows.js';
import type { Candidates } from '../../src/library/enricher.js';
import type { Found } from '../../src/library/waiters.js';

const AT = Date.UTC(2026, 10, 22);

/** A service that knows these identifiers, and what it was asked. */
function knowing(...known: readonly string[]) {
  const asked: string[] = [];
  const ask = async ({ kind, value }: Identifier): Promise<Found> => {
    asked.push(`${kind}:${value}`);
    const told = { source: 'api', fetchedAt: AT, billed: 1, error: null } as const;
    const brand = known.includes(value) ? { name: value } : null;
    return { ...told, status: brand === null ? 'not_found' : 'matched', brand };
  };
  return { ask, asked };
}

const JUDGED = { kind: 'auto', waterfall: false } as const;

describe('a row is looked up by', () => {
  it.each<[Candidates, string | null]>([
    ['https://www.Acme.com/about', 'domain:acme.com'],
    [{ value: 'aapl', kind: 'ticker' }, 'ticker:AAPL'],
    [['', null, 'acme.com', 'other.com'], 'domain:acme.com'],
    [[{ value: '', kind: 'isin' }, 'acme.com'], 'domain:acme.com'],
    [{ value: 'META', kind: undefined }, 'auto:META'],
    ['   ', null],
    [null, null],
    [undefined, null],
    [[], null],
  ])('%j: %s', async (candidates, identifier) => {
    const { ask, asked } = knowing();
    const found = await findBrand('row', () => candidates, JUDGED, ask);
    expect(asked).toEqual(identifier === null ? [] : [identifier]);
    expect(found.status).toBe(identifier === null ? 'skipped' : 'not_found');
    expect(found.kind === null ? null : `${found.kind}:${found.identifier}`).toBe(identifier);
  });

  it.each<[unknown, string]>([
    [{ some: 'object' }, 'invalid'],
    [{ value: 'acme.com', kind: 'website' }, 'invalid'],
    [[{ value: 'acme.com', kind: 'isin' }], 'invalid'],
    [7203, 'invalid'],
  ])('%j, which no type allows, without throwing: %s', async (candidates, status) => {
    const found = await findBrand('row', () => candidates as Candidates, JUDGED, knowing().ask);
    expect(found.status).toBe(status);
    expect(found.error).not.toBeNull();
  });
});

describe('a value that cannot be read is invalid, and nothing is sent', () => {
  const throwing = (key: string, thrown: unknown) => {
    const get = () => {
      throw thrown;
    };
    return Object.defineProperty({}, key, { enumerable: true, get });
  };
  const closed = new Error('the cursor is closed');
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();

  it.each<[string, unknown, string]>([
    ['a getter throws', throwing('value', closed), 'the cursor is closed'],
    ['a kind throws', Object.assign(throwing('kind', closed), { value: 'acme.com' }), 'the cursor is closed'],
    ['what it throws throws', throwing('value', throwing('toString', closed)), 'an error without a message'],
    ['it has no text', { value: Object.create(null) }, 'primitive value'],
    ['it is a revoked proxy', [revoked.proxy], 'revoked'],
  ])('%s', async (_, candidates, reason) => {
    const { ask, asked } = knowing();
    const found = await findBrand('row', () => candidates as Candidates, JUDGED, ask);
    expect(found).toMatchObject({ input: 'row', status: 'invalid', billed: 0 });
    expect(found.error?.message).toContain(reason);
    expect(asked).toEqual([]);
  });

  it('and so is a row whose identifier the program cannot tell', async () => {
    const row = throwing('website', closed) as { website: string };
    const found = await findBrand(row, ({ website }) => website, JUDGED, knowing().ask);
    expect(found.error).toEqual({
      code: 'unreadable',
      message: 'the identifier of this row cannot be read (the cursor is closed)',
    });
  });
});

describe('with several identifiers', () => {
  const both = [
    { value: 'US0378331005', kind: 'isin' },
    { value: 'AAPL', kind: 'ticker' },
  ] as const;

  it('the first alone is asked for', async () => {
    const { ask, asked } = knowing('AAPL');
    expect(await findBrand(1, () => both, JUDGED, ask)).toMatchObject({ status: 'not_found', kind: 'isin' });
    expect(asked).toEqual(['isin:US0378331005']);
  });

  it('and waterfall the next ones too, until one is found', async () => {
    const { ask, asked } = knowing('AAPL');
    const found = await findBrand(1, () => both, { ...JUDGED, waterfall: true }, ask);
    expect(found).toEqual({
      input: 1,
      status: 'matched',
      kind: 'ticker',
      identifier: 'AAPL',
      brand: { name: 'AAPL' },
      source: 'api',
      fetchedAt: '2026-11-22T00:00:00.000Z',
      billed: 2,
      error: null,
      stopped: null,
    });
    expect(asked).toHaveLength(2);
  });

  it('of which none is found the first is named', async () => {
    const found = await findBrand(1, () => both, { ...JUDGED, waterfall: true }, knowing().ask);
    expect(found).toMatchObject({ status: 'not_found', kind: 'isin', brand: null });
  });
});
