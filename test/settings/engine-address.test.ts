/** Each form of an engine's address, judged by what its client would connect with. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { EXIT } from '../../src/core/errors.js';
import { silentLog } from '../../src/core/log.js';
import { connectionOf } from '../../src/engine/postgres/postgres-server.js';
import { createConnection } from '../../src/engine/redis/connect.js';
import { COMPANY_CA } from '../support/company-ca.js';
import { load, refusal, SERVICE } from './refusal.js';

const folder = mkdtempSync(join(tmpdir(), 'engine-address-'));
const pem = join(folder, 'root.pem');
writeFileSync(pem, COMPANY_CA);
afterAll(() => rmSync(folder, { recursive: true }));

const read = (engine: string) => load({ env: { ...SERVICE, BRAND_ENRICH_ENGINE: engine } }).settings.engine;

test.each([
  ['redis://h', { host: 'h', port: 6379, db: 0, tls: undefined }],
  ['REDISS://u:p%40%2F@H:7/2', { host: 'H', port: 7, db: 2, username: 'u', password: 'p@/', tls: {} }],
  ['rediss://:pw@[::1]:6380/', { host: '::1', port: 6380, db: 0, password: 'pw', tls: {} }],
  ['Redis://h_1.internal/015', { host: 'h_1.internal', db: 15, tls: undefined }],
  ['redis://h/-1?', { host: 'h', db: -1, tls: undefined }],
])('%s is used by the client of Redis', (seen, used) => {
  const connection = { url: read(seen), address: 'redis', log: silentLog() };
  const { options } = createConnection({ ...connection, extraCa: null, client: null, use: 'store' });
  expect({ tls: undefined, ...options }).toMatchObject(used);
  const trusting = createConnection({ ...connection, extraCa: COMPANY_CA, client: null, use: 'store' });
  const tls = used.tls && { secureContext: expect.anything() };
  expect({ tls: undefined, ...trusting.options }).toMatchObject({ ...used, tls });
});

const VERIFIED = { rejectUnauthorized: true };
const UNVERIFIED = { rejectUnauthorized: false };
const USED = { host: 'h', port: 5432, database: 'db' };

test.each<[string, object, boolean]>([
  ['postgres://h/db', { ...USED, ssl: false }, false],
  ['POSTGRESQL://u:p%40@h:7/d%20b', { port: 7, user: 'u', password: 'p@', database: 'd b' }, false],
  ['postgres:///db?host=/var/run', { ...USED, host: '/var/run' }, false],
  ['postgres://u:p@%2Fvar%2Frun:7/db', { host: '/var/run', port: 7, user: 'u', database: 'db' }, false],
  [
    'postgres://h/db?options=-c%20work_mem%3D64MB',
    { connectionParameters: expect.objectContaining({ options: '-c work_mem=64MB' }) },
    false,
  ],
  ['postgres://h/db?sslmode=disable', { ...USED, ssl: false }, false],
  ['postgres://h/db?sslmode=prefer', { ...USED, ssl: VERIFIED }, true],
  ['postgres://h/db?sslmode=require', { ...USED, ssl: VERIFIED }, true],
  ['postgres://h/db?sslmode=verify-ca', { ...USED, ssl: VERIFIED }, true],
  ['postgres://h/db?sslmode=no-verify', { ...USED, ssl: UNVERIFIED }, true],
  [`postgres://h/db?sslrootcert=${pem}`, { ...USED, ssl: VERIFIED }, true],
  [`postgres://h/db?sslmode=verify-full&sslrootcert=${pem}`, { ...USED, ssl: VERIFIED }, true],
  [
    `postgres://h/db?sslmode=no-verify&sslcert=${pem}&sslkey=${pem}`,
    { ...USED, ssl: { ...UNVERIFIED, cert: COMPANY_CA, key: COMPANY_CA } },
    true,
  ],
])('%s is used by the client of PostgreSQL', (seen, used, usesCa) => {
  expect(new Client(connectionOf(read(seen), null))).toMatchObject(used);
  const { ssl } = new Client(connectionOf(read(seen), COMPANY_CA)) as unknown as { ssl: object };
  const { ca, secureContext } = { ca: '', secureContext: undefined, ...ssl };
  expect(ca.includes(COMPANY_CA.trim()) || secureContext !== undefined).toBe(usesCa);
  if (seen.includes('sslrootcert')) expect(ca.split('BEGIN CERTIFICATE')).toHaveLength(3);
});

describe('is refused with the reason', () => {
  test.each([
    ['embeded', /did you mean embedded/i],
    ['Embedded', /did you mean embedded/i],
    ['redis', /not an engine/],
    ['redis://', /not an address with one host|not an engine/],
    ['mysql://h', /not an engine/],
    ['redis:h', /with one host/],
    ['postgres:db', /with one host/],
    [' redis://h', /not an engine/],
    ['redis://h/2\n', /not an engine/],
    ['redis://h/abc', /the number of a database/],
    ['redis://h/2/', /the number of a database/],
    ['redis://h:0', /with a port/],
    ['redis://h1,h2', /one host/],
    ['redis://%2Frun%2Fredis.sock', /one host/],
    ['redis://h#2', /without a #/],
    ['redis://u:%zz@h', /% written as %25/],
    ['redis://h?sentinels=a:1', /"sentinels" is unknown/],
    ['rediss://h?tls=false', /"tls" is unknown/],
    ['redis://u:1?hid%40den@h', /known options after the \?: /],
    ['postgres:///db', /one host/],
    ['postgres://h1,h2/db', /one host/],
    ['postgres://h/db?host=/run', /one host/],
    ['postgres:///db?host=h', /"host" has an unknown value/],
    ['postgres://h:0/db', /with a port/],
    ['postgres://h/db?ssl=true', /"ssl" is unknown/],
    ['postgres://h/db?sslmode=allow', /"sslmode" has an unknown value/],
    ['postgres://h/db?sslmode=', /"sslmode" has an unknown value/],
    ['postgres://h/db?sslmode=disable&sslmode=require', /"sslmode" has an unknown value/],
    ['postgres://h/db?SSLMODE=require', /"SSLMODE" is unknown/],
    ['postgres://h/db?password=hidden', /"password" is unknown/],
    ['postgres://h/db?sslmode=disable&sslrootcert=/r.pem', /whose sslmode uses its certificates/],
    ['postgres://h/db?sslmode=no-verify&sslrootcert=/r.pem', /whose sslmode uses its certificates/],
    ['postgres://h/db?sslmode=disable&sslcert=/c&sslkey=/k', /whose sslmode uses its certificates/],
    ['postgres://h/db?sslcert=/c.pem', /both sslcert and sslkey/],
    ['postgres://h/db#x', /without a #/],
  ])('%j', (seen, reason) => {
    const error = refusal(() => read(seen));
    expect(error).toMatchObject({ exitCode: EXIT.usage, message: expect.stringMatching(reason) });
    expect(error.message).not.toMatch(/hid/);
  });

  test.each(['sslrootcert=/no.pem', `sslcert=/no.pem&sslkey=${pem}`])('%s, by its file', (parts) => {
    const error = refusal(() => connectionOf(read(`postgres://h/db?${parts}`), null));
    expect(error).toMatchObject({ exitCode: EXIT.usage, message: expect.stringContaining('/no.pem') });
    expect(error.message).toContain(parts.split('=')[0]);
  });
});
