/** `init`: asks for the main settings, checks them at no cost, and writes a config file. */
import { existsSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import {
  type BrandEnrichError,
  ConfigError,
  DeclinedError,
  type ExitCode,
  InterruptedError,
  usageProblem,
} from '../core/errors.js';
import { makeFolder } from '../core/folders.js';
import { withReleasers } from '../core/lifecycle.js';
import { keepSecret } from '../core/secrets.js';
import { printControlled, printText, visibleLines } from '../core/terminal-text.js';
import { writeFailure } from '../run/output/output-names.js';
import { EXAMPLE_SERVICE, maskAddress, maskTokenPath } from '../settings/address-values.js';
import { CONFIG_FILE, loadSettings, parseConfigFile } from '../settings/load-settings.js';
import { Refusal } from '../settings/parse-value.js';
import { readToken, tokenValue } from '../settings/secrets.js';
import { COMMANDS_WITH_SETTINGS } from '../settings/setting.js';
import { SETTINGS, type SettingName, type Settings } from '../settings/settings.js';
import { type CommandCall, show } from './answer.js';
import { checkSetup, findingLine } from './doctor.js';

/** Settings taken only from flags: an engine in the environment may contain a password. */
const FROM_FLAGS = ['ownDomain', 'account', 'allowHttp', 'plan', 'overageBudget', 'engine', 'state'] as const;

type Values = { -readonly [Name in SettingName]?: Settings[Name] };

/** Writes a config file. Throws if it exists, a setting is missing or a check failed. */
export function runInit(call: CommandCall): Promise<ExitCode> {
  return withReleasers(async (releasers) => {
    const { settings, folder, stdin, stderr } = call;
    const path = resolve(folder, settings.configFile ?? CONFIG_FILE);
    const canAsk = !settings.yes && stdin.isTTY === true && stderr.isTTY === true;
    const person = canAsk ? openPrompt(call) : null;
    releasers.push(() => person?.close());
    const isThere = existsSync(path);
    if (isThere && !(await person?.agrees(`${path} exists. Replace it?`))) throw keptFile(path, canAsk);

    const values = givenValues(call);
    const pasted = person === null ? null : await askFor(values, call, person);
    const text = configText(values);
    // Checks the file as a run would.
    const env = settings.token === null ? {} : { BRAND_API_TOKEN: settings.token };
    const file = parseConfigFile(path, text);
    loadSettings({ flags: {}, env, file, command: 'run', home: homedir() });
    const token = pasted ?? readToken({ token: settings.token, tokenFile: values.tokenFile ?? null });

    const lines: string[] = [];
    for await (const finding of checkSetup({ ...settings, ...values }, call, token)) {
      lines.push(findingLine(finding));
      if (finding.error === undefined) continue;
      if (person === null) throw finding.error;
      person.show(finding.text);
      if (!(await person.agrees('Write the file anyway?'))) throw declined(path);
    }
    if (pasted !== null) await writePrivate(values.tokenFile ?? '', pasted);
    const isSecret = maskAddress(values.engine ?? '').includes('***@');
    const options = { mode: isSecret ? 0o600 : 0o644, flag: isThere ? 'w' : 'wx' };
    try {
      // `writeFile` sets the mode of a new file only.
      if (isThere && isSecret) await chmod(path, options.mode);
      await writeFile(path, text, options);
    } catch (error) {
      throw writeFailure(path, error);
    }
    const tokenFile = values.tokenFile ?? null;
    if (pasted !== null) lines.push(`token in ${tokenFile}, readable only by you`);
    lines.push(`wrote ${path}`);
    return show({ data: { config: path, tokenFile }, text: visibleLines(lines) }, call);
  });
}

function keptFile(path: string, wasAsked: boolean): BrandEnrichError {
  if (wasAsked) return declined(path);
  const todo = 'remove it, or name another file with --config';
  return new ConfigError(usageProblem('the config file exists', path, todo));
}

function declined(path: string): BrandEnrichError {
  return new DeclinedError({ code: 'declined', subject: path, todo: 'run it again' });
}

/** Returns the settings that flags give; address and token file also from the environment. */
function givenValues({ settings, origins, folder }: CommandCall): Values {
  const { baseUrl, tokenFile } = settings;
  const given = FROM_FLAGS.filter((name) => origins[name] === 'flag').map((name) => [name, settings[name]]);
  return {
    ...(baseUrl === null ? {} : { baseUrl }),
    ...(tokenFile === null ? {} : { tokenFile: resolve(folder, tokenFile) }),
    ...Object.fromEntries(given),
  };
}

type Prompt = ReturnType<typeof openPrompt>;

/** Asks for missing settings. Returns the pasted token; null if a token exists. */
async function askFor(
  values: Values,
  { settings, folder }: CommandCall,
  person: Prompt,
): Promise<string | null> {
  const ask = async <Name extends SettingName>(name: Name, question: string, fallback: string) => {
    while (values[name] === undefined) {
      const answer =
        (await person.ask(`${question}${fallback === '' ? '' : ` [${fallback}]`}: `)) || fallback;
      if (name === 'ownDomain' && (answer === '' || answer === '-')) return;
      const value = SETTINGS[name].kind.parse([answer]);
      if (value instanceof Refusal) person.show(`That is not ${value.expected}: write ${value.write}.`);
      else Object.assign(values, { [name]: value });
    }
  };
  await ask('baseUrl', 'Address of the service', EXAMPLE_SERVICE.baseUrl);
  let pasted: string | null = null;
  if (settings.token === null) {
    await ask('tokenFile', 'File that holds the token', join(homedir(), '.config', 'brand-enrich', 'token'));
    if (maskTokenPath(values.tokenFile ?? '') === '…') {
      const todo =
        'enter the file that holds it, or a new file, and paste the token when you are asked for it';
      throw new ConfigError(usageProblem('this looks like the token itself', 'the token file', todo));
    }
    values.tokenFile = resolve(folder, values.tokenFile ?? '');
    if (!existsSync(values.tokenFile)) pasted = await askToken(person);
  }
  await ask('plan', 'Plan of the account, free or paid', 'free');
  if (values.plan === 'paid')
    await ask('overageBudget', 'Budget per period for requests beyond the quota', '0');
  await ask('engine', 'Engine: embedded, or a redis:// or postgres:// address', 'embedded');
  person.show("The service's own domain is free to look up, which checks the address and the token.");
  const isExample = values.baseUrl === EXAMPLE_SERVICE.baseUrl;
  const own = isExample ? EXAMPLE_SERVICE.ownDomain : '';
  await ask('ownDomain', `The service's own domain (${isExample ? '-' : 'empty'} for no check)`, own);
  return pasted;
}

async function askToken(person: Prompt): Promise<string> {
  for (;;) {
    const token = tokenValue.parse([await person.askHidden('The token (it is not shown): ')]);
    if (token instanceof Refusal) person.show(`That is not ${token.expected}: write ${token.write}.`);
    else {
      keepSecret(token);
      return token;
    }
  }
}

async function writePrivate(path: string, token: string): Promise<void> {
  try {
    makeFolder(dirname(path), 0o700);
    await writeFile(path, `${token}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw writeFailure(path, error);
  }
}

/** Opens a prompt on the terminal. Ctrl-C, Ctrl-D and the end of the process interrupt it. */
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
    show: (line: string) => printText(stderr, `${line}\n`),
    close: () => lines.close(),
  };
}

const EXAMPLES: readonly (readonly [SettingName, string | number | readonly string[]])[] = [
  ['baseUrl', EXAMPLE_SERVICE.baseUrl],
  ['tokenFile', '/etc/brand-enrich/token'],
  ['ownDomain', EXAMPLE_SERVICE.ownDomain],
  ['account', 'data-team'],
  ['plan', 'paid'],
  ['overageBudget', '5'],
  ['maxRequests', 500],
  ['onLimit', 'wait'],
  ['priority', 'revenue:desc'],
  ['maxAgeMs', '7d'],
  ['columns', ['website:domain']],
  ['fields', ['name', 'qualityScore', 'company.location.region']],
  ['engine', 'redis://localhost:6379'],
  ['rate', 50],
  ['inboxes', ['/data/brands']],
  ['notifyUrl', 'https://hooks.example.com/brands'],
  ['metricsPort', 9464],
  ['logFile', '/var/log/brand-enrich.log'],
];

/** Returns the text of the file: the values, and other settings as commented examples. */
export function configText(values: Partial<Record<SettingName, unknown>>): string {
  const examples = EXAMPLES.filter(([name]) => values[name] === undefined);
  const given = Object.entries(values) as [SettingName, unknown][];
  return [
    '{',
    ...given.flatMap(([name, value]) => linesOf(name, value, '')),
    '',
    '  // To use a setting, remove the // before it. `brand-enrich config` shows all settings.',
    '',
    ...examples.flatMap(([name, example]) => linesOf(name, example, '// ')),
    '}',
    '',
  ].join('\n');
}

function linesOf(name: SettingName, value: unknown, mark: string): string[] {
  const { key, description, defaultText, commands } = SETTINGS[name];
  const users = commands.filter((each) => each !== 'config');
  const isForFew = users.length > 0 && users.length < COMMANDS_WITH_SETTINGS.length && !users.includes('run');
  const notes = [isForFew ? users.join(', ') : '', defaultText === '' ? '' : `default: ${defaultText}`];
  const note = notes.filter((each) => each !== '').join('; ');
  return [
    `  // ${description}${note === '' ? '' : ` (${note})`}`,
    `  ${mark}${JSON.stringify(key)}: ${JSON.stringify(value)},`,
  ];
}
