/**
 * Inboxes that take no file because their own settings cannot be used: noted in the engine by whoever watches them, so that
 * `status` and the dashboard of any process tell.
 */
import { hostname } from 'node:os';
import { z } from 'zod';
import type { KeyValueStore } from '../../stores/key-value-store.js';

const SCOPE = 'closed-inbox';
/** A note is written anew with every look at the inbox; an older one is of a watcher that is no more. */
const FORGOTTEN_AFTER_MS = 60_000;

const noteShape = z.object({ host: z.string(), folder: z.string(), why: z.string() });
export type ClosedInbox = z.infer<typeof noteShape>;

/** Of one inbox. */
export interface ClosedNote {
  /** `why` null: the inbox is open. An engine that does not answer is no trouble of it. Never rejects. */
  note(why: string | null): Promise<void>;
}

export function createClosedNote(notes: KeyValueStore, folder: string): ClosedNote {
  const host = hostname();
  const name = `${host}:${folder}`;
  let isNoted = false;
  return {
    async note(why) {
      if (why === null && !isNoted) return;
      try {
        if (why === null) await notes.remove(SCOPE, name, null);
        else await notes.put(SCOPE, name, JSON.stringify({ host, folder, why } satisfies ClosedInbox));
        isNoted = why !== null;
      } catch {
        // The log has it, and the next look notes it.
      }
    },
  };
}

/** All of them, on every machine. Throws what the store throws. */
export async function listClosedInboxes(notes: Pick<KeyValueStore, 'list'>): Promise<ClosedInbox[]> {
  const found = await notes.list(SCOPE);
  return found
    .filter(({ ageMs }) => ageMs <= FORGOTTEN_AFTER_MS)
    .map(({ text }) => noteShape.parse(JSON.parse(text)));
}

/** Why the inbox with this folder on this machine is closed; null: it is open. */
export function whyClosedHere(closed: readonly ClosedInbox[], folder: string): string | null {
  return closed.find((each) => each.folder === folder && each.host === hostname())?.why ?? null;
}

/** A line for each; nothing when all are open. */
export function closedInboxesText(closed: readonly ClosedInbox[]): string {
  return closed
    .map(({ host, folder, why }) => `inbox       ${folder} on ${host} is closed: ${why}\n`)
    .join('');
}
