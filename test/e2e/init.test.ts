/** `init`: a config file from flags or from questions on a terminal, tried at no cost. */
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { redisEngine } from '../support/engines.js';
import { hasTerminal, startOnTerminal } from '../support/on-terminal.js';
import { createScene, domainList, type Scene } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

const OWN = 'brand-service.example';
const CONFIG = 'brand-enrich.config.json';

/** Answers each question on the terminal; resolves with the whole text of the terminal. */
async function talk(scene: Scene, answers: readonly (readonly [RegExp, string])[]): Promise<string> {
  const { BRAND_API_TOKEN: _, BRAND_API_URL: __, ...env } = scene.env;
  const terminal = startOnTerminal({ ...scene, env }, 'init');
  for (const [question, answer] of answers) {
    await terminal.until(question);
    terminal.type(`${answer}\r`);
  }
  await terminal.ended;
  return terminal.seen();
}

onEngines([redisEngine()], (engine) => {
  test('from flags: a run works with the file, and nothing was spent', async () => {
    const scene = await createScene(engine, { ownDomain: OWN });
    await scene.write('token.txt', `${scene.token}\n`);
    const flags = ['--base-url', scene.service.url, '--token-file', 'token.txt', '--own-domain', OWN];
    const env = { BRAND_API_TOKEN: '', BRAND_API_URL: '' };
    const args = ['init', '--plan', 'paid', '--overage-budget', '1', '--yes', ...flags];
    const made = await ends(0, scene.run(args, env));
    expect(made.stdout).toMatch(/token +accepted: [\d,]+ of [\d,]+ requests used\n/);
    expect(scene.service.meter.billed).toBe(0);
    expect(scene.service.meter.requests).toHaveLength(1);
    const text = await readFile(scene.path(CONFIG), 'utf8');
    expect(text).not.toContain(scene.token);

    await scene.write('list.csv', domainList(3));
    await ends(0, scene.run(['run', 'list.csv'], env));
    expect(scene.service.meter.billed).toBe(3);

    await ends(2, scene.run(args, env), 'the config file exists');
    expect(await readFile(scene.path(CONFIG), 'utf8')).toBe(text);
  });

  test.each([
    ['a wrong token', 4, /the service refused the credentials: http.*check the token/, 'wrong-token', OWN],
    ['an address without a listener', 5, /cannot be reached.*http/, null, OWN],
    ['no token', 2, /the token is empty/, '', OWN],
  ])('with %s nothing is written', async (_, code, words, token, ownDomain) => {
    const scene = await createScene(engine, { ownDomain });
    await scene.write('token.txt', token ?? scene.token);
    const flags = ['--token-file', 'token.txt', '--own-domain', ownDomain, '--yes'];
    if (code === 5) await scene.service.stop();
    const refused = await scene.run(['init', ...flags], { BRAND_API_TOKEN: '' });
    expect(refused).toMatchObject({ code, stderr: expect.stringMatching(words) });
    expect(await scene.files()).not.toContain(CONFIG);
    expect(scene.service.meter.billed).toBe(0);
  });

  test.skipIf(!hasTerminal)('from questions: a pasted token is only in its own file', async () => {
    const scene = await createScene(engine, { ownDomain: OWN });
    const questions = [
      [/Address of the service \[https:\/\/api\.brandfetch\.io\]: $/, 'nonsense'],
      [/That is not an http or https address[\s\S]*Address of the service .*: $/, scene.service.url],
      [/File that holds the token .*: $/, 'secret/token'],
      [/The token \(it is not shown\): $/, scene.token],
      [/Plan .*\[free\]: $/, ''],
      [/Engine.*\[embedded\]: $/, scene.env.BRAND_ENRICH_ENGINE ?? ''],
      [/own domain .*: $/, OWN],
    ] as const;
    const seen = await talk(scene, questions);
    expect(seen).toMatch(/token +accepted: .* used\n/);
    expect(seen).not.toContain(scene.token);
    const text = await readFile(scene.path(CONFIG), 'utf8');
    expect(text).not.toContain(scene.token);
    expect(text).toContain('"plan": "free",');
    expect(await readFile(scene.path('secret/token'), 'utf8')).toBe(`${scene.token}\n`);
    expect((await stat(scene.path('secret/token'))).mode & 0o777).toBe(0o600);
    expect((await stat(scene.path('secret'))).mode & 0o777).toBe(0o700);

    await writeFile(scene.path(CONFIG), text);
    const kept = await talk(scene, [[/Replace it\? \[y\/N\] $/, 'n']]);
    expect(kept).toContain('nothing was done: you declined');
    expect(await readFile(scene.path(CONFIG), 'utf8')).toBe(text);
    expect(scene.service.meter.billed).toBe(0);

    // A password in it is not for everybody who could read the file before.
    await chmod(scene.path(CONFIG), 0o644);
    await talk(scene, [
      [/Replace it\? \[y\/N\] $/, 'y'],
      [/Address of the service \[https:\/\/api\.brandfetch\.io\]: $/, scene.service.url],
      [/File that holds the token .*: $/, 'secret/token'],
      [/Plan .*\[free\]: $/, ''],
      [/Engine.*\[embedded\]: $/, (scene.env.BRAND_ENRICH_ENGINE ?? '').replace('//', '//:a-password@')],
      [/own domain .*: $/, ''],
    ]);
    expect(await readFile(scene.path(CONFIG), 'utf8')).toContain('a-password');
    expect((await stat(scene.path(CONFIG))).mode & 0o777).toBe(0o600);
  });
});
