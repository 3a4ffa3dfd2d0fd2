/** From what a program gives for one row to its result: identified, looked up, in one form. */
import { IDENTIFIER_KINDS, type IdentifierKind } from '../core/identifier.js';
import { sayRowReason } from '../core/row-reason.js';
import { identifyRow } from '../input/identify/identify-cell.js';
import { isoTime } from '../run/output/columns.js';
import type { Candidate, Candidates, Enriched } from './enricher.js';
import type { Ask } from './lookups.js';
import type { Found } from './waiters.js';

/**
 * `candidatesOf`: code of the program, which may throw. Rejects with what `ask` rejects with; data
 * never throw.
 */
export async function findBrand<Input>(
  input: Input,
  candidatesOf: (input: Input) => Candidates,
  { kind, waterfall }: { readonly kind: IdentifierKind; readonly waterfall: boolean },
  ask: Ask,
): Promise<Enriched<Input>> {
  let cells: ReturnType<typeof cellsOf>;
  try {
    cells = cellsOf(candidatesOf(input), kind);
  } catch (error) {
    return withoutLookup(input, 'invalid', `its identifier cannot be read (${reasonOf(error)})`);
  }
  const choices = cells.map((cell, column) => ({ column, name: '', kind: cell.kind }));
  if (choices.some((choice) => !IDENTIFIER_KINDS.includes(choice.kind)))
    return withoutLookup(input, 'invalid', `no such kind; use one of ${IDENTIFIER_KINDS.join(', ')}`);
  const { identifiers, otherwise } = identifyRow(
    cells.map(({ value }) => value),
    choices,
  );
  const [first, ...others] = identifiers;
  if (first === undefined) return withoutLookup(input, otherwise.type, sayRowReason(otherwise.reason));
  let used = first;
  let found: Found = await ask(first);
  let { billed } = found;
  for (const next of waterfall && found.status === 'not_found' ? others : []) {
    const second = await ask(next);
    billed += second.billed;
    if (second.status === 'not_found') continue;
    used = next;
    found = second;
    break;
  }
  const { status, brand, source, error, stopped = null } = found;
  const fetchedAt = isoTime(found.fetchedAt);
  const about = { input, kind: used.kind, identifier: used.value, source, fetchedAt, billed, error, stopped };
  if (status === 'matched') return { ...about, status, brand: brand ?? {} };
  return { ...about, status, brand: null };
}

/** Values other than texts are read as texts: a number or an object is an invalid one. */
function cellsOf(candidates: Candidates, kind: IdentifierKind): { value: string; kind: IdentifierKind }[] {
  const all: readonly (string | Candidate | null | undefined)[] = [candidates].flat();
  return all.map((each) => {
    const given = typeof each === 'object' && each !== null && 'value' in each ? each : { value: each };
    return { value: String(given.value ?? ''), kind: ('kind' in given ? given.kind : undefined) ?? kind };
  });
}

function withoutLookup<Input>(input: Input, status: 'invalid' | 'skipped', error: string): Enriched<Input> {
  const nothing = { kind: null, identifier: null, brand: null, source: null, fetchedAt: null };
  return { input, status, ...nothing, billed: 0, error, stopped: null };
}

/** What was thrown in the program's own code; its text may throw in turn. */
function reasonOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return 'an error without a message';
  }
}
