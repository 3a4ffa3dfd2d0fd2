/** With --json standard output is JSON whatever goes wrong: settings, input, engine or service. */
import { describe, expect, test } from 'vitest';
import type { Document } from '../../src/run/documents.js';
import { embeddedEngine } from '../support/engines.js';
import { createScene, domainList } from '../support/scene.js';
import { ends } from './commands.js';

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

  test.each([
    ['https://example.com/list.csv', 5, /it is an address, not a file: download it, or pipe it/],
    ['s3://bucket/list.csv', 5, /it is an address/],
    ['.', 5, /name a file in it, or use brand-enrich watch for every file of a folder/],
    ['lsit.csv', 5, /it does not exist\); did you mean list\.csv\?/],
    ['other.csv', 5, /check the path and its permissions/],
    ['cut.json', 5, /line 1 \(the array does not end: it seems to be cut off\)/],
    ['list.csv -o out.pdf', 2, /ends in \.pdf, but the format is csv.*; end it in \.csv, or in/],
  ])('run %s ends with %i and says what to do', async (args, code, words) => {
    const scene = await createScene(embeddedEngine(), {}, domainList(1));
    await scene.write('cut.json', '[{"website":"acme.com"},{"webs');
    await ends(code, scene.run(['run', ...args.split(' ')]), words);
    expect(scene.service.meter.requests).toHaveLength(0);
  });

  test.each([
    ['outcomes forget acme.com', 0, /^no stored answer of http.* for acme\.com/],
    ['plan list.csv --sample', 0, /stored answers {6}none: sample data is not kept/],
    ['schema --json', 2, /not a flag of schema: --json; omit it/],
  ])('%s ends with %i and says what to do', async (args, code, words) => {
    const scene = await createScene(embeddedEngine(), {}, domainList(1));
    const { stdout, stderr, code: ended } = await scene.run(args.split(' '));
    expect([ended, stdout + stderr]).toEqual([code, expect.stringMatching(words)]);
  });

  test('config --json has values, not words', async () => {
    const scene = await createScene(embeddedEngine());
    const { stdout } = await scene.run(['config', '--json', '--rate', '5', '--column', 'a', '--column', 'b']);
    const { settings } = JSON.parse(stdout) as Document<'config'>;
    const shownAs = (wanted: string) => settings.find(({ name }) => name === wanted)?.value;
    expect(['rate', 'column', 'delimiter', 'json', 'timeout'].map(shownAs)).toEqual([
      5,
      ['a', 'b'],
      null,
      true,
      '40s',
    ]);
    expect(stdout).not.toContain(scene.token);
  });

  test('without --json standard output stays empty', async () => {
    const scene = await createScene(embeddedEngine());
    const { code, stdout } = await scene.run(['run', 'nowhere.csv']);
    expect([code, stdout]).toEqual([5, '']);
  });
});
