/** Config files and environments: a named error, or settings that can be used; never a secret. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { showConfig, shownSettings } from '../../src/commands/config.js';
import { configText } from '../../src/commands/init.js';
import { ConfigError, throwProblems } from '../../src/core/errors.js';
import { sayPhrase } from '../../src/core/phrase.js';
import { findSettings, parseConfigFile, wantsJson } from '../../src/settings/load-settings.js';
import { COMMANDS_WITH_SETTINGS } from '../../src/settings/setting.js';
import { SETTING_ENTRIES } from '../../src/settings/settings.js';
import { share } from '../support/properties.js';
import { fuzz } from './fuzz.js';
import { mutate, mutations, wordsOf } from './mutations.js';

const PATH = '/work/brand-enrich.config.json';
/** Stands wherever a secret may, and must never be shown. */
const SECRET = 'Zx81SesameOpen';

const KEYS = SETTING_ENTRIES.flatMap(([, { key }]) => key ?? []);
const VARIABLES = SETTING_ENTRIES.flatMap(([, { env, envAliases }]) =>
  [env, ...envAliases.map(({ name }) => name)].filter((it) => it != null),
);
const EXAMPLES = [
  ...wordsOf('true no 0 1 64 1.5 -1 1e309 500ms 40s 7d 99999999999d 5% 101%'),
  '',
  ...wordsOf('embedded stop wait csv jsonl tab ; website:domain position:3:ticker a,b,,c *'),
  ...wordsOf('https://api.example.com/v2 http://127.0.0.1:8080 data-team@example.com /etc/token 2026-03'),
  ...wordsOf('name,qualityScore +esg.rating Europe/Berlin'),
  '1'.repeat(400),
  'revenue:desc',
  'utf-8',
  'brand_',
];
/** With a secret where an address of that kind may have one. */
const ADDRESSES = [
  `redis://user:${SECRET}@queue.internal:6379/0`,
  `postgres://me:${SECRET}@db/x?password=${SECRET}`,
  `https://me:${SECRET}@api.example.com`,
  `smtp://me:${SECRET}@mail.example.com:587`,
  `http://proxy:${SECRET}@proxy.internal:3128`,
  `https://hooks.example.com/?key=${SECRET}`,
  SECRET,
];
const BY_SECRECY: Readonly<Record<string, readonly string[]>> = {
  secret: [...ADDRESSES, `https://hooks.example.com/${SECRET}`],
  origin: [...ADDRESSES, `https://hooks.example.com/${SECRET}`],
  address: ADDRESSES,
};
const secretsFor = (part: 'key' | 'env') =>
  SETTING_ENTRIES.flatMap(([, line]) =>
    (BY_SECRECY[line.secrecy] ?? []).flatMap((text) => {
      const name = line[part];
      return name === null ? [] : [[name, text] as const];
    }),
  );

const damaged = (texts: readonly string[], most = 2) =>
  fc
    .record({ text: fc.constantFrom(...texts), changes: mutations(EXAMPLES, most) })
    .map(({ text, changes }) => mutate(Buffer.from(text), changes).toString());
const plain = fc.oneof(damaged(EXAMPLES), fc.constantFrom(...EXAMPLES));
const value: fc.Arbitrary<unknown> = fc.oneof(
  share(6, plain),
  share(3, fc.oneof(fc.double(), fc.integer(), fc.boolean(), fc.constant(null))),
  share(2, fc.array(fc.oneof(plain, fc.integer(), fc.constant(null)), { maxLength: 3 })),
  share(1, fc.object({ maxDepth: 1 })),
);
const entry = fc.oneof(
  share(6, fc.tuple(fc.constantFrom(...KEYS), value)),
  share(1, fc.tuple(damaged(KEYS, 1), value)),
  // A token in the wrong place, and addresses with passwords in the right one.
  share(1, fc.tuple(fc.constantFrom('token', 'apiToken', 'api_key', 'key'), fc.constant(SECRET))),
  share(2, fc.constantFrom(...secretsFor('key'))),
);
const variable = fc.oneof(
  fc.tuple(fc.constantFrom(...VARIABLES), plain),
  fc.tuple(damaged(VARIABLES, 1), plain),
  fc.constantFrom(...secretsFor('env')),
);

const source = fc.record({
  entries: fc.array(entry, { maxLength: 6 }),
  changes: fc.oneof(share(3, fc.constant([])), mutations(['//', '/*', '*/', '"', ',', '{'], 3)),
  isExample: fc.boolean(),
  env: fc.array(variable, { maxLength: 3 }),
  command: fc.constantFrom(...COMMANDS_WITH_SETTINGS),
});

function expectUsable(name: string, value: unknown): void {
  if (typeof value === 'number') expect(Number.isNaN(value), name).toBe(false);
  else if (Array.isArray(value)) for (const each of value) expectUsable(name, each);
  else expect(value, name).not.toBeUndefined();
}

fuzz('a config file is usable or refused by key, and no secret is shown', source, (made) => {
  const { entries, changes, isExample, command } = made;
  // `fromEntries` would lose a key `__proto__`.
  const object = `{${entries.map(([key, it]) => `${JSON.stringify(key)}: ${JSON.stringify(it) ?? 'null'}`).join(',\n')}}`;
  const example = configText({ baseUrl: 'https://api.example.com', plan: 'paid' });
  const text = mutate(Buffer.from(isExample ? example : object), changes).toString();
  const env = { ...Object.fromEntries(made.env), BRAND_API_TOKEN: SECRET };
  const said: string[] = [];
  try {
    const file = parseConfigFile(PATH, text);
    const sources = { flags: {}, env, file, command, home: '/home/ada' };
    const { loaded, problems } = findSettings(sources);
    expect(typeof wantsJson({ argv: [], env, file, settings: null })).toBe('boolean');
    for (const [name] of SETTING_ENTRIES) expectUsable(name, loaded.settings[name]);
    said.push(showConfig(loaded, file), JSON.stringify(shownSettings(loaded)));
    for (const problem of problems) {
      const [subject, what, todo] = [problem.subject, problem.what, problem.todo].map((text) =>
        sayPhrase(text, 'flags'),
      );
      for (const part of [subject, what]) expect(part).not.toBe('');
      said.push(`${subject} ${what} ${todo}`);
    }
    // Every unknown key is named.
    const unknown = Object.keys(file.values).filter((key) => !KEYS.includes(key) && key !== 'schedules');
    for (const key of unknown)
      expect(problems.some(({ subject }) => sayPhrase(subject, 'flags').startsWith(`${key} in `))).toBe(true);
    throwProblems(problems);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    said.push(error.message);
    expect(error.code).toMatch(/^usage-/);
  }
  for (const words of said) expect(words).not.toContain(SECRET);
});
