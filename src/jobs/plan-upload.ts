/** Plans of uploaded files: what the inbox would do with them, and the cost. Nothing is spent. */
import pLimit from 'p-limit';
import type { DaemonContext } from '../app/daemon-context.js';
import { BrandEnrichError, ConfigError, RunError, readingStopped, usageProblem } from '../core/errors.js';
import { IDENTIFIER_KINDS } from '../core/identifier.js';
import type { TableFormat } from '../core/table.js';
import type { RunSettings } from '../engine/stores/run-store.js';
import { sheetNames } from '../input/open-input.js';
import { readTable } from '../input/read-table.js';
import { runSettingsOf } from '../run/enrich-request.js';
import { planFile } from '../run/plan-file.js';
import { openSpoolFolder } from '../run/scan/spool-file.js';
import { namingFor } from '../run/words/say-reason.js';
import { conditionText, missingIn, readCondition } from '../settings/column-value.js';
import type { Settings } from '../settings/settings.js';
import type { Draft } from './find-files.js';
import { sideFileOf } from './inbox-file.js';
import {
  applyFolderSettings,
  INBOX_KEYS,
  readFolderSettings,
  readOwnSettings,
  settingsFilesOf,
} from './inbox-folder-settings.js';
import { settingsIn, textsForSender } from './inbox-verdict.js';

/** Settings by their keys, as in a settings file of the inbox. */
export type Choice = Readonly<Record<string, string | readonly string[]>>;

/** The value of a select that lets the program choose the column. */
export const ANY_COLUMN = 'any';

/**
 * Reads the settings that an inbox may set from a form or an address. `pick` is a column that
 * replaces those chosen before; `only`, `only-is` and `only-value` make one condition on rows;
 * `fill-over` moves all of `fill` to `fillOver`. Pure.
 */
