/**
 * The local service. Every request passes these checks, in this order:
 *
 * not /v2/brands/ -> 404    other method -> 405    no valid credentials -> 401
 * malformed -> 400, no route -> 404    own brand domain or HEAD -> free
 * quota, overage and budget used up -> 429    else billed: 200 or 404
 *
 * A billed answer is sent only after its request is on record.
 */

import { closeSync, openSync, writeSync } from 'node:fs';
import type { Clock } from '../core/clock.js';
import { FailFileError } from '../core/errors.js';
import { type Identifier, identifierText } from '../core/identifier.js';
import type { Log } from '../core/log.js';
import { systemWords } from '../core/system-error.js';
import { QUOTA_HEADER, USAGE_HEADER } from '../lookup/response-headers.js';
import type { Account, Accounts } from './accounts.js';
import type { Catalogue, CatalogueEntry } from './catalogue.js';
import { asksForOwnDomain, findBrand, withOwnBrand } from './find-brand.js';
import { createMeter } from './meter.js';
import {
  askedIdentifier,
  readRequest,
  type Service,
  type ServiceRequest,
  type ServiceResponse,
} from './service-request.js';
import { openStatementFile, type Statement } from './statements.js';
import { openUsageJournal } from './usage-journal.js';
import { createNotifier } from './usage-notice.js';

export interface CreateServiceOptions {
  readonly catalogue: Catalogue;
  readonly accounts: Accounts;
  /** The service's own brand domain: asking for it is free, and it is always there. */
  readonly ownDomain: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Where usage is kept; in memory when absent. One process at a time (`usage-lock.ts`). */
  readonly usageFile?: string | undefined;
  /** Where statements of closed months are kept; in memory when absent. */
  readonly statementFile?: string | undefined;
  /** One line per billed request is appended here. */
  readonly journalFile?: string | undefined;
  /** Counts billed requests per identifier in memory, for tests. Default false. */
  readonly trace?: boolean | undefined;
}

export interface LocalService extends Service {
  /** The statement of an account for a month (`YYYY-MM`, default the current one). Undefined: no such account, or a lifetime quota. */
  statement(account: string, month?: string): Statement | undefined;
  /** How often each identifier (`kind:value`) was billed; empty without `trace`. */
  readonly billedCounts: ReadonlyMap<string, number>;
  /** Writes the statements of months that are over; requests do it too, this is for a service nobody asks. */
  closeMonths(): void;
}

const EMPTY_OBJECT = Buffer.from('{}');
const NO_BODY = Buffer.alloc(0);

