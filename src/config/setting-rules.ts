/**
 * Rules between settings: what one implies for another, what contradicts what, and what a command
 * needs. Pure: settings and origins in, settings and problems out.
 *
 *   1. A token file named by a flag wins over a token in the environment; otherwise the token wins
 *      over the file. The same holds for the webhook secret and the dashboard password.
 *   2. A positive overage budget implies `--plan paid`, unless `--plan free` is given; a paid plan
 *      without a budget has 100 (specification, Limits); a free plan has no overage.
 *   3. `--sample` brings its own service and engine: those of environment and config file do not
 *      count.
 *   4. Then contradictions and missing things are looked for.
 */
import { type Problem, usageProblem } from '../core/errors.js';
import { findUnknownField } from '../lookup/known-fields.js';
import { isLoopbackUrl, maskOrigin } from './address-values.js';
import { isPositiveDecimal, quote } from './parse-value.js';
import type { CommandName } from './setting.js';
import type { LoadedSettings, Origin, Origins, SettingName, Settings } from './settings.js';

/** The specification's default of the monthly overage budget on a paid plan (Limits). */
const PAID_PLAN_BUDGET = '100';

const STRENGTH: Record<Origin, number> = { flag: 3, environment: 2, file: 1, default: 0 };

interface Found extends LoadedSettings {
  readonly command: CommandName;
  /** Whether the setting was given but could not be read: reported already, so nothing follows. */
  readonly isUnread: (name: SettingName) => boolean;
}

interface Draft {
  readonly settings: { -readonly [Name in SettingName]: Settings[Name] };
  readonly origins: Origins;
  readonly problems: Problem[];
}

/** Applies the rules above, in their order. */
export function applyRules(found: Found): { loaded: LoadedSettings; problems: Problem[] } {
  const draft: Draft = { settings: { ...found.settings }, origins: { ...found.origins }, problems: [] };
  const { settings, origins, problems } = draft;
  chooseSecretSource(draft, 'token', 'tokenFile');
  chooseSecretSource(draft, 'notifySecret', 'notifySecretFile');
  chooseSecretSource(draft, 'dashboardPassword', 'dashboardPasswordFile');
  settleOverage(draft);
  isolateSample(draft);
  if (found.command !== 'config') {
    problems.push(
      ...findContradictions(settings),
      ...findInsecure(settings),
      ...findMissing(settings, found),
      ...findFieldProblems(settings, 'in --fields'),
    );
  }
  return { loaded: { settings, origins }, problems };
}

function chooseSecretSource(
  { settings, origins }: Draft,
  secret: 'token' | 'notifySecret' | 'dashboardPassword',
  file: 'tokenFile' | 'notifySecretFile' | 'dashboardPasswordFile',
): void {
  if (settings[secret] === null || settings[file] === null) return;
  const loser = origins[file] === 'flag' ? secret : file;
  settings[loser] = null;
  origins[loser] = 'default';
}

function settleOverage({ settings, origins, problems }: Draft): void {
  const hasBudget = origins.overageBudget !== 'default' && isPositiveDecimal(settings.overageBudget);
  if (settings.plan === 'free' && hasBudget) {
    if (STRENGTH[origins.plan] > STRENGTH[origins.overageBudget]) {
      settings.overageBudget = '0';
      origins.overageBudget = origins.plan;
    } else {
      const todo = 'a free plan has no overage: leave one out';
      problems.push(contradiction('--plan free with --overage-budget', todo));
    }
  } else if (settings.plan === null && hasBudget) {
    settings.plan = 'paid';
    origins.plan = origins.overageBudget;
  } else if (settings.plan === 'paid' && origins.overageBudget === 'default') {
    settings.overageBudget = PAID_PLAN_BUDGET;
  }
}

function isolateSample({ settings, origins, problems }: Draft): void {
  if (!settings.sample) return;
  const replaced = { engine: '--engine', baseUrl: '--base-url', token: 'a token', tokenFile: '--token-file' };
  for (const [name, flag] of Object.entries(replaced) as [keyof typeof replaced, string][]) {
    if (origins[name] === 'flag') {
      const todo = 'the sample brings its own service and engine: leave one out';
      problems.push(contradiction(`--sample with ${flag}`, todo));
    }
    if (name === 'engine') settings.engine = 'embedded';
    else settings[name] = null;
    origins[name] = 'default';
  }
}

function contradiction(subject: string, todo: string): Problem {
  return usageProblem('these contradict each other', subject, todo);
}