export function choiceOf(fields: URLSearchParams): Choice {
  const pick = fields.get('pick') ?? '';
  const keys = [...new Set(fields.keys())].filter((key) => INBOX_KEYS.has(key));
  const choice: Record<string, string | string[]> = {};
  for (const key of keys) {
    const values = fields.getAll(key).filter((value) => value !== '');
    const [first, ...others] = values;
    if (first !== undefined) choice[key] = isList(key) || others.length > 0 ? values : first;
  }
  const [column, is, given] = ['only', 'only-is', 'only-value'].map((name) => fields.get(name) ?? '');
  const wants = is === 'blank' || is === 'filled' ? is : 'value';
  const condition = { column: column ?? '', wants, value: wants === 'value' ? (given ?? '') : '' } as const;
  if (condition.column !== '' || condition.value !== '') choice.where = [conditionText(condition)];
  if (pick !== '') delete choice.column;
  if (fields.has('fill-over') && choice.fill !== undefined) {
    choice.fillOver = [choice.fillOver ?? [], choice.fill].flat();
    delete choice.fill;
  }
  const chosen = pick === '' || pick === ANY_COLUMN ? choice : { column: [pick], ...choice };
  // Sorted, so that equal choices have equal texts.
  return Object.fromEntries(Object.entries(withKindApart(chosen)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Names of columns and values may contain commas. */
const isList = (key: string) => ['column', 'where', 'fill', 'fillOver'].includes(key);

/** Moves the kind of a single column to its own key, unless another kind is chosen. */
function withKindApart(choice: Choice): Choice {
  const [column, ...others] = typeof choice.column === 'object' ? choice.column : [];
  const kind = IDENTIFIER_KINDS.find((each) => column?.endsWith(`:${each}`));
  if (column === undefined || kind === undefined || others.length > 0) return choice;
  return { kind, ...choice, column: [column.slice(0, -kind.length - 1)] };
}

/** Returns settings as fields of a form or an address. Pure. */
export function fieldsOf(choice: Readonly<Record<string, unknown>>): [key: string, value: string][] {
  return Object.entries(choice).flatMap(([key, value]) =>
    [value].flat().map((each): [string, string] => [key, String(each)]),
  );
}

/** A column of the table with its first values. */
export type ShownColumn = Readonly<{ name: string; values: readonly string[] }>;

/** Returns what an incomplete condition on rows lacks, or null. Pure. */
export function halfCondition({
  where = [],
}: Choice): { readonly subject: string; readonly todo: string } | null {
  for (const text of [where].flat()) {
    const condition = readCondition(text);
    const missing = condition && missingIn(condition);
    if (missing === 'column')
      return { subject: 'it has no column', todo: 'choose a column, or clear the value' };
    if (missing === 'value')
      return { subject: 'it has no value', todo: 'type a value, or choose that all rows are looked up' };
  }
  return null;
}

export type UploadPlan = Awaited<ReturnType<typeof planUpload>>;

type PlanContext = Pick<DaemonContext, 'loaded' | 'service' | 'engine' | 'stateFolder' | 'stop'>;

const VALUES_SHOWN = 5;

/** Plans a file. Throws bugs and outages, and `InterruptedError` after a stop. */
async function planUpload({ root, folder, path, under }: Draft, choice: Choice, context: PlanContext) {
  const { loaded, service, engine, stateFolder, stop } = context;
  const reading = {
    sheets: [] as readonly string[],
    format: null as TableFormat | null,
    sheet: null as string | null,
    columns: [] as readonly ShownColumn[],
  };

  async function planAs(settings: Settings) {
    const asked = { input: path, stdin: null, only: 'own file', settings } as const;
    const opening = { only: asked.only, spoolFolder: await openSpoolFolder(stateFolder), stop };
    reading.sheets = await sheetNames(path, opening);
    const table = await readTable(path, settings, opening, ({ shape, sample }) => {
      reading.format = shape.format;
      reading.sheet = shape.format === 'xlsx' ? (shape.typed?.sheet ?? null) : null;
      reading.columns = shape.columns.map((name, at) => ({
        name,
        values: sample.slice(0, VALUES_SHOWN).map((row) => row[at] ?? ''),
      }));
    });
    const { input } = table;
    try {
      const runSettings = runSettingsOf(settings, service);
      const plan = await planFile(
        { ...asked, table, stateFolder, runSettings, reader: 'page' },
        engine,
        stop,
      );
      return {
        plan,
        format: input.shape.format,
        chosen: table.choice.chosen.choices,
        hasHeader: input.shape.rawHeader !== null,
        rate: await rateOf(runSettings),
        overage: runSettings.overage,
        settings,
      };
    } finally {
      await input.close();
    }
  }

  /** Returns the requests per second of all workers, or null without a pace. */
  async function rateOf({ account, maxRate }: RunSettings): Promise<number | null> {
    const { pace } = await engine.ledger.show(account);
    const rate = Math.min(pace.rate ?? Number.POSITIVE_INFINITY, maxRate ?? Number.POSITIVE_INFINITY);
    return Number.isFinite(rate) ? rate : null;
  }

  try {
    let settings = await readFolderSettings(settingsFilesOf(root, under), loaded);
    const own = await readOwnSettings(sideFileOf(path));
    // As at a start, a chosen cap replaces an earlier one of the file.
    const kept = Object.entries(own?.values ?? {}).filter(([key]) => !Object.hasOwn(choice, key));
    const half = halfCondition(choice);
    const { where: _, ...whole } = choice;
    const given = [
      { path: own?.path ?? path, values: Object.fromEntries(kept) },
      { path: 'this form', values: half === null ? choice : whole },
    ];
    for (const file of given) settings = applyFolderSettings(file, { ...loaded, settings });
    const found = await planAs(settings);
    if (half !== null)
      throw new ConfigError(usageProblem('the condition on rows is incomplete', half.subject, half.todo));
    return { reading, found, refusal: null };
  } catch (error) {
    if (!(error instanceof BrandEnrichError) || stop.aborted) throw error;
    const texts = textsForSender(error, folder, namingFor('page'));
    const refusal = { code: error.code, ...texts, remedies: settingsIn(error.detail.todo) };
    return { reading, found: null, refusal };
  }
}

interface Planning {
  readonly ended: Promise<UploadPlan>;
  result: UploadPlan | null;
  endedAt: number | null;
  askedAt: number;
  /** Ends the planning when its page was left. */
  readonly left: AbortController;
}

/** Older plans are made again, since the account changes. */
const FRESH_MS = 30_000;
const KEPT = 50;
/** More large files at once could fill the memory. */
const AT_ONCE = 2;
/** A page that has not asked for its plan for this long was left. */
const LEFT_MS = 15_000;

/** Returns the key of a plan; a file that was changed in place has another key. Pure. */
export function planKey({ id, size, changedAt }: Draft, choice: Choice): string {
  return [id, size, changedAt, JSON.stringify(choice)].join(' ');
}

/** Creates plans, two at once; a plan ends when no page waits for it. */
export function createUploadPlans(context: PlanContext & Pick<DaemonContext, 'clock'>) {
  const { clock } = context;
  const limit = pLimit(AT_ONCE);
  const known = new Map<string, Planning>();

  function begin(key: string, upload: Draft, choice: Choice): Planning {
    const left = new AbortController();
    const stop = AbortSignal.any([context.stop, left.signal]);
    const ended = limit(() => {
      if (stop.aborted) throw readingStopped(upload.file);
      return planUpload(upload, choice, { ...context, stop });
    });
    const result = known.get(key)?.result ?? null;
    const planning: Planning = { ended, result, endedAt: null, askedAt: clock.monotonic(), left };
    ended.then(
      (made) => Object.assign(planning, { result: made, endedAt: clock.monotonic() }),
      () => {
        planning.endedAt = clock.monotonic();
        if (known.get(key) === planning) known.delete(key);
      },
    );
    known.set(key, planning);
    void endWhenLeft(planning);
    const oldest = known.keys().next();
    if (known.size > KEPT && !oldest.done) known.delete(oldest.value);
    return planning;
  }

  async function endWhenLeft(planning: Planning): Promise<void> {
    while (planning.endedAt === null && !context.stop.aborted) {
      const { askedAt } = planning;
      await clock.sleep(LEFT_MS, context.stop).catch(() => undefined);
      if (planning.endedAt === null && planning.askedAt === askedAt) return planning.left.abort();
    }
  }

  return {
    /** Returns a fresh plan, or the one being made. Rejects as `planUpload`. */
    plan(upload: Draft, choice: Choice): Promise<UploadPlan> {
      const key = planKey(upload, choice);
      const found = known.get(key);
      const isOld = found?.endedAt != null && clock.monotonic() - found.endedAt >= FRESH_MS;
      if (found === undefined || isOld || found.left.signal.aborted) return begin(key, upload, choice).ended;
      found.askedAt = clock.monotonic();
      return found.ended;
    },
    /** Throws `ConfigError` for forbidden settings, `RunError` if the inbox is closed. */
    async check(root: string, values: Readonly<Record<string, unknown>>): Promise<void> {
      const { loaded } = context;
      const settings = await readFolderSettings(settingsFilesOf(root), loaded).catch((error) => {
        if (!(error instanceof ConfigError)) throw error;
        throw new RunError({ ...error.detail, cause: error });
      });
      applyFolderSettings({ path: 'this request', values }, { ...loaded, settings });
    },
    /** Returns the last plan that was made, or null. */
    made: (upload: Draft, choice: Choice): UploadPlan | null =>
      known.get(planKey(upload, choice))?.result ?? null,
  };
}

export type UploadPlans = ReturnType<typeof createUploadPlans>;
