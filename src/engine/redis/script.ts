/**
 * A Lua script with its hash, so that it is sent to Redis once and called by hash from then on. How it is called, and what
 * happens when Redis does not know it, is `store-connection.ts`'s.
 */
import { createHash } from 'node:crypto';

export interface Script {
  readonly source: string;
  /** SHA-1 of the source, as `EVALSHA` asks for. */
  readonly sha: string;
}

/** Joins parts of Lua into one script. */
export function script(...parts: readonly string[]): Script {
  const source = parts.join('\n');
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}

/** One argument of a script: null becomes the empty text, a boolean `1` or `0`. */
export type ScriptArgument = string | number | boolean | null | Buffer;

export function argumentText(value: ScriptArgument): string | Buffer {
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? '1' : '0';
  return typeof value === 'number' ? String(value) : value;
}
