/** `init`: asks what a config file needs, tries it without spending anything, and writes the file. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { getDomainWithoutSuffix } from 'tldts';
import { isLoopbackUrl, maskAddress, maskTokenPath } from '../config/address-values.js';
import { configText } from '../config/config-text.js';
import { CONFIG_FILE, loadSettings, parseConfigFile } from '../config/load-settings.js';
import { Refusal } from '../config/parse-value.js';
import { readToken, tokenValue } from '../config/secrets.js';
import { SETTINGS, type SettingName, type Settings } from '../config/settings.js';
import { openStores } from '../context/open-context.js';
import { openClients } from '../context/open-service.js';
import {
  BrandEnrichError,
  DeclinedError,
  EXIT,
  type ExitCode,
  FailFileError,
  InterruptedError,
  NeverStartError,
  usageProblem,
} from '../core/errors.js';
import { countText } from '../core/figures.js';
import { type Releasers, withReleasers } from '../core/lifecycle.js';
import { keepSecret } from '../core/secrets.js';
import { printControlled, printText, visibleLines } from '../core/terminal-text.js';
import { writeFailure } from '../run/output/output-names.js';
import { type CommandCall, show } from './answer.js';

/** What the file gets where a flag says it. The engine of the environment may hold a password. */
const FROM_FLAGS = ['ownDomain', 'account', 'allowHttp', 'plan', 'overageBudget', 'engine', 'state'] as const;

type Values = { -readonly [Name in SettingName]?: Settings[Name] };

/** What the service answered to the request that is free; exit code 4. */
class RefusedError extends BrandEnrichError {
  readonly exitCode = EXIT.credentials;
}

/** Throws NeverStartError where a file is there or something is missing, and what a trial shows. */
export function runInit(call: CommandCall): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { settings, folder, stdin, stderr } = call;
    const path = resolve(folder, settings.configFile ?? CONFIG_FILE);
    const canAsk = !settings.yes && stdin.isTTY === true && stderr.isTTY === true;
    const person = canAsk ? openPrompt(call) : null;
    releasers.push(() => person?.close());
    const isThere = existsSync(path);
    if (isThere && !(await person?.agrees(`${path} is there. Replace it?`))) throw keptFile(path, canAsk);

    const values = givenValues(call);
    const pasted = person === null ? null : await askFor(values, call, person);
    const text = configText(values);
    // As a run will read it.
    const env = settings.token === null ? {} : { BRAND_API_TOKEN: settings.token };
    const file = parseConfigFile(path, text);
    loadSettings({ flags: {}, env, file, command: 'run', home: homedir() });
    const token = pasted ?? readToken({ token: settings.token, tokenFile: values.tokenFile ?? null });

    const said: string[] = [];
    for (const trial of [tryEngine, tryService]) {
      try {
        said.push(await withReleasers((own) => trial({ ...settings, ...values }, token ?? '', call, own)));
      } catch (error) {
        if (!(error instanceof BrandEnrichError) || person === null) throw error;
        person.say(error.message);
        if (!(await person.agrees('Write the file all the same?'))) throw declined(path);
      }
    }
    if (pasted !== null) await writePrivate(values.tokenFile ?? '', pasted);
    const isSecret = maskAddress(values.engine ?? '').includes('***@');
    const options = { mode: isSecret ? 0o600 : 0o644, flag: isThere ? 'w' : 'wx' };
    await writeFile(path, text, options).catch((error: unknown) => {
      throw writeFailure(path, error);
    });
    const tokenFile = values.tokenFile ?? null;
    const lines = [
      ...said,
      ...(pasted === null ? [] : [`token in ${tokenFile}, for you alone`]),
      `wrote ${path}`,
    ];
    return show({ data: { config: path, tokenFile }, text: visibleLines(lines) }, call);
  });
}

function keptFile(path: string, wasAsked: boolean): BrandEnrichError {
  if (wasAsked) return declined(path);
  const todo = 'remove it, or name another file with --config';
  return new NeverStartError(usageProblem('there is a config file already', path, todo));
}

function declined(path: string): BrandEnrichError {
  return new DeclinedError({ code: 'declined', subject: path, todo: 'run it again' });
}

/** What flags say, and of the environment the address and the token's file. */
function givenValues({ settings, origins, folder }: CommandCall): Values {
  const { baseUrl, tokenFile } = settings;
  const said = FROM_FLAGS.filter((name) => origins[name] === 'flag').map((name) => [name, settings[name]]);
  return {
    ...(baseUrl === null ? {} : { baseUrl }),
    ...(tokenFile === null ? {} : { tokenFile: resolve(folder, tokenFile) }),
    ...Object.fromEntries(said),
  };
}

type Prompt = ReturnType<typeof openPrompt>;

