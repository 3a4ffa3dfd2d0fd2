import { expect, test } from 'vitest';
import { errorText, RunError } from '../../../src/core/errors.js';
import { storeFailure } from '../../../src/engine/postgres/store-failure.js';

const failed = (message: string, code?: string) =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

const server = { address: 'postgres://host/db', todo: 'start it', redact: (text: string) => text };

test.each([
  failed('terminating connection due to administrator command', '57P01'),
  failed('the database system is starting up', '57P03'),
  failed('sorry, too many clients already', '53300'),
  failed('deadlock detected', '40P01'),
  failed('cannot execute UPDATE in a read-only transaction', '25006'),
  failed('Connection terminated unexpectedly'),
  failed('Client has encountered a connection error and is not queryable'),
  failed('timeout exceeded when trying to connect'),
  failed('Query read timeout'),
  failed('connect ECONNREFUSED 127.0.0.1:5432', 'ECONNREFUSED'),
  failed('write EPIPE', 'EPIPE'),
  new AggregateError([failed('connect ECONNREFUSED ::1:5432', 'ECONNREFUSED')]),
])('%s is transient', (error) => {
  expect(storeFailure(server, error)).toMatchObject({
    code: 'engine-unreachable',
    subject: expect.stringContaining('postgres://host/db ('),
  });
});

test('a server without free connections is not advised to be started', () => {
  expect(storeFailure(server, failed('sorry, too many clients already', '53300'))).toMatchObject({
    todo: expect.stringContaining('max_connections'),
  });
});

test.each([
  [failed('could not extend file: No space left on device', '53100'), /space on the disk/],
  [failed('password authentication failed', '28P01'), /password/],
  [failed('permission denied for schema bullmq', '42501'), /schemas/],
  [failed('invalid page in block 0 of relation base/5/1259', 'XX001'), /restore them from a backup/],
  [failed('cache lookup failed for function 1', 'XX000'), /^see the log of PostgreSQL, then run again$/],
])('%s is permanent', (error, todo) => {
  expect(storeFailure(server, error)).toMatchObject({
    code: 'engine-unfit',
    todo: expect.stringMatching(todo),
  });
});

test('a missing database means a wrong address, or lost files for an embedded engine', () => {
  const error = failed('database "postgres" does not exist', '3D000');
  expect(storeFailure(server, error)).toMatchObject({ todo: expect.stringContaining('in the address') });
  expect(storeFailure({ ...server, loss: () => null }, error)).toMatchObject({
    todo: expect.stringContaining('restore them from a backup'),
  });
});

test.each([
  failed('column "x" does not exist', '42703'),
  failed('function brand_enrich.exchange(bigint, jsonb) does not exist', '42883'),
  failed('invalid input syntax for type json', '22P02'),
])('%s: another program has written there', (error) => {
  expect(storeFailure(server, error)).toMatchObject({
    code: 'engine-unfit',
    what: 'the engine refuses to work',
    todo: expect.stringContaining('which other program writes to it'),
  });
});

test('an error that no server sent is a bug and stays unchanged', () => {
  const error = new TypeError('x is not a function');
  expect(storeFailure(server, error)).toBe(error);
});

test('an error that is already classified stays unchanged', () => {
  const error = new RunError({ code: 'engine-unfit', subject: 'x', todo: 'y' });
  expect(storeFailure(server, error)).toBe(error);
  expect(errorText(error)).toContain('x');
});
