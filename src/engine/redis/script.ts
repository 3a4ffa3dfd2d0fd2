/**
 * A Lua script with its hash, so that it is sent to Redis once and called by hash from then on. How it is called, and what
 * happens when Redis does not know it, is in `store-connection.ts`.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { RULES } from '../../ledger/rules.js';
import { KEEP_ANSWERS_MS } from '../../stores/freshness.js';

export interface Script {
  readonly source: string;
  /** SHA-1 of the source, as `EVALSHA` asks for. */
  readonly sha: string;
}

/** What every script gets as its first argument: `prelude.lua` reads it. */
export const RULES_ARGUMENT = JSON.stringify({ ...RULES, keepAnswersMs: KEEP_ANSWERS_MS });

/** Reads a script of this folder. `--- @include "other.lua"` puts another file before it, each file once. */
export function loadScript(name: string): Script {
  const included = new Set<string>();
  const read = (file: string): string => {
    if (included.has(file)) return '';
    included.add(file);
    return readFileSync(new URL(file, import.meta.url), 'utf8').replaceAll(
      /^--- @include "(.+)"\r?\n/gm,
      (_, other: string) => read(other),
    );
  };
  const source = read(name);
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/** One argument of a script: null becomes the empty text, a boolean `1` or `0`. */
export type ScriptArgument = string | number | boolean | null | Buffer;

export function argumentText(value: ScriptArgument): string | Buffer {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'number' ? String(value) : value;
}
