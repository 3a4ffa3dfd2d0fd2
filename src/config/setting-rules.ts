/**
 * Rules between settings: what one implies for another, what contradicts what, and what a command
 * needs. Pure: settings and origins in, settings and problems out.
 *
 *   1. A token file named by a flag wins over a token in the environment; otherwise the token wins
 *      over
 *      the file. The same holds for the webhook secret and the dashboard password.
 *   2. A positive overage budget implies `--plan paid`, unless `--plan free` is given; a paid plan
 *      without a budget has 100
 *      (specification, Limits); a free plan has no overage.
 *   3. `--sample` brings its own service and engine: those of environment and config file do not
 *      count.
 *   4. Then contradictions and missing things are looked for.
 */
import { findUnknownField } from '../lookup/known-fields.js';
import { isLoopbackUrl, maskOrigin } from './address-values.js';
import { isPositiveDecimal } from './limit-settings.js';
import { type Problem, quote, usageProblem } from './problems.js';
import type { CommandName } from './setting.js';
import type { LoadedSettings, Origin, Origins, SettingName, Settings } from './settings.js';

/** The specification's default of the monthly overage budget on a paid plan (Limits). */
const PAID_PLAN_BUDGET = '100';

const STRENGTH: Record<Origin, number> = { flag: 3, environment: 2, file: 1, default: 0 };

interface Found extends LoadedSettings {
  readonly command: CommandName;
  /**
   * Whether the setting was given but could not be read: reported already, so nothing follows from
   * it.
   */
  readonly isUnread: (name: SettingName) => boolean;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
interface Draft {
  readonly settings: Writable<Settings>;
  readonly origins: Origins;
  readonly problems: Problem[];
}

/** Applies the rules above, in their order. */
export function applyRules(found: Found): { loaded: LoadedSettings; problems: Problem[] } {
  const draft: Draft = { settings: { ...found.settings }, origins: { ...found.origins }, problems: [] };
  chooseSecretSource(draft, 'token', 'tokenFile');
  chooseSecretSource(draft, 'notifySecret', 'notifySecretFile');
  chooseSecretSource(draft, 'dashboardPassword', 'dashboardPasswordFile');
  settleOverage(draft);
  isolateSample(draft);
  if (found.command !== 'config') {
    findContradictions(draft);
    findInsecure(draft);
    findMissing(draft, found);
    draft.problems.push(...findNotifyProblems(draft.settings, found.isUnread('smtpUrl')));
    draft.problems.push(...findFieldProblems(draft.settings, 'in --fields'));
  }
  return { loaded: { settings: draft.settings, origins: draft.origins }, problems: draft.problems };
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
      problems.push(
        contradiction('--plan free with --overage-budget', 'a free plan has no overage: leave one out'),
      );
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
  const replaced = ['engine', 'baseUrl', 'token', 'tokenFile'] as const;
  const flags = { engine: '--engine', baseUrl: '--base-url', token: 'a token', tokenFile: '--token-file' };
  for (const name of replaced) {
    if (origins[name] === 'flag') {
      problems.push(
        contradiction(
          `--sample with ${flags[name]}`,
          'the sample brings its own service and engine: leave one out',
        ),
      );
    }
    if (name === 'engine') settings.engine = 'embedded';
    else settings[name] = null;
    origins[name] = 'default';
  }
}

function findContradictions({ settings, problems }: Draft): void {
  if (!settings.worker && settings.sample) {
    problems.push(
      contradiction('--no-worker with --sample', 'no other process could do the lookups: leave one out'),
    );
  }
  if (settings.output === '-' && settings.json) {
    problems.push(
      contradiction('-o - with --json', 'standard output takes one of the two: name a file with -o'),
    );
  }
  if (settings.waterfall && settings.columns.length === 1) {
    problems.push(
      contradiction('--waterfall with one --column', 'name the next columns too, or leave it out'),
    );
  }
  const files = [settings.output, settings.errors, settings.report].filter((file) => file !== null);
  if (new Set(files).size < files.length) {
    problems.push(
      contradiction('the same file for two outputs', 'give --output, --errors and --report a file each'),
    );
  }
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
    return [usageProblem('no such field of a brand', `${quote(field)} ${place}`, todo)];
  });
}

