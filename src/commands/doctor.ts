/** `doctor`: checks what a run or `up` needs, one line for each, and spends nothing. */
import { resolve } from 'node:path';
import { getDomainWithoutSuffix } from 'tldts';
import { connectOnce, knownNames, openClient } from '../app/open-service.js';
import { openStores } from '../app/open-stores.js';
import type { Answer as ServiceAnswer } from '../brand-api/read-answer.js';
import { systemClock } from '../core/clock.js';
import { assertDiskRoom } from '../core/disk-room.js';
import { AuthenticationError, BrandEnrichError, EXIT, type ExitCode, RunError } from '../core/errors.js';
import { countText } from '../core/figures.js';
import { assertOwnState, makeFolder } from '../core/folders.js';
import { attempt, type Releasers, withReleasers } from '../core/lifecycle.js';
import { systemWords } from '../core/system-error.js';
import { printText, visibleLines } from '../core/terminal-text.js';
import { openFolders } from '../jobs/inbox-folders.js';
import type { Document } from '../run/documents.js';
import { receiversOf } from '../run/notices/notifier.js';
import { EXAMPLE_SERVICE, isLoopbackUrl } from '../settings/address-values.js';
import { readToken } from '../settings/secrets.js';
import type { Settings } from '../settings/settings.js';
import { type CommandCall, show } from './answer.js';

type Finding = Document<'doctor'>['checks'][number] & {
  /** The error of a failed check. */
  readonly error?: BrandEnrichError;
};
type Found = Pick<Finding, 'state' | 'text'>;

const ok = (text: string): Found => ({ state: 'ok', text });
const warning = (text: string): Found => ({ state: 'warning', text });
const skipped = (text: string): Found => ({ state: 'skipped', text });

/** Runs all checks and prints each finding at once. Returns 5 if a check failed. */
export async function runDoctor(call: CommandCall): Promise<ExitCode> {
  const { settings, stdout } = call;
  const checks: Finding[] = [];
  for await (const finding of checkSetup(settings, call)) {
    checks.push(finding);
    if (!settings.json) printText(stdout, visibleLines([findingLine(finding)]));
  }
  const isReady = !checks.some(({ state }) => state === 'failed');
  const data = { isReady, checks: checks.map(({ error: _, ...rest }) => rest) };
  if (settings.json) show({ data, text: '' }, call);
  return isReady ? EXIT.done : EXIT.ioError;
}

/** Returns a finding as a line: `failed   engine     why; what to do`. */
export function findingLine({ check, state, text }: Finding): string {
  return `${state.padEnd(8)} ${check.padEnd(10)} ${text}`;
}

/**
 * Yields a finding for each check. Sends one request at most, for the service's own brand, which is
 * free. Creates missing folders, as `up` does. `pasted`: a token that no setting holds.
 */
export async function* checkSetup(
  settings: Settings,
  call: Pick<CommandCall, 'log' | 'stop' | 'folder'>,
  pasted: string | null = null,
): AsyncGenerator<Finding> {
  const offsets: [string, number][] = [];
  let token = pasted;
  let answer: ServiceAnswer | null = null;
  const why = whyNotAsked(settings);
  yield await findingOf('service', async (releasers) => {
    if (settings.baseUrl === null) throw notSet('service', 'BRAND_API_URL or --base-url');
    token ??= attempt(() => readToken(settings), null);
    if (token === null || why !== null) {
      await connectOnce(settings, settings.baseUrl);
      return skipped(`${settings.baseUrl} can be reached; not asked: ${why ?? 'no token'}`);
    }
    answer = await askService(settings, settings.baseUrl, token, { stop: call.stop, releasers });
    if (answer.date !== null) offsets.push(['the service', answer.date - Date.now()]);
    return judgeService(settings, answer);
  });
  yield await findingOf('token', async () => {
    token ??= readToken(settings);
    if (token === null) throw notSet('token', 'BRAND_API_TOKEN or --token-file');
    return judgeToken(settings.baseUrl ?? '', answer, why);
  });
  yield await findingOf('engine', async (releasers) => {
    const engine = await openStores({ ...settings, startEmpty: false }, call, releasers);
    const account = knownNames({ ...settings, token })?.account ?? 'doctor';
    offsets.push(['the engine', (await engine.ledger.show(account)).now - Date.now()]);
    const texts = [`${engine.kind} at ${engine.address}`, ...engine.warnings.map(({ text }) => text)];
    return engine.warnings.length === 0 ? ok(texts.join('; ')) : warning(texts.join('; '));
  });
  yield await findingOf('disk', async () => {
    assertOwnState(settings.state);
    makeFolder(settings.state, 0o700);
    await assertDiskRoom([settings.state, call.folder]);
    return ok(`enough room in ${settings.state} and ${call.folder}`);
  });
  yield { check: 'clock', ...judgeClock(offsets) };
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  yield { check: 'time zone', ...ok(`${timeZone}; schedules use it unless --tz names another`) };
  if (settings.inboxes.length === 0) yield { check: 'inbox', ...skipped('not set: --inbox') };
  for (const inbox of settings.inboxes)
    yield await findingOf('inbox', async () =>
      ok((await openFolders(resolve(call.folder, inbox), true)).inbox),
    );
  const receivers = receiversOf(settings, systemClock);
  for (const check of ['webhook', 'e-mail'] as const) {
    const receiver = receivers.find(({ channel }) => channel === check);
    if (receiver) yield await findingOf(check, async () => ok(await receiver.check()));
    else yield { check, ...skipped(`not set: --notify-${check === 'webhook' ? 'url' : 'mail'}`) };
  }
}