/** Throws `FailFileError` when one of the files cannot be kept. */
export function createService(options: CreateServiceOptions): LocalService {
  const { accounts, ownDomain, clock, log } = options;
  const catalogue = withOwnBrand(options.catalogue, ownDomain);
  const journal = openUsageJournal(options.usageFile ?? null);
  const billed = openBilledLog({ path: options.journalFile ?? null, trace: options.trace ?? false });
  const notifier = createNotifier({ accounts: accounts.all, mail: accounts.mail, journal, clock, log });
  const meter = createMeter({
    accounts: accounts.all,
    journal,
    statements: openStatementFile(options.statementFile ?? null),
    notifier,
    clock,
    log,
  });
  const dateText = createDateText(clock);
  meter.closeMonths();
  let isClosed = false;

  const answer = (
    request: ServiceRequest,
    status: number,
    body: Buffer,
    account?: Account,
    more?: Record<string, string>,
  ): ServiceResponse => ({
    status,
    headers: {
      'content-type': 'application/json',
      'content-length': String(body.length),
      date: dateText(),
      ...(account && {
        [QUOTA_HEADER]: String(account.quota),
        [USAGE_HEADER]: String(meter.usage(account)),
      }),
      ...more,
    },
    body: request.method === 'HEAD' ? NO_BODY : body,
  });
  const answerBrand = (request: ServiceRequest, entry: CatalogueEntry | undefined, account: Account) =>
    answer(request, entry ? 200 : 404, entry?.body ?? EMPTY_OBJECT, account);

  let isMemoryOnly = false;
  /** What was counted is billed, whether the disk took it or not. */
  const recorded = async (response: ServiceResponse): Promise<ServiceResponse> => {
    try {
      await journal.written();
      billed.write();
      if (isMemoryOnly) log.info('usage is recorded again');
      isMemoryOnly = false;
    } catch (error) {
      if (!isMemoryOnly) {
        const consequence = 'it is counted in memory until it can be, and lost when this process is killed';
        log.error({ error: systemWords(error) }, `usage cannot be recorded: ${consequence}`);
      }
      isMemoryOnly = true;
    }
    return response;
  };

  return {
    handle(request) {
      if (isClosed) return answer(request, 503, EMPTY_OBJECT);
      const asked = readRequest(request);
      if (asked.type === 'refused' && asked.isOutside) {
        const allow = asked.status === 405 ? { allow: 'GET, HEAD' } : undefined;
        return answer(request, asked.status, EMPTY_OBJECT, undefined, allow);
      }
      const account = accounts.authenticate(request.authorization);
      if (account === undefined) {
        return answer(request, 401, EMPTY_OBJECT, undefined, { 'www-authenticate': 'Bearer' });
      }
      if (asked.type === 'refused') return answer(request, asked.status, EMPTY_OBJECT, account);

      const isOwn = asksForOwnDomain(asked.route, ownDomain);
      if (!isOwn && meter.isSpent(account)) return answer(request, 429, EMPTY_OBJECT, account);
      const entry = findBrand(catalogue, asked.route, asked.allowNsfw);
      if (isOwn || request.method === 'HEAD') return answerBrand(request, entry, account);

      meter.count(account);
      billed.note({
        atMs: clock.now(),
        account: account.name,
        identifier: askedIdentifier(asked.route),
        status: entry ? 200 : 404,
      });
      return recorded(answerBrand(request, entry, account));
    },
    statement(name, month) {
      const account = accounts.all.find((candidate) => candidate.name === name);
      return account && meter.statement(account, month);
    },
    billedCounts: billed.counts,
    closeMonths: () => meter.closeMonths(),
    async close() {
      if (isClosed) return;
      isClosed = true;
      // Until the last word of a delivery is in the journal.
      await notifier.close();
      for (const file of [journal, billed]) {
        try {
          file.close();
        } catch (error) {
          log.error(
            { error: systemWords(error) },
            'what was counted last could not be recorded, and is lost',
          );
        }
      }
    },
  };
}

/** The `Date` header (RFC 9110, 6.6.1), made once a second. */
function createDateText(clock: Clock): () => string {
  let second = Number.NaN;
  let text = '';
  return () => {
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) {
      second = now;
      text = new Date(now * 1000).toUTCString();
    }
    return text;
  };
}

interface BilledRequest {
  readonly atMs: number;
  readonly account: string;
  /** As it was asked: the kind of the explicit route, `id` or `auto` on the generic one; the value as sent. */
  readonly identifier: Identifier;
  readonly status: number;
}

interface BilledLog {
  note(request: BilledRequest): void;
  /** Writes what was noted since the last call; the operating system has it on return. */
  write(): void;
  /** How often each identifier (`kind:value`) was billed; empty unless traced. */
  readonly counts: ReadonlyMap<string, number>;
  close(): void;
}

/** Appends to `path`. Throws `FailFileError` when it cannot be opened. */
function openBilledLog(options: { path: string | null; trace: boolean }): BilledLog {
  const descriptor = options.path === null ? null : open(options.path);
  const counts = new Map<string, number>();
  let lines = '';
  let left: Buffer = Buffer.alloc(0);
  const write = () => {
    if (descriptor === null || (lines === '' && left.length === 0)) return;
    // What the disk does not take now goes with the next write.
    left = Buffer.concat([left, Buffer.from(lines, 'utf8')]);
    lines = '';
    while (left.length > 0) left = left.subarray(writeSync(descriptor, left));
  };
  return {
    note({ atMs, account, identifier, status }) {
      if (options.trace) {
        const text = identifierText(identifier);
        counts.set(text, (counts.get(text) ?? 0) + 1);
      }
      if (descriptor === null) return;
      const { kind, value } = identifier;
      const time = new Date(atMs).toISOString();
      lines += `${JSON.stringify({ time, account, kind, identifier: value, status })}\n`;
    },
    write,
    counts,
    close() {
      try {
        write();
      } finally {
        if (descriptor !== null) closeSync(descriptor);
      }
    },
  };
}

function open(path: string): number {
  try {
    return openSync(path, 'a', 0o600);
  } catch (error) {
    throw new FailFileError({
      code: 'output-unwritable',
      what: 'the journal cannot be written',
      subject: path,
      todo: 'name a file in a folder that can be written to',
      cause: error,
    });
  }
}
