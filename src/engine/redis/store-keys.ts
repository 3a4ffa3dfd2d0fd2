/**
 * The names under which the stores keep things in Redis. All carry one hash tag, so every script finds its keys in one slot
 * of a cluster, BullMQ's included. Lua builds the rest of a name from the same words; this table tells what lies where.
 *
 *   account:<account>     hash    the account as numbers (`account.lua`)
 *   permits               hash    permit -> packed record, of every account
 *   deadlines:<account>   zset    permit -> when it counts as sent
 *   live:<account>        set     runs whose policy holds, pruned when they are found dead
 *   run:<id>              hash    one run; expires 7 days after its last sign of life
 *   runs, run-number      zset    runs in the order of their start, and the counter that orders them
 *   failures:<id>         hash    failed lookups of a run
 *   chunks:<id>           bitmap  chunks that were counted as finished
 *   tallies:<id>          hash    who reports -> what it counted for a run so far
 *   key:<run key>         hash    when the first run of this key started, and its caps so far
 *   doubts:<run>          hash    outcome key -> answers billed or perhaps billed without use; 2 days
 *   workers               zset    worker -> last heartbeat
 *   claim:<outcome key>   string  packed: worker, and the permit that was granted under the claim
 *   o:<outcome key>       string  a stored answer (`outcome-value.ts`); 30 days
 *   notes:<scope>         hash    name -> when it was written, a blank, and the text
 *   paused                string  there while all spending is stopped
 *
 * A queue must not be called by one of these words.
 */

export const DEFAULT_NAMESPACE = 'brand-enrich';

/** BullMQ's `prefix`: the hash tag itself. */
export function queuePrefix(namespace: string): string {
  return `{${namespace}}`;
}

/** What the name of every key of the stores begins with; each script is handed it as its one declared key. */
export function storeRoot(namespace: string): string {
  return `{${namespace}}:`;
}

export function outcomeName(root: string, key: string): string {
  return `${root}o:${key}`;
}