async function findingOf(
  check: Finding['check'],
  look: (releasers: Releasers) => Promise<Found>,
): Promise<Finding> {
  try {
    return { check, ...(await withReleasers(look)) };
  } catch (error) {
    const known = error instanceof BrandEnrichError ? error : unreachable(check, error);
    return { check, state: 'failed', text: known.message, error: known };
  }
}

function unreachable(check: Finding['check'], cause: unknown): RunError {
  const what = `the ${check} cannot be used`;
  const todo = 'check its setting, then run it again';
  return new RunError({ code: 'service-unreachable', what, subject: systemWords(cause), todo, cause });
}

function notSet(what: string, where: string): RunError {
  const code = what === 'token' ? 'usage-token-missing' : 'usage-service-missing';
  return new RunError({ code, subject: what, todo: `set ${where}` });
}

/** Returns why a lookup of `ownDomain` could be billed; null if it is free. Pure. */
export function whyNotAsked({ baseUrl, ownDomain }: Pick<Settings, 'baseUrl' | 'ownDomain'>): string | null {
  if (ownDomain === null || baseUrl === null) return 'a lookup is only free with --own-domain';
  const name = getDomainWithoutSuffix(baseUrl);
  const isOwn = name !== null && name !== '' && name === getDomainWithoutSuffix(ownDomain);
  if (isOwn || isLoopbackUrl(baseUrl)) return null;
  return `a lookup of ${ownDomain} could be billed: it may not be the service's own domain`;
}

async function askService(
  settings: Settings,
  baseUrl: string,
  token: string,
  { stop: signal, releasers }: { stop: AbortSignal; releasers: Releasers },
): Promise<ServiceAnswer> {
  const { freeStatuses, ownDomain } = settings;
  const client = openClient(settings, baseUrl, token, releasers);
  const identifier = { kind: 'domain', value: ownDomain ?? EXAMPLE_SERVICE.ownDomain } as const;
  return client.lookup(identifier, { allowNsfw: 'unset', freeStatuses, signal });
}

/** Judges the service. Throws `RunError` if it neither knows its own domain nor refuses. */
function judgeService({ baseUrl, ownDomain }: Settings, { meaning }: ServiceAnswer): Found {
  if (['matched', 'refused', 'credentials'].includes(meaning.type)) return ok(`${baseUrl} answers`);
  const reason =
    'reason' in meaning ? meaning.reason : `it does not know ${ownDomain}, which should be its own domain`;
  const todo = 'check the address and the domain, then run it again';
  throw new RunError({ code: 'service-unreachable', subject: `${baseUrl} (${reason})`, todo });
}

/** Judges the token. `answer`: null if the service was not asked, for the reason `why`. */
function judgeToken(baseUrl: string, answer: ServiceAnswer | null, why: string | null): Found {
  const { meaning, usage, quota } = answer ?? {};
  if (meaning?.type === 'credentials') {
    const todo = 'check the token, then run it again';
    throw new AuthenticationError({
      code: 'credentials-refused',
      subject: `${baseUrl} (${meaning.reason})`,
      todo,
    });
  }
  if (meaning?.type !== 'matched' && meaning?.type !== 'refused')
    return skipped(`set, not tried: ${why ?? 'the service gives no usable answer'}`);
  const isReported = typeof usage === 'number' && typeof quota === 'number';
  const used = isReported ? `: ${countText(usage)} of ${countText(quota)} requests used` : '';
  return ok(`accepted${used}`);
}

/** Schedules follow this machine's clock, quotas the service's, and runs the engine's. */
const CLOCKS_DIFFER_MS = 60_000;

/** Judges this machine's clock by the others; `ms`: how far they are ahead. Pure. */
export function judgeClock(offsets: readonly (readonly [of: string, ms: number])[]): Found {
  if (offsets.length === 0) return skipped('no other clock to compare with');
  const texts = offsets.map(([of, ms]) => `${countText(Math.round(Math.abs(ms) / 1_000))} s from ${of}'s`);
  const differs = offsets.some(([, ms]) => Math.abs(ms) > CLOCKS_DIFFER_MS);
  return differs ? warning(`${texts.join(', ')}: set this machine's clock (NTP)`) : ok(texts.join(', '));
}
