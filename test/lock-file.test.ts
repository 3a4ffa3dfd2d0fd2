/**
 * The lock file covers every platform. An `npm install` behind a registry that lacks packages of
 * other platforms leaves their entries out, and then `npm ci` refuses the file on a clean clone.
 */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

interface LockedPackage {
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Readonly<Record<string, LockedPackage>>;
};

it('every optional dependency of a locked package is locked too', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`])
      .map((name) => `${path}: ${name}`),
  );
  expect(missing).toEqual([]);
});
