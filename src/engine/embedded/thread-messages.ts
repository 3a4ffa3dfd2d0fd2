/**
 * What the process and its database thread say to each other. Everything here can be cloned between threads.
 */
import type { SqlParam, SqlRow } from '../sql/database.js';

export interface ThreadSettings {
  /** Where PGlite keeps its files. */
  readonly dataFolder: string;
  /** A packed database to begin with when the folder is empty; null: make one. */
  readonly templateFile: string | null;
}

export type ToThread =
  /** Without parameters several statements may be given; the last one's rows come back. */
  | {
      readonly type: 'query';
      readonly id: number;
      readonly sql: string;
      readonly params: readonly SqlParam[] | null;
    }
  | { readonly type: 'dump'; readonly id: number }
  | { readonly type: 'close' };

/** What is kept of a database error: BullMQ reads `code` and `detail`. */
export interface ThreadError {
  readonly message: string;
  readonly code: string | undefined;
  readonly detail: string | undefined;
}

export type FromThread =
  | { readonly type: 'ready' }
  | { readonly type: 'unusable'; readonly message: string }
  | { readonly type: 'rows'; readonly id: number; readonly rows: SqlRow[]; readonly rowCount: number }
  | { readonly type: 'dumped'; readonly id: number; readonly bytes: Uint8Array }
  | { readonly type: 'failed'; readonly id: number; readonly error: ThreadError }
  | { readonly type: 'notification'; readonly channel: string; readonly payload: string };
