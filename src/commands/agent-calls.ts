/** What an agent may ask for, within its caps: lookups, plans, files and the account. */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { accountDocument } from '../app/account-status.js';
import type { Brand } from '../brand-api/brand.js';
import { BrandEnrichError, NeverStartError, PausedError } from '../core/errors.js';
import { countOf } from '../core/figures.js';
import { IDENTIFIER_KINDS } from '../core/identifier.js';
import { withinDeadline } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { OUTCOME_STATUSES } from '../core/outcome.js';
import { isOfAll, pauseText, resumeCommand } from '../engine/stores/run-store.js';
import type { FileProgress, FileResult } from '../library/enricher.js';
import type { OpenedEnricher } from '../library/open-enricher.js';
import { DOCUMENTS } from '../run/documents.js';
import { fieldAt, valueAt } from '../run/output/brand-fields.js';
import { newRunId } from '../run/run-record.js';
import type { AgentFiles } from './agent-files.js';

/** Clients give a call a minute. */
const LOOKUPS_MS = 50_000;
/** A file that takes longer goes on, and is asked for again. */
const FILE_MS = 20_000;
const RUNS_LOOKED_AT = 200;
/** What an agent reads of a brand unless it names fields. */
const FIELDS = ['name', 'domain', 'description', 'qualityScore', 'company.industries', 'company.employees'];

const count = z.int().nonnegative();
const today = z
  .object({ spent: count, left: count.describe('what may still be sent today') })
  .describe('requests of all servers of this name that were or may have been billed');
const lookup = {
  kind: z.enum(IDENTIFIER_KINDS).optional().describe('default: judged from the value'),
  fields: z
    .array(z.string())
    .max(50)
    .optional()
    .describe(`paths into the brand, such as company.location.city; default: ${FIELDS.join(', ')}`),
};
const file = {
  path: z.string().describe('of the file, below the root of this server'),
  column: z.array(z.string()).optional().describe('NAME or NAME:KIND; further ones for blank cells'),
  where: z
    .array(z.string())
    .optional()
    .describe('COLUMN=VALUE, COLUMN:blank or COLUMN:filled; all must hold'),
  sheet: z.string().optional().describe('of a workbook'),
  limit: z.int().positive().optional().describe('read at most this many rows'),
};
const found = {
  input: z.string(),
  status: z.enum(OUTCOME_STATUSES),
  identifier: z.string().nullable().describe('what was looked up'),
  brand: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullable(),
  source: z.enum(['api', 'stored']).nullable(),
  billed: count.describe('requests that were or may have been billed; 0: stored, or free'),
  error: z.string().nullable(),
};
const { plan, report, ledger } = DOCUMENTS;

/** Arguments and answers of the calls. */
export const CALLS = {
  lookupBrand: {
    input: z.object({ identifier: z.string(), ...lookup }),
    output: z.object({ ...found, today }),
  },
  lookupBrands: {
    input: z.object({ identifiers: z.array(z.string()).min(1).max(100), ...lookup }),
    output: z.object({ rows: z.array(z.object(found)), today }),
  },
  planFile: {
    input: z.object(file),
    output: z.object({
      ...plan.pick({ rows: true, identifiers: true, requests: true, files: true }).shape,
      ...plan.shape.input.pick({ columns: true, warnings: true }).shape,
      today,
    }),
  },
  enrichFile: {
    input: z.object({
      ...file,
      output: z.string().optional().describe('the new file; default: NAME.enriched.EXT beside it'),
      nameColumn: z.string().optional().describe("the column with each company's name, to compare"),
    }),
  },
  runStatus: {
    input: z.object({ run: z.string() }),
    output: z.object({
      run: z.string(),
      state: z.enum(['running', 'finished', 'stopped', 'failed', 'cancelled']),
      reason: z.string().nullable().describe('why it stopped or failed'),
      progress: z.object({ wanted: count, answered: count }).nullable(),
      rows: report.shape.rows.nullable(),
      billed: count.nullable(),
      output: z.string().nullable(),
      errors: z.string().nullable().describe('the file of the rows without an answer'),
      today,
    }),
  },
  account: {
    input: z.object({}),
    output: z.object({
      ...ledger.shape.account.pick({ period: true, quota: true, limit: true, used: true, left: true }).shape,
      today,
    }),
  },
};
type Input<Name extends keyof typeof CALLS> = z.infer<(typeof CALLS)[Name]['input']>;
type RunStatus = z.infer<typeof CALLS.runStatus.output>;

