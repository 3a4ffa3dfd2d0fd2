/** Rules between settings: what one implies, which contradict, which a command needs. Pure. */
import { findUnknownField } from '../brand-api/known-fields.js';
import { type ErrorCode, type Problem, usageProblem } from '../core/errors.js';
import { type Phrase, phrase } from '../core/phrase.js';
import { EXAMPLE_SERVICE, isLoopbackUrl, maskOrigin } from './address-values.js';
import { hasNoColumns } from './column-value.js';
import { isPositiveDecimal, quote } from './parse-value.js';
import { type CommandName, LOOKING_UP } from './setting.js';
import type { LoadedSettings, Origin, Origins, SettingName, Settings } from './settings.js';

/** The specification's default monthly overage budget of a paid plan (Limits). */
const PAID_PLAN_BUDGET = '100';

const STRENGTH: Record<Origin, number> = { flag: 3, environment: 2, file: 1, default: 0 };

interface ReadSettings extends LoadedSettings {
  readonly command: CommandName;
  /** True if a given value could not be read, which is reported already. */
  readonly isUnread: (name: SettingName) => boolean;
}

interface Draft {
  readonly settings: { -readonly [Name in SettingName]: Settings[Name] };
  readonly origins: Origins;
  readonly problems: Problem[];
}

/** Applies all rules, in order, and lists every problem. */
export function applyRules(loaded: ReadSettings): { loaded: LoadedSettings; problems: Problem[] } {
  const draft: Draft = { settings: { ...loaded.settings }, origins: { ...loaded.origins }, problems: [] };
  const { settings, origins, problems } = draft;
  chooseSecretSource(draft, 'token');
  chooseSecretSource(draft, 'notifySecret');
  chooseSecretSource(draft, 'dashboardPassword');
  settleOverage(draft);
  isolateSample(draft);
  if (loaded.command !== 'config')
    problems.push(
      ...findBroken(settings, loaded),
      ...findFieldProblems(settings, (setting) => phrase`in ${{ setting }}`),
    );
  return { loaded: { settings, origins }, problems };
}

/** Keeps one source of a secret: a file named by a flag wins, otherwise the secret itself. */
function chooseSecretSource(
  { settings, origins }: Draft,
  secret: 'token' | 'notifySecret' | 'dashboardPassword',
): void {
  const file = `${secret}File` as const;
  if (settings[secret] === null || settings[file] === null) return;
  const loser = origins[file] === 'flag' ? secret : file;
  settings[loser] = null;
  origins[loser] = 'default';
}

/** Takes a budget, also one of 0, as a sign of a paid plan; a free plan has no overage. */
function settleOverage({ settings, origins, problems }: Draft): void {
  const hasBudget = origins.overageBudget !== 'default';
  if (settings.plan === 'free' && hasBudget && isPositiveDecimal(settings.overageBudget)) {
    if (STRENGTH[origins.plan] > STRENGTH[origins.overageBudget]) {
      settings.overageBudget = '0';
      origins.overageBudget = origins.plan;
    } else {
      const both = phrase`${{ set: { plan: 'free' } }} with ${{ setting: 'overageBudget' }}`;
      problems.push(contradiction(both, 'a free plan has no overage: omit one'));
    }
  } else if (settings.plan === null && hasBudget) {
    settings.plan = 'paid';
    origins.plan = origins.overageBudget;
  } else if (settings.plan === 'paid' && origins.overageBudget === 'default') {
    settings.overageBudget = PAID_PLAN_BUDGET;
  }
}

/** Keeps the sample apart: it has its own service and engine, whatever environment and file say. */
function isolateSample({ settings, origins, problems }: Draft): void {
  if (!settings.sample) return;
  for (const name of ['engine', 'baseUrl', 'token', 'tokenFile'] as const) {
    if (origins[name] === 'flag') {
      const todo = phrase`${SAMPLE} has its own service and engine: omit one`;
      problems.push(contradiction(phrase`${SAMPLE} with ${{ setting: name }}`, todo));
    }
    if (name === 'engine') settings.engine = 'embedded';
    else settings[name] = null;
    origins[name] = 'default';
  }
}

type FieldSettings = Pick<Settings, 'fields' | 'fill' | 'fillOver' | 'prefix'>;

/** Returns a problem for each field that no brand has. `placeOf` says where a setting was given. */
export function findFieldProblems(
  { fields, fill, fillOver, prefix }: FieldSettings,
  placeOf: (setting: 'fields' | 'fill' | 'fillOver') => Phrase,
): Problem[] {
  const fieldsOf = {
    fields: hasNoColumns(fields) ? [] : (fields ?? []),
    fill: fill.map(({ field }) => field),
    fillOver: fillOver.map(({ field }) => field),
  };
  return (['fields', 'fill', 'fillOver'] as const).flatMap((setting) =>
    fieldsOf[setting].flatMap((field) => {
      const unknown = findUnknownField(field, prefix);
      if (unknown === null) return [];
      const insist = `write +${field} for a field that the service has added`;
      const todo = unknown.nearest === null ? insist : `did you mean ${unknown.nearest}? If not, ${insist}`;
      return usageProblem('no such field of a brand', phrase`${quote(field)} ${placeOf(setting)}`, todo);
    }),
  );
}