function findContradictions({
  worker,
  sample,
  output,
  errors,
  report,
  json,
  waterfall,
  columns,
}: Settings): Problem[] {
  const files = [output, errors, report].filter((file) => file !== null);
  const rules: readonly [isBroken: boolean, subject: string, todo: string][] = [
    [!worker && sample, '--no-worker with --sample', 'no other process could do the lookups: leave one out'],
    [output === '-' && json, '-o - with --json', 'standard output takes one of the two: name a file with -o'],
    [
      waterfall && columns.length === 1,
      '--waterfall with one --column',
      'name the next columns too, or leave it out',
    ],
    [
      new Set(files).size < files.length,
      'the same file for two outputs',
      'give --output, --errors and --report a file each',
    ],
  ];
  return rules.flatMap(([isBroken, subject, todo]) => (isBroken ? contradiction(subject, todo) : []));
}

/**
 * Fields that no brand has: their columns would be blank. `place`: where they were given, for
 * messages.
 */
export function findFieldProblems(
  { fields, prefix }: Pick<Settings, 'fields' | 'prefix'>,
  place: string,
): Problem[] {
  return (fields ?? []).flatMap((field) => {
    const unknown = findUnknownField(field, prefix);
    if (unknown === null) return [];
    const insist = `write +${field} for one that the service has added`;
    const todo = unknown.nearest === null ? insist : `did you mean ${unknown.nearest}? If not, ${insist}`;
    return usageProblem('no such field of a brand', `${quote(field)} ${place}`, todo);
  });
}

/** Addresses to which token or notifications would travel in the clear. */
function findInsecure({ baseUrl, notifyUrl, allowHttp }: Settings): Problem[] {
  const isPlain = (address: string | null): address is string =>
    address !== null && /^http:/i.test(address) && !allowHttp && !isLoopbackUrl(address);
  const todo = 'use https, or allow plain http with --allow-http';
  const insecure = (what: string, subject: string): Problem => ({
    code: 'usage-insecure',
    what,
    subject,
    todo,
  });
  return [
    isPlain(baseUrl) ? insecure('the token could be read on the way', baseUrl) : [],
    isPlain(notifyUrl) ? insecure('notifications could be read on the way', maskOrigin(notifyUrl)) : [],
  ].flat();
}

const NEEDS_SERVICE: readonly CommandName[] = ['run', 'watch', 'up', 'outcomes forget'];
const NEEDS_TOKEN: readonly CommandName[] = ['run', 'watch', 'worker', 'up'];
const NEEDS_ACCOUNT: readonly CommandName[] = ['ledger show', 'ledger observe', 'ledger reset'];

function findMissing(settings: Settings, { command, isUnread }: Found): Problem[] {
  const isGiven = (...names: readonly SettingName[]) =>
    names.some((name) => settings[name] !== null || isUnread(name));
  // An account without a name is named by address and token.
  const needsAccount = NEEDS_ACCOUNT.includes(command) && !isGiven('account');
  const needs = (commands: readonly CommandName[]) =>
    !settings.sample && (commands.includes(command) || needsAccount);
  const problems: Problem[] = [];
  if (needs(NEEDS_SERVICE) && !isGiven('baseUrl')) {
    problems.push({
      code: 'usage-service-missing',
      what: 'no address of the service was given',
      subject: '--base-url',
      todo: `set BRAND_API_URL or give --base-url URL${['run', 'watch', 'up'].includes(command) ? '; --sample needs neither' : ''}`,
    });
  }
  if (needs(NEEDS_TOKEN) && !isGiven('token', 'tokenFile')) {
    problems.push({
      code: 'usage-token-missing',
      what: 'no token was given',
      subject: 'BRAND_API_TOKEN',
      todo: `set it, or name a file that holds the token with --token-file${needsAccount ? ', or name the account with --account' : ''}`,
    });
  }
  const rules: readonly [isMissing: boolean, what: string, subject: string, todo: string][] = [
    [
      settings.statement && !isGiven('accounts'),
      'no accounts to print a statement of',
      '--statement',
      'name their file with --accounts FILE; usage of the demo account ends with its service',
    ],
    [
      settings.month !== null && !settings.statement,
      'a month without a statement',
      '--month',
      'give --statement too, or leave it out',
    ],
    [
      command === 'ledger observe' && !isGiven('observedUsage', 'observedQuota'),
      'nothing was observed',
      'ledger observe',
      'give --usage N, --quota N or both',
    ],
    [
      settings.notifyEmail.length > 0 && !isGiven('smtpUrl'),
      'no mail server was named',
      '--notify-email',
      'name it with --smtp-url smtp://HOST:PORT, or in BRAND_ENRICH_SMTP_URL',
    ],
  ];
  return [
    ...problems,
    ...rules.flatMap(([isMissing, ...words]) => (isMissing ? usageProblem(...words) : [])),
  ];
}