export interface AgentTerms {
  readonly name: string;
  /** Whose the runs are: a pause of one stops all. */
  readonly owner: string;
  /** Billable requests of a day, and those that one call may need. */
  readonly perDay: number;
  readonly perCall: number;
}

/** A file that this process works on, or has worked on. */
interface AgentRun {
  progress: FileProgress | null;
  result: FileResult | null;
  error: string | null;
}

/** `stop` ends lookups; closing the enricher ends files. */
export function createAgentCalls(
  { enricher, engine, service, runFile, capsKey }: OpenedEnricher,
  { name, owner, perDay, perCall }: AgentTerms,
  files: AgentFiles,
  { log, stop }: { readonly log: Log; readonly stop: AbortSignal },
) {
  const runs = new Map<string, AgentRun>();

  /** The account, with what the runs of the day have taken by its ledger. */
  async function readAccount() {
    const key = capsKey();
    const run = (await engine.runs.list(RUNS_LOOKED_AT)).find((each) => each.key === key);
    const state = await engine.ledger.show(service.account, run?.id);
    const spent = state.run?.requests ?? 0;
    return { state, today: { spent, left: Math.max(0, perDay - spent) } };
  }

  async function assertNotPaused(): Promise<void> {
    const pause = (await engine.runs.pauses()).find((each) => each.owner === owner || isOfAll(each));
    if (pause === undefined) return;
    const todo = `a person resumes it with ${resumeCommand(pause, name)}`;
    throw new PausedError({ code: 'paused', what: pauseText(pause), subject: name, todo });
  }

  async function lookUp(
    given: readonly string[],
    { kind, fields = FIELDS }: Omit<Input<'lookupBrand'>, 'identifier'>,
  ) {
    if (given.length > perCall)
      throw tooMuch(`${countOf(given.length, 'identifier')} in one call`, 'send fewer');
    await assertNotPaused();
    const signal = AbortSignal.any([AbortSignal.timeout(LOOKUPS_MS), stop]);
    const rows = [];
    for await (const each of enricher.enrich(given, { signal, kind })) {
      const { input, status, brand, source, billed, error } = each;
      const identifier = each.identifier === null ? null : `${each.kind}:${each.identifier}`;
      rows.push({
        input,
        status,
        identifier,
        brand: brand && shortBrand(brand, fields),
        source,
        billed,
        error,
      });
    }
    return rows;
  }

  function tooMuch(subject: string, todo: string): NeverStartError {
    const what = `one call may need ${countOf(perCall, 'paid lookup')}`;
    const orMore = `${todo}, or ask a person to start this server with a higher --per-call`;
    return new NeverStartError({ code: 'usage-invalid', what, subject, todo: orMore });
  }

  function assertFits(requests: number): void {
    if (requests <= perCall) return;
    throw tooMuch(
      `the file needs ${countOf(requests, 'paid lookup')}`,
      'select fewer rows with limit or where',
    );
  }

  async function planOf({ path, output, ...given }: Input<'enrichFile'>) {
    const input = await files.readable(path);
    const options = { ...given, ...(output !== undefined && { output: await files.place(output) }) };
    return { input, options, plan: await enricher.plan(input, options) };
  }

  async function begin(request: Input<'enrichFile'>): Promise<string> {
    await assertNotPaused();
    const { input, options, plan } = await planOf(request);
    assertFits(plan.requests.most);
    const { output, errors, report } = plan.files;
    const page = report.replace(/[.]json$/, '.html');
    // What stands beside the partial file of a run that stopped is its own: it goes on.
    const goesOn = existsSync(output.replace(/(?=[.][^./]+(?:[.]gz)?$)/, '.partial'));
    await files.assertNew([output, ...(goesOn ? [] : [errors, report, page])]);
    const id = newRunId(Date.now());
    const run: AgentRun = { progress: null, result: null, error: null };
    runs.set(id, run);
    const onProgress = (progress: FileProgress) => {
      run.progress = progress;
    };
    // The file may have grown, or stored answers may have aged, since it was planned.
    const confirm = async ({ requests }: { readonly requests: number }) => {
      assertFits(requests);
      return true;
    };
    const job = { id, job: id, owner };
    const ended = runFile(input, { ...options, onProgress }, { job, confirm })
      .then((result) => {
        run.result = result;
      })
      .catch((error) => {
        run.error = errorForAgent(error, log);
      });
    await withinDeadline(ended, FILE_MS);
    return id;
  }

  async function statusOf(id: string): Promise<RunStatus> {
    const { today } = await readAccount();
    const nothing = {
      reason: null,
      progress: null,
      rows: null,
      billed: null,
      output: null,
      errors: null,
      today,
    };
    const { result = null, error = null, progress = null } = runs.get(id) ?? {};
    if (error !== null) return { run: id, ...nothing, state: 'failed', reason: error };
    if (result !== null) {
      const { isComplete, reason, rows, requests, output, errors } = result;
      const state = isComplete ? 'finished' : 'stopped';
      return {
        run: id,
        ...nothing,
        state,
        reason,
        rows: { ...rows },
        billed: requests.billed,
        output,
        errors,
      };
    }
    if (progress !== null) {
      const { wanted, answered, billed } = progress;
      return { run: id, ...nothing, state: 'running', progress: { wanted, answered }, billed };
    }
    const record = await engine.runs.get(id);
    if (record !== null) {
      const state = record.status === 'completed' ? 'finished' : record.status;
      return { run: id, ...nothing, state, billed: record.tally.billed };
    }
    if (runs.has(id)) return { run: id, ...nothing, state: 'running' };
    const todo = 'use the id that enrich_file gave';
    throw new NeverStartError({ code: 'usage-invalid', what: 'no such run', subject: id, todo });
  }

  return {
    async lookupBrand({ identifier, ...options }: Input<'lookupBrand'>) {
      const [row] = await lookUp([identifier], options);
      if (row === undefined) throw new Error('an identifier without a result');
      return { ...row, today: (await readAccount()).today };
    },
    async lookupBrands({ identifiers, ...options }: Input<'lookupBrands'>) {
      return { rows: await lookUp(identifiers, options), today: (await readAccount()).today };
    },
    async planFile(request: Input<'planFile'>) {
      const { rows, identifiers, requests, files, input } = (await planOf(request)).plan;
      const { columns, warnings } = input;
      return { rows, identifiers, requests, files, columns, warnings, today: (await readAccount()).today };
    },
    enrichFile: async (request: Input<'enrichFile'>) => statusOf(await begin(request)),
    runStatus: ({ run }: Input<'runStatus'>) => statusOf(run),
    async account() {
      const { state, today } = await readAccount();
      const { period, quota, limit, used, left } = accountDocument(service.account, state);
      return { period, quota, limit, used, left, today };
    },
  };
}

/** Fields without a value are left out. */
function shortBrand(brand: Brand, fields: readonly string[]): Record<string, string | number | boolean> {
  const read = fields.map((path) => {
    const value = valueAt(brand, path);
    const isPlain = typeof value === 'number' || typeof value === 'boolean';
    return [path, isPlain ? value : fieldAt(brand, path)] as const;
  });
  return Object.fromEntries(read.filter(([, value]) => value !== ''));
}

/** What an agent reads of an error; what is unexpected is in the log alone. */
export function errorForAgent(error: unknown, log: Log): string {
  if (error instanceof BrandEnrichError) return error.inWords('keys').message;
  if (error instanceof Error && error.name === 'TimeoutError')
    return 'not all answers came within 50 s: call again, what was bought is stored';
  log.error({ err: error }, 'a call of an agent failed');
  return 'this is a bug: the log of the server says more';
}
