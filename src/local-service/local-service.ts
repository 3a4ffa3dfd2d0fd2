/**
 * The local service. Every request passes these checks, in this order:
 *
 * not /v2/brands/ -> 404    other method -> 405    no valid credentials -> 401
 * malformed -> 400, no route -> 404    own brand domain or HEAD -> free
 * quota, overage and budget used up -> 429    else billed: 200 or 404
 *
 * A billed answer is sent only after its request is on record.
 */
import { openSync } from 'node:fs';
import { QUOTA_HEADER, USAGE_HEADER } from '../brand-api/protocol.js';
import { isNamedPipe } from '../core/plain-file.js';
import { systemWords } from '../core/system-error.js';
import type { Account } from './accounts.js';
import { addOwnBrand, asksForOwnDomain, type Catalogue, findBrand } from './catalogue.js';
import { LineFile, orUnwritable } from './line-file.js';
import { Meter, type MeterOptions } from './meter.js';
import {
  askedIdentifier,
  type HeaderFields,
  jsonAnswer,
  readRequest,
  type Service,
  type ServiceRequest,
  type ServiceResponse,
} from './service-request.js';

export interface LocalServiceOptions extends MeterOptions {
  /** The service adds its own brand if it is missing. */
  readonly catalogue: Catalogue;
  /** The service's own domain, which is free to ask for. */
  readonly ownDomain: string;
  readonly journalFile?: string | undefined;
}

const NO_BODY = Buffer.alloc(0);

export class LocalService implements Service {
  readonly #journal: LineFile | null;
  readonly #meter: Meter;
  #isClosed = false;
  #isMemoryOnly = false;

  constructor(private readonly options: LocalServiceOptions) {
    addOwnBrand(options.catalogue, options.ownDomain);
    this.#journal = options.journalFile === undefined ? null : openJournal(options.journalFile);
    this.#meter = new Meter(options);
  }

  handle(request: ServiceRequest): ServiceResponse | Promise<ServiceResponse> {
    const { catalogue, accounts, ownDomain } = this.options;
    const { method } = request;
    if (this.#isClosed) return this.#answer(method, 503);
    const asked = readRequest(request);
    if (asked.type === 'refused' && asked.isOutside) {
      return this.#answer(method, asked.status, asked.status === 405 ? { allow: 'GET, HEAD' } : {});
    }
    const account = accounts.authenticate(request.authorization);
    if (account === undefined) return this.#answer(method, 401, { 'www-authenticate': 'Bearer' });
    if (asked.type === 'refused') return this.#answer(method, asked.status, this.#usageHeaders(account));

    const { route, allowNsfw } = asked;
    const isOwn = asksForOwnDomain(route, ownDomain);
    if (!isOwn && this.#meter.isSpent(account)) return this.#answer(method, 429, this.#usageHeaders(account));
    const entry = findBrand(catalogue, route, allowNsfw);
    const status = entry === undefined ? 404 : 200;
    const isFree = isOwn || method === 'HEAD';
    if (!isFree) {
      this.#meter.count(account);
      const { kind, value: identifier } = askedIdentifier(route);
      const time = new Date(this.options.clock.now()).toISOString();
      this.#journal?.add(JSON.stringify({ time, account: account.name, kind, identifier, status }));
    }
    const answer = this.#answer(method, status, this.#usageHeaders(account), entry?.body);
    return isFree ? answer : this.#recorded(answer);
  }

  /** Writes the statements of past months, even if no request arrives. */
  closeMonths(): void {
    this.#meter.closeMonths();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const each of [this.#meter, this.#journal]) {
      try {
        await each?.close();
      } catch (error) {
        const words = 'the last counts could not be recorded and are lost';
        this.options.log.error({ error: systemWords(error) }, words);
      }
    }
  }

  #answer(method: string, status: number, headers?: HeaderFields, body?: Buffer): ServiceResponse {
    const answer = jsonAnswer(status, this.options.clock.now(), headers, body);
    return method === 'HEAD' ? { ...answer, body: NO_BODY } : answer;
  }

  #usageHeaders(account: Account): HeaderFields {
    return { [QUOTA_HEADER]: String(account.quota), [USAGE_HEADER]: String(this.#meter.usage(account)) };
  }

  /** Waits until the request is on record; if the disk fails, the request is billed anyway. */
  async #recorded(response: ServiceResponse): Promise<ServiceResponse> {
    const { log } = this.options;
    try {
      await this.#meter.written();
      this.#journal?.write();
      if (this.#isMemoryOnly) log.info('usage is recorded again');
      this.#isMemoryOnly = false;
    } catch (error) {
      if (!this.#isMemoryOnly) {
        const consequence = 'it is counted in memory, and lost if this process is killed';
        log.error({ error: systemWords(error) }, `usage cannot be recorded: ${consequence}`);
      }
      this.#isMemoryOnly = true;
    }
    return response;
  }
}

function openJournal(path: string): LineFile {
  return orUnwritable('the journal cannot be written', path, 'name a file', () => {
    if (isNamedPipe(path)) throw new Error('it is a named pipe');
    return new LineFile(openSync(path, 'a', 0o600));
  });
}