function findInsecure({ settings, problems }: Draft): void {
  const { baseUrl, allowHttp } = settings;
  if (baseUrl === null || allowHttp || !baseUrl.startsWith('http:') || isLoopbackUrl(baseUrl)) return;
  problems.push({
    code: 'usage-insecure',
    what: 'the token could be read on the way',
    subject: baseUrl,
    todo: 'use https, or allow plain http with --allow-http',
  });
}

const NEEDS_SERVICE: readonly CommandName[] = ['run', 'watch', 'up', 'outcomes forget'];
const NEEDS_TOKEN: readonly CommandName[] = ['run', 'watch', 'worker', 'up'];
const NEEDS_ACCOUNT: readonly CommandName[] = ['ledger show', 'ledger observe', 'ledger reset'];

function findMissing({ settings, problems }: Draft, { command, isUnread }: Found): void {
  const isUnder = (commands: readonly CommandName[]) => commands.includes(command) && !settings.sample;
  const isNamed = settings.account !== null || isUnread('account');
  // An account without a name is named by address and token.
  const needsService = isUnder(NEEDS_SERVICE) || (isUnder(NEEDS_ACCOUNT) && !isNamed);
  if (needsService && settings.baseUrl === null && !isUnread('baseUrl')) {
    problems.push({
      code: 'usage-service-missing',
      what: 'no address of the service was given',
      subject: '--base-url',
      todo: `set BRAND_API_URL or give --base-url URL${['run', 'watch', 'up'].includes(command) ? '; --sample needs neither' : ''}`,
    });
  }
  const hasToken = settings.token !== null || settings.tokenFile !== null || isUnread('token');
  if (!hasToken && (isUnder(NEEDS_TOKEN) || (isUnder(NEEDS_ACCOUNT) && !isNamed))) {
    problems.push({
      code: 'usage-token-missing',
      what: 'no token was given',
      subject: 'BRAND_API_TOKEN',
      todo: `set it, or name a file that holds the token with --token-file${isUnder(NEEDS_ACCOUNT) ? ', or name the account with --account' : ''}`,
    });
  }
  if (settings.statement && settings.accounts === null && !isUnread('accounts')) {
    problems.push(
      usageProblem(
        'no accounts to print a statement of',
        '--statement',
        'name their file with --accounts FILE; usage of the demo account ends with its service',
      ),
    );
  }
  if (settings.month !== null && !settings.statement) {
    problems.push(
      usageProblem('a month without a statement', '--month', 'give --statement too, or leave it out'),
    );
  }
  const hasObserved = settings.observedUsage !== null || settings.observedQuota !== null;
  const isObservedUnread = isUnread('observedUsage') || isUnread('observedQuota');
  if (command === 'ledger observe' && !hasObserved && !isObservedUnread) {
    problems.push(
      usageProblem('nothing was observed', 'ledger observe', 'give --usage N, --quota N or both'),
    );
  }
}

function contradiction(subject: string, todo: string): Problem {
  return usageProblem('these contradict each other', subject, todo);
}

/** `isMailServerUnread`: one was given but could not be read, which is reported already. */
function findNotifyProblems(settings: Settings, isMailServerUnread: boolean): Problem[] {
  const { notifyUrl, notifyEmail, smtpUrl, allowHttp } = settings;
  const problems: Problem[] = [];
  if (notifyUrl?.toLowerCase().startsWith('http:') && !allowHttp && !isLoopbackUrl(notifyUrl)) {
    problems.push({
      code: 'usage-insecure',
      what: 'notifications could be read on the way',
      subject: maskOrigin(notifyUrl),
      todo: 'use https, or allow plain http with --allow-http',
    });
  }
  if (notifyEmail.length > 0 && smtpUrl === null && !isMailServerUnread) {
    const todo = 'name it with --smtp-url smtp://HOST:PORT, or in BRAND_ENRICH_SMTP_URL';
    problems.push(usageProblem('no mail server was named', '--notify-email', todo));
  }
  return problems;
}
