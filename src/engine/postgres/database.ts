/**
 * The seam between our SQL and the `pg` pool that runs it. All work is done by the functions
 * of the schema `brand_enrich` (`migrations.ts`), one call for each operation of a store. BullMQ's own objects live in
 * the schema `bullmq`.
 */

/** What a parameter may be. Objects and lists travel as JSON text, bytes as bytes. */
export type SqlParam = string | number | boolean | null | Uint8Array;

export type SqlRow = Readonly<Record<string, unknown>>;

export interface SqlDatabase {
  /** Calls `brand_enrich.<name>(...)` and gives its rows. One round trip. Throws what the driver throws. */
  call(name: string, params: readonly SqlParam[]): Promise<readonly SqlRow[]>;
}

/** One session, for what must not be spread over several: migrations and checks. */
export interface SqlSession {
  /** Runs one statement, or several without parameters. */
  query(sql: string, params?: readonly SqlParam[]): Promise<{ rows: SqlRow[] }>;
}

/** A database whose calls are counted and carry the test's clock offset as their first parameter. */
export interface StoreCalls {
  /** Calls a function whose first parameter is the offset of the store's clock. */
  rows(name: string, ...params: SqlParam[]): Promise<readonly SqlRow[]>;
  /** The same for a function that gives one value. */
  value(name: string, ...params: SqlParam[]): Promise<unknown>;
  readonly roundTrips: { readonly count: number };
}

export function createStoreCalls(database: SqlDatabase, clockOffsetMs: () => number): StoreCalls {
  const roundTrips = { count: 0 };
  const rows = (name: string, ...params: SqlParam[]) => {
    roundTrips.count += 1;
    return database.call(name, [clockOffsetMs(), ...params]);
  };
  return {
    rows,
    async value(name, ...params) {
      const [row] = await rows(name, ...params);
      return row === undefined ? null : Object.values(row)[0];
    },
    roundTrips,
  };
}

/**
 * A text that PostgreSQL can keep: NUL and halves of surrogate pairs, which it refuses, become the replacement
 * character. For sentences and names; keys never hold them.
 */
export function storableText(text: string): string {
  return text.replace(/\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD');
}
