import { describe, expect, test } from 'vitest';
import {
  durabilityWarnings,
  requireFit,
  shownAddress,
  withoutPassword,
} from '../../../src/engine/postgres/postgres-server.js';

const facts = {
  version: 150_004,
  fsync: 'on',
  synchronousCommit: 'on',
  fullPageWrites: 'on',
  readOnly: 'off',
};

describe('the address of a server', () => {
  test.each([
    ['postgres://user:pass@db.example:5433/brands?sslmode=require', 'postgres://db.example:5433/brands'],
    ['postgresql://db.example', 'postgres://db.example'],
  ])('%s is shown as %s', (url, shown) => {
    expect(shownAddress(url)).toBe(shown);
  });

  test('a password is removed from messages of the driver, both encoded and decoded', () => {
    const url = 'postgres://user:hid%40den@h/db';
    expect(withoutPassword('cannot use hid%40den or hid@den', url)).toBe('cannot use [removed] or [removed]');
    expect(withoutPassword('100%', 'postgres://user:100%@h/db')).toBe('[removed]');
    expect(withoutPassword('nothing to hide', 'postgres://h/db')).toBe('nothing to hide');
  });
});

describe('requirements on a server', () => {
  test.each([
    [120_017, false],
    [130_000, true],
    [180_001, true],
  ])('version %i is new enough: %s', (version, isNewEnough) => {
    const check = () => requireFit({ ...facts, version }, 'postgres://h/db');
    if (isNewEnough) expect(check).not.toThrow();
    else expect(check).toThrow(/PostgreSQL 12: postgres:\/\/h\/db; use PostgreSQL 13 or later/);
  });

  test('a read-only server is refused', () => {
    const check = () => requireFit({ ...facts, readOnly: 'on' }, 'postgres://h/db');
    expect(check).toThrow(/read-only: postgres:\/\/h\/db; use the address of the primary/);
  });

  test.each([
    [{}, []],
    [{ synchronousCommit: 'local' }, []],
    [{ fsync: 'off' }, ['fsync']],
    [{ synchronousCommit: 'off', fullPageWrites: 'off' }, ['synchronous_commit', 'full_page_writes']],
  ])('%j has a warning', (change, words) => {
    const warnings = durabilityWarnings({ ...facts, ...change });
    expect(warnings).toHaveLength(words.length);
    for (const [index, word] of words.entries()) expect(warnings[index]?.text).toContain(word);
  });
});
