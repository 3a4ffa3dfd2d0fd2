/** The calls of agents, within their caps: lookups, plans, files and the account. */
import { existsSync } from 'node:fs';
import { z } from 'zod';
import { accountDocument } from '../app/account-status.js';
import type { Brand } from '../brand-api/brand.js';
import { BrandEnrichError, ConfigError, throwProblems } from '../core/errors.js';
import { countOf } from '../core/figures.js';
import { IDENTIFIER_KINDS } from '../core/identifier.js';
import { withinDeadline } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { OUTCOME_STATUSES } from '../core/outcome.js';
import type { FileProgress } from '../library/enricher.js';
import type { OpenedEnricher } from '../library/open-enricher.js';
import { DOCUMENTS } from '../run/documents.js';
import { columnOf } from '../run/output/columns.js';
import { NOTHING_ASKED } from '../run/output/output-plan.js';
import { assertNotPaused, newRunId } from '../run/run-record.js';
import { findFieldProblems } from '../settings/setting-rules.js';
import type { AgentFiles } from './agent-files.js';

/** Less than the minute that MCP clients wait for a call. */
const LOOKUPS_MS = 50_000;
/** After this time `enrich_file` returns, and the agent asks for the state of its run. */
const FILE_MS = 20_000;
const RUNS_LOOKED_AT = 200;
/** Fields of a brand that an agent reads by default. */
const FIELDS = ['name', 'domain', 'description', 'qualityScore', 'company.industries', 'company.employees'];

const count = z.int().nonnegative();
const text = z.string();
const texts = z.array(text);
const textOrNull = text.nullable();
const today = z
  .object({ spent: count, left: count.describe('requests that may still be sent today') })
  .describe('requests of all servers of this name that were or may have been billed');
const fieldsText = `as --fields takes them, such as company.location.city; default: ${FIELDS.join(', ')}`;
const ofIdentifier = 'domain, ISIN, ticker, crypto symbol or brand id; the service knows no company names';
const lookup = {
  kind: z.enum(IDENTIFIER_KINDS).optional().describe('default: judged from the value'),
  fields: texts.max(50).optional().describe(fieldsText),
};
const file = {
  path: text.describe('path of the file, below the root folder of this server'),
  column: texts.optional().describe('NAME or NAME:KIND; later ones are fallbacks for blank cells'),
  where: texts.optional().describe('COLUMN=VALUE, COLUMN:blank or COLUMN:filled; all must hold'),
  sheet: text.optional().describe('sheet of a workbook, by name or by number from 1'),
  limit: z.int().positive().optional().describe('read at most this many rows'),
};
const newFile = {
  ...file,
  output: text.optional().describe('the new file; default: NAME.enriched.EXT beside it'),
  nameColumn: text.optional().describe("the column with each company's name, to compare"),
};
const found = {
  input: text,
  status: z.enum(OUTCOME_STATUSES),
  identifier: textOrNull.describe('what was looked up'),
  brand: z.record(text, z.union([text, z.number(), z.boolean()])).nullable(),
  source: z.enum(['api', 'stored']).nullable(),
  billed: count.describe('requests that were or may have been billed; 0: stored, or free'),
  error: z.object({ code: text, message: text }).nullable(),
};
const { plan, report, ledger } = DOCUMENTS;
const runStatus = {
  run: text,
  state: z.enum(['running', 'finished', 'stopped', 'failed', 'cancelled']),
  reason: textOrNull.describe('why it stopped or failed'),
  progress: z.object({ wanted: count, answered: count }).nullable(),
  rows: report.shape.rows.nullable(),
  billed: count.nullable(),
  output: textOrNull,
  errors: textOrNull.describe('the file of the rows without an answer'),
};

const call = <Input extends z.ZodRawShape, Output extends z.ZodRawShape>(
  description: string,
  input: Input,
  output: Output,
) => ({ description, input: z.strictObject(input), output: z.object({ ...output, today }) });

