/**
 * A run as fields of a hash, and back. The settings travel whole as JSON; those that the ledger judges by stand beside them
 * as fields of their own.
 */
import type { NewRun, RunRecord, RunSettings, RunStatus, Tally } from '../../stores/run-store.js';
import type { ReplyReader } from './reply-reader.js';
import type { ScriptArgument } from './script.js';

const STATUSES: readonly RunStatus[] = ['running', 'completed', 'stopped', 'cancelled'];

/** Name and value of each field that the start of a run sets, besides id, key and account. */
export function runFields({ label, settings }: NewRun): ScriptArgument[] {
  return [
    ...['label', label],
    ...['settings', JSON.stringify(settings)],
    ...['plan', settings.plan],
    ...['overage', settings.overage],
    ...['quotaCap', settings.quotaCap],
    ...['maxRequests', settings.maxRequests],
    ...['maxOverageRequests', settings.maxOverageRequests],
  ];
}

export function tallyFields(tally: Tally): ScriptArgument[] {
  const { matched, notFound, failed, stored, requests, billed } = tally;
  return Object.entries({ matched, notFound, failed, stored, requests, billed }).flat();
}

export function readTally(reply: ReplyReader): Tally {
  return {
    matched: reply.number(),
    notFound: reply.number(),
    failed: reply.number(),
    stored: reply.number(),
    requests: reply.number(),
    billed: reply.number(),
  };
}

/** null for the empty reply that an unknown run gives. */
export function readRunRecord(flat: readonly string[]): RunRecord | null {
  if (flat.length === 0) return null;
  const fields = new Map<string, string>();
  for (let i = 0; i + 1 < flat.length; i += 2) fields.set(flat[i] ?? '', flat[i + 1] ?? '');
  const text = (name: string) => fields.get(name) ?? '';
  const number = (name: string) => Number(text(name));
  const someNumber = (name: string) => (text(name) === '' ? null : number(name));
  return {
    id: text('id'),
    key: text('key'),
    label: text('label'),
    settings: JSON.parse(text('settings')) as RunSettings,
    asOf: number('asOf'),
    keyStartedAt: number('keyStartedAt'),
    beatAt: number('beatAt'),
    status: STATUSES.find((status) => status === text('status')) ?? 'stopped',
    reason: text('reason') || null,
    rows: someNumber('rows'),
    identifiers: someNumber('identifiers'),
    tally: {
      matched: number('matched'),
      notFound: number('notFound'),
      failed: number('failed'),
      stored: number('stored'),
      requests: number('requests'),
      billed: number('billed'),
    },
    spent: number('spent'),
    overageBilled: number('overageBilled'),
  };
}