/** Fills in what nobody said. Returns a token that was pasted, null when there is no need of one. */
async function askFor(
  values: Values,
  { settings, folder }: CommandCall,
  person: Prompt,
): Promise<string | null> {
  /** Nothing is asked for what is known. */
  const ask = async <Name extends SettingName>(name: Name, question: string, fallback: string) => {
    while (values[name] === undefined) {
      const answer =
        (await person.ask(`${question}${fallback === '' ? '' : ` [${fallback}]`}: `)) || fallback;
      if (answer === '' && name === 'ownDomain') return;
      const value = SETTINGS[name].kind.parse([answer]);
      if (value instanceof Refusal) person.say(`That is not ${value.expected}: write ${value.write}.`);
      else Object.assign(values, { [name]: value });
    }
  };
  await ask('baseUrl', 'Address of the service', '');
  let pasted: string | null = null;
  if (settings.token === null) {
    await ask('tokenFile', 'File that holds the token', join(homedir(), '.config', 'brand-enrich', 'token'));
    if (maskTokenPath(values.tokenFile ?? '') === '…') {
      const todo = 'name the file that holds it, or a new one, and paste the token when it is asked for';
      throw new NeverStartError(
        usageProblem('this looks like the token itself', 'the file of the token', todo),
      );
    }
    values.tokenFile = resolve(folder, values.tokenFile ?? '');
    if (!existsSync(values.tokenFile)) pasted = await askToken(person);
  }
  await ask('plan', 'Plan of the account, free or paid', 'free');
  if (values.plan === 'paid')
    await ask('overageBudget', 'What may be spent per period beyond the quota', '0');
  await ask('engine', 'Engine: embedded, or a redis:// or postgres:// address', 'embedded');
  person.say("Asking for the service's own brand is free: with its domain, address and token can be tried.");
  await ask('ownDomain', "The service's own domain (empty: nothing is tried)", '');
  return pasted;
}

async function askToken(person: Prompt): Promise<string> {
  for (;;) {
    const token = tokenValue.parse([await person.askHidden('The token (it is not shown): ')]);
    if (token instanceof Refusal) person.say(`That is not ${token.expected}: write ${token.write}.`);
    else {
      keepSecret(token);
      return token;
    }
  }
}

async function tryEngine(
  settings: Settings,
  _: string,
  call: CommandCall,
  releasers: Releasers,
): Promise<string> {
  const { kind, address, warnings } = await openStores({ ...settings, startEmpty: false }, call, releasers);
  return [`engine works: ${kind} at ${address}`, ...warnings].join('; ');
}

/**
 * Whether a domain can be the brand of the service: `brand.com` of `https://api.brand.io`. Asking
 * for any other costs a request. On this machine nobody is billed. Pure.
 */
export function mayBeOwnBrand(domain: string, baseUrl: string): boolean {
  const name = getDomainWithoutSuffix(baseUrl);
  return isLoopbackUrl(baseUrl) || (name !== null && name !== '' && name === getDomainWithoutSuffix(domain));
}

/** Asks for the service's own brand, which is free (specification, Limits); nothing else is sent. */
async function tryService(settings: Settings, token: string, { stop }: CommandCall, releasers: Releasers) {
  const { baseUrl, ownDomain, freeStatuses } = settings;
  const client = openClients(settings, token, releasers)(baseUrl ?? '');
  if (ownDomain === null || client === null) return 'service not tried: only its own domain is free';
  if (!mayBeOwnBrand(ownDomain, baseUrl ?? ''))
    return `service not tried: ${ownDomain} may not be its own domain, and another could cost a request`;
  const identifier = { kind: 'domain', value: ownDomain } as const;
  const options = { allowNsfw: 'unset', freeStatuses, signal: stop, isOwnBrand: true } as const;
  const { meaning, usage, quota } = await client.lookup(identifier, options);
  const subject = baseUrl ?? '';
  if (meaning.type === 'credentials') {
    const todo = 'look at the token, then run it again';
    throw new RefusedError({ code: 'service-refused', subject: `${subject} (${meaning.reason})`, todo });
  }
  if (meaning.type === 'matched' || meaning.type === 'refused') {
    const used = usage === null || quota === null ? '' : `: ${countText(usage)} of ${countText(quota)} used`;
    return `service answers${used}`;
  }
  const reason =
    meaning.type === 'not_found' ? `it does not know ${ownDomain}, which should be its own` : meaning.reason;
  const todo = 'look at the address and the domain, then run it again';
  throw new FailFileError({ code: 'service-unreachable', subject: `${subject} (${reason})`, todo });
}

async function writePrivate(path: string, token: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw writeFailure(path, error);
  }
}

/** Questions on a terminal. Ctrl-C, Ctrl-D and the end of the process interrupt them. */
function openPrompt({ stdin, stderr, stop }: CommandCall) {
  let isHidden = false;
  const output = new Writable({
    write(chunk: Buffer, _, done) {
      if (!isHidden) printControlled(stderr, chunk.toString());
      done();
    },
  });
  const lines = createInterface({ input: stdin, output, terminal: true, historySize: 0 });
  const ended = new Promise<never>((_, reject) => {
    const todo = 'nothing was written; run it again';
    const end = () => reject(new InterruptedError({ code: 'interrupted', subject: 'init', todo }));
    lines.once('SIGINT', end).once('close', end);
    stop.addEventListener('abort', end, { once: true });
  });
  ended.catch(() => undefined);
  const ask = async (question: string) => (await Promise.race([lines.question(question), ended])).trim();
  return {
    ask,
    async askHidden(question: string): Promise<string> {
      printText(stderr, question);
      isHidden = true;
      try {
        return await ask('');
      } finally {
        isHidden = false;
        printText(stderr, '\n');
      }
    },
    agrees: async (question: string) => /^y(es)?$/i.test(await ask(`${question} [y/N] `)),
    say: (line: string) => printText(stderr, `${line}\n`),
    close: () => lines.close(),
  };
}