/** Each call by name, with its input and output. Unknown inputs are refused. */
export const CALLS = {
  lookup_brand: call(
    'Look up the brand of one identifier, for at most one paid request.',
    { identifier: text.describe(ofIdentifier), ...lookup },
    found,
  ),
  lookup_brands: call(
    'Look up at most 100 identifiers. Duplicates and stored answers cost nothing.',
    { identifiers: texts.min(1).max(100).describe(ofIdentifier), ...lookup },
    { rows: z.array(z.object(found)) },
  ),
  plan_file: call(
    'Show what enriching a CSV, JSON, Excel or Parquet file would need. Spends nothing.',
    file,
    {
      ...plan.pick({ rows: true, identifiers: true, requests: true, files: true }).shape,
      ...plan.shape.input.pick({ columns: true, warnings: true }).shape,
    },
  ),
  enrich_file: call(
    'Write a new file with the rows of a file and their brands, best first. If its run takes long, ' +
      'run_status shows the progress. Call it again to continue a run that stopped.',
    newFile,
    runStatus,
  ),
  run_status: call('Show the progress or the result of a run of enrich_file.', { run: text }, runStatus),
  account: call(
    'Show the use and quota of the account, and what is left for today. Sends nothing.',
    {},
    ledger.shape.account.pick({ period: true, quota: true, limit: true, used: true, left: true }).shape,
  ),
};
type CallName = keyof typeof CALLS;
type Input<Name extends CallName> = z.infer<(typeof CALLS)[Name]['input']>;
type Answer<Name extends CallName> = Omit<z.infer<(typeof CALLS)[Name]['output']>, 'today'>;
type RunStatus = Answer<'run_status'>;

const NO_DETAILS = { reason: null, progress: null, rows: null, billed: null, output: null, errors: null };

export interface AgentTerms {
  readonly name: string;
  /** Owner of the runs; a person pauses all of them together. */
  readonly owner: string;
  /** Most billable requests of a day, and of one call. */
  readonly perDay: number;
  readonly perCall: number;
}

