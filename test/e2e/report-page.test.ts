/** The report page of partial and complete runs, named in the summary, without secrets. */
import { mkdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { isKnown } from '../support/brand-profile.js';
import { quickEngine } from '../support/engines.js';
import { createScene, domainAt } from '../support/scene.js';
import { ends } from './commands.js';

test('a run names the rows without a brand and no folder of this machine, from start to resumed end', async () => {
  const scene = await createScene(await quickEngine());
  const domains = Array.from({ length: 60 }, (_, at) => domainAt(at));
  const known = domains.filter((domain) => isKnown('domain', domain)).slice(0, 6);
  const [one = '', other = ''] = domains.filter((domain) => !isKnown('domain', domain));
  const cells = [one, '10.0.0.1', other, '<b>x</b>, "y"', one, ...known];
  const lines = cells.map((cell) => `"${cell.replaceAll('"', '""')}"`);
  await mkdir(scene.path('in'));
  await mkdir(scene.path('out'));
  await scene.write('in/list.csv', `website\n${lines.join('\n')}\n`);
  const output = scene.path('out/c #1.csv');
  const list = scene.path('in/list.csv');
  const args = ['run', list, '-o', output, '--report', scene.path('in/r.json'), '--json'];
  await ends(7, scene.run([...args, '--quota', '4']));
  const partial = await readFile(scene.path('in/r.html'), 'utf8');
  expect(partial).toContain('Stopped: --quota 4 is used up; 4 identifiers are left: a higher --quota');
  const second = await ends(0, scene.run(args));

  const page = await readFile(scene.path('in/r.html'), 'utf8');
  const json = await readFile(scene.path('in/r.json'), 'utf8');
  const { listed, files, input } = JSON.parse(json);
  const notFound = { reason: 'the service has no such brand, or withholds it' };
  expect(listed).toMatchObject({
    not_found: [
      { line: 2, value: one, ...notFound },
      { line: 4, value: other, ...notFound },
      { line: 6, value: one, ...notFound },
    ],
    failed: [],
    invalid: [
      { line: 3, value: '10.0.0.1' },
      { line: 5, value: '<b>x</b>, "y"' },
    ],
  });
  expect(page).toContain('<td>&lt;b&gt;x&lt;/b&gt;, &quot;y&quot;</td>');
  expect(input.name).toBe('list.csv');
  expect(files).toEqual({ output: '../out/c #1.csv', errors: '../out/c #1.errors.csv' });
  expect(page).toContain('href="./../out/c%20%231.csv"');
  // A program that starts the command finds the files by what it prints.
  expect(JSON.parse(second.stdout).files.output).toBe(output);
  for (const text of [partial, page, json]) {
    expect(text).not.toContain(scene.path(''));
    expect(text).not.toContain(scene.token);
  }
});