const NEEDS_TOKEN: readonly CommandName[] = [...LOOKING_UP, 'ledger check'];
const NEEDS_SERVICE: readonly CommandName[] = [...NEEDS_TOKEN, 'outcomes forget'];
const NEEDS_ACCOUNT: readonly CommandName[] = ['ledger show', 'ledger observe', 'ledger reset'];
const HAS_SAMPLE: readonly CommandName[] = ['run', 'watch', 'up', 'mcp'];

const SAMPLE = { setting: 'sample' };
const CHANGES = { setting: 'changes' };
const OUTPUT = { setting: 'output', shell: '-o' };
const SERVICE_ADDRESS = { setting: 'baseUrl', shell: 'BRAND_API_URL or --base-url' };
const TOKEN = { setting: 'token', shell: 'BRAND_API_TOKEN' };
const USE_HTTPS = phrase`use https, or allow plain http with ${{ setting: 'allowHttp' }}`;

function contradiction(both: Phrase, todo: Phrase): Problem {
  return usageProblem('these settings contradict each other', both, todo);
}

function findBroken(settings: Settings, { command, isUnread }: ReadSettings): Problem[] {
  const { sample, output, errors, report, changes, differences, baseUrl, notifyUrl } = settings;
  const problems: Problem[] = [];
  const add = (what: Phrase, subject: Phrase, todo: Phrase, code: ErrorCode = 'usage-invalid') =>
    problems.push({ code, what, subject, todo });
  const files = [output, errors, report, changes, differences].filter((file) => file !== null);
  const isPlain = (address: string | null): address is string =>
    address !== null && /^http:/i.test(address) && !settings.allowHttp && !isLoopbackUrl(address);
  const isGiven = (...names: readonly SettingName[]) =>
    names.some((name) => settings[name] !== null || isUnread(name));
  // An account without a name is identified by address and token.
  const needsAccount = NEEDS_ACCOUNT.includes(command) && !isGiven('account');
  const needs = (commands: readonly CommandName[]) => !sample && (commands.includes(command) || needsAccount);
  const contradict = (both: Phrase, todo: Phrase) => problems.push(contradiction(both, todo));
  if (!settings.worker && sample) {
    const todo = 'no other process could do the lookups: omit one';
    contradict(phrase`${{ set: { worker: false } }} with ${SAMPLE}`, todo);
  }
  if (output === '-' && settings.json) {
    const todo = phrase`only one of them can use standard output: give a file with ${OUTPUT}`;
    contradict(phrase`${OUTPUT} - with ${{ setting: 'json' }}`, todo);
  }
  if (changes !== null && !/\.(?:csv|jsonl|ndjson)$/i.test(changes)) {
    const todo = 'end its name in .csv or .jsonl';
    add('changes cannot be written in this format', phrase`${CHANGES} ${changes}`, todo);
  }
  if (changes !== null && output === '-')
    contradict(
      phrase`${CHANGES} with ${OUTPUT} -`,
      phrase`standard output has no earlier result to compare with: name a file`,
    );
  if (changes !== null && !settings.outputHeader) {
    const both = phrase`${CHANGES} with ${{ set: { outputHeader: false } }}`;
    contradict(both, 'an output without a header cannot be compared: omit one');
  }
  if (changes !== null && hasNoColumns(settings.fields))
    contradict(
      phrase`${CHANGES} with ${{ set: { fields: 'none' } }}`,
      'an output without our columns cannot be compared: omit one',
    );
  if (settings.waterfall && settings.columns.length === 1) {
    const both = phrase`${{ setting: 'waterfall' }} with one ${{ setting: 'column' }}`;
    contradict(both, 'give the next columns too, or omit it');
  }
  if (new Set(files).size < files.length)
    contradict('the same file for two outputs', 'use a different file for each');
  if (isPlain(baseUrl)) add('the token could be intercepted', baseUrl, USE_HTTPS, 'usage-insecure');
  if (isPlain(notifyUrl))
    add('notifications could be intercepted', maskOrigin(notifyUrl), USE_HTTPS, 'usage-insecure');
  if (needs(NEEDS_SERVICE) && !isGiven('baseUrl')) {
    const orSample = HAS_SAMPLE.includes(command) ? phrase`; ${SAMPLE} needs neither` : '';
    const todo = phrase`set ${SERVICE_ADDRESS}, for example ${EXAMPLE_SERVICE.baseUrl}${orSample}`;
    add('no service address was given', phrase`${{ setting: 'baseUrl' }}`, todo, 'usage-service-missing');
  }
  if (needs(NEEDS_TOKEN) && !isGiven('token', 'tokenFile')) {
    const orAccount = needsAccount ? phrase`, or set ${{ setting: 'account' }}` : '';
    const todo = phrase`set it, or give a file that holds it with ${{ setting: 'tokenFile' }}${orAccount}`;
    add('no token was given', phrase`${TOKEN}`, todo, 'usage-token-missing');
  }
  if (settings.statement && !isGiven('accounts')) {
    const todo = phrase`give their file with ${{
      choose: 'accounts',
      example: 'FILE',
    }}; the demo account keeps no usage`;
    add('a statement needs accounts', '--statement', todo);
  }
  if (settings.month !== null && !settings.statement)
    add('--month needs --statement', '--month', 'add --statement, or omit it');
  if (command === 'ledger observe' && !isGiven('observedUsage', 'observedQuota'))
    add('no figures were given', 'ledger observe', 'give --usage N, --quota N or both');
  return problems;
}