/** Returns a function that carries out calls. `stop` ends lookups; closing `enricher` ends runs. */
export function createAgentCalls(
  { enricher, engine, service, runFile, capsKey }: OpenedEnricher,
  { name, owner, perDay, perCall }: AgentTerms,
  files: AgentFiles,
  { log, stop }: { readonly log: Log; readonly stop: AbortSignal },
) {
  const runs = new Map<string, RunStatus>();

  /** Returns the requests that the ledger counts for this server's name today. */
  async function readToday() {
    const key = capsKey();
    const run = (await engine.runs.list(RUNS_LOOKED_AT)).find((each) => each.key === key);
    const spent = (await engine.ledger.show(service.account, run?.id)).run?.requests ?? 0;
    return { spent, left: Math.max(0, perDay - spent) };
  }

  async function lookUp(
    given: readonly string[],
    { kind, fields = FIELDS }: Omit<Input<'lookup_brand'>, 'identifier'>,
  ) {
    if (given.length > perCall)
      throw tooMuch(`${countOf(given.length, 'identifier')} in one call`, 'send fewer');
    throwProblems(findFieldProblems({ fields, fill: [], fillOver: [], prefix: '' }, () => 'in fields'));
    await assertNotPaused(owner, name, { engine });
    const signal = AbortSignal.any([AbortSignal.timeout(LOOKUPS_MS), stop]);
    const rows = [];
    for await (const each of enricher.enrich(given, { signal, kind })) {
      const { input, status, source, billed, error } = each;
      const identifier = each.identifier === null ? null : `${each.kind}:${each.identifier}`;
      const brand = each.brand && shortBrand(each.brand, fields);
      rows.push({ input, status, identifier, brand, source, billed, error });
    }
    return rows;
  }

  function tooMuch(subject: string, todo: string): ConfigError {
    const what = `one call may need at most ${countOf(perCall, 'paid lookup')}`;
    const orMore = `${todo}, or ask a person to start this server with a higher --per-call`;
    return new ConfigError({ code: 'usage-invalid', what, subject, todo: orMore });
  }

  function assertFits(requests: number): void {
    if (requests <= perCall) return;
    const subject = `the file needs ${countOf(requests, 'paid lookup')}`;
    throw tooMuch(subject, 'select fewer rows with limit or where');
  }

  async function planOf({ path, output, ...given }: Input<'enrich_file'>) {
    const input = await files.existingFile(path);
    const options = { ...given, ...(output !== undefined && { output: await files.pathOf(output) }) };
    return { input, options, plan: await enricher.plan(input, options) };
  }

  async function begin(request: Input<'enrich_file'>): Promise<string> {
    await assertNotPaused(owner, name, { engine });
    const { input, options, plan } = await planOf(request);
    assertFits(plan.requests.most);
    const { output, errors, report } = plan.files;
    const page = report.replace(/[.]json$/, '.html');
    // A stopped run that continues may replace the files that it wrote beside its partial file.
    const continues = existsSync(output.replace(/(?=[.][^./]+(?:[.]gz)?$)/, '.partial'));
    await files.assertNew([output, ...(continues ? [] : [errors, report, page])]);
    const id = newRunId(Date.now());
    const update = (status: Partial<RunStatus>) =>
      void runs.set(id, { run: id, state: 'running', ...NO_DETAILS, ...status });
    update({});
    const onProgress = ({ wanted, answered, billed }: FileProgress) =>
      update({ progress: { wanted, answered }, billed });
    // The file may have grown since the plan, or stored answers may have expired.
    const confirm = async ({ requests }: { readonly requests: number }) => {
      assertFits(requests);
      return true;
    };
    const ended = runFile(input, { ...options, onProgress }, { job: { id, job: id, owner }, confirm }).then(
      async ({ isComplete, stopped, reason: why, rows, requests: { billed }, output, errors }) => {
        const { left } =
          stopped === 'limit' ? await readToday().catch(() => ({ left: null })) : { left: null };
        const used = `today's limit of ${countOf(perDay, 'request')} (UTC) is used up; continue tomorrow`;
        const reason = left === 0 ? used : why;
        update({ state: isComplete ? 'finished' : 'stopped', reason, rows, billed, output, errors });
      },
      (error) => update({ state: 'failed', reason: errorForAgent(error, log) }),
    );
    await withinDeadline(ended, FILE_MS);
    return id;
  }

  async function statusOf(run: string): Promise<RunStatus> {
    const known = runs.get(run);
    if (known !== undefined) return known;
    const record = await engine.runs.get(run);
    if (record === null) {
      const todo = 'use the id that enrich_file returned';
      throw new ConfigError({ code: 'usage-invalid', what: 'no such run', subject: run, todo });
    }
    const state = record.status === 'completed' ? 'finished' : record.status;
    return { run, state, ...NO_DETAILS, billed: record.tally.billed };
  }

  const calls: { readonly [Name in CallName]: (given: Input<Name>) => Promise<Answer<Name>> } = {
    async lookup_brand({ identifier, ...options }) {
      const [row] = await lookUp([identifier], options);
      if (row === undefined) throw new Error('an identifier without a result');
      return row;
    },
    lookup_brands: async ({ identifiers, ...options }) => ({ rows: await lookUp(identifiers, options) }),
    async plan_file(request) {
      const { rows, identifiers, requests, files, input } = (await planOf(request)).plan;
      return {
        rows,
        identifiers,
        requests,
        files,
        columns: [...input.columns],
        warnings: [...input.warnings],
      };
    },
    enrich_file: async (request) => statusOf(await begin(request)),
    run_status: ({ run }) => statusOf(run),
    async account() {
      const state = await engine.ledger.show(service.account);
      const { period, quota, limit, used, left } = accountDocument(service.account, state);
      return { period, quota, limit, used, left };
    },
  };
  return async (called: CallName, given: object) => ({
    ...(await calls[called](given as never)),
    today: await readToday(),
  });
}

/** Returns the values of a brand's fields, without empty ones. */
function shortBrand(brand: Brand, fields: readonly string[]): Record<string, string | number | boolean> {
  const view = { ...NOTHING_ASKED, status: 'matched' } as const;
  const read = fields.map((field) => {
    const column = columnOf(field, '');
    const value = column.typed(view, brand);
    const isPlain = typeof value === 'number' || typeof value === 'boolean';
    return [field, isPlain ? value : column.cell(view, brand)] as const;
  });
  return Object.fromEntries(read.filter(([, value]) => value !== ''));
}

/** Returns an error's message for an agent; the details of bugs are only logged. */
export function errorForAgent(error: unknown, log: Log): string {
  if (error instanceof BrandEnrichError) return error.inWords('keys').message;
  if (error instanceof Error && error.name === 'TimeoutError')
    return 'not all answers came within 50 s; call again: paid answers are stored';
  log.error({ err: error }, 'a call of an agent failed');
  return 'this is a bug; see the log of the server';
}
