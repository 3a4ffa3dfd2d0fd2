/** With --json standard output is JSON whatever goes wrong: settings, input, engine or service. */
import { describe, expect, test } from 'vitest';
import { embeddedEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';

const NOWHERE = ['--engine', 'redis://127.0.0.1:1'];

// The input is checked before an engine is opened.
describe('with --json an error is an object on standard output and a line on standard error', () => {
  test.each<[string, readonly string[], Record<string, string>, { code: string; exitCode: number }]>([
    ['an unknown flag', ['run', 'list.csv', '--jsno', '--json'], {}, { code: 'usage-invalid', exitCode: 2 }],
    [
      'an invalid value in the environment',
      ['status'],
      { BRAND_ENRICH_JSON: 'true', BRAND_ENRICH_RATE: 'fast', BRAND_ENRICH_ENGINE: 'x' },
      { code: 'usage-invalid', exitCode: 2 },
    ],
    ['a missing input', ['run', 'no.csv', ...NOWHERE, '--json'], {}, { code: 'input-missing', exitCode: 5 }],
    ['no engine', ['status', ...NOWHERE, '--json'], {}, { code: 'engine-unreachable', exitCode: 5 }],
  ])('%s', async (_what, args, env, expected) => {
    const scene = await createScene(embeddedEngine(), {}, domainList(1));
    const { code, stdout, stderr } = await scene.run(args, env);
    const { error } = JSON.parse(stdout) as { error: { code: string; message: string; exitCode: number } };
    expect(error).toEqual({ ...expected, message: expect.any(String) });
    expect(code).toBe(expected.exitCode);
    expect(stderr).toContain(error.message);
    expect(stdout + stderr).not.toContain(scene.token);
  });

  test('without --json standard output stays empty', async () => {
    const scene = await createScene(embeddedEngine());
    const { code, stdout } = await scene.run(['run', 'nowhere.csv']);
    expect([code, stdout]).toEqual([5, '']);
  });
});
