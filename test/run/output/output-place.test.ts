import {
  lchown,
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createOutput } from '../../../src/run/output/output-file.js';
import { assertPlaces, makePlaces, type OutputNames, placeOf } from '../../../src/run/output/output-names.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await temporaryFolder());
  await mkdir(join(folder, 'there'));
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'input.csv'), 'the input');
});
const at = (name: string) => join(folder, name);

describe('the target of an output', () => {
  it.each([
    ['a missing file', 'new.csv', 'new.csv', {}],
    ['a file', 'input.csv', 'input.csv', {}],
    ['a link to a file', 'link', 'input.csv', { link: 'input.csv' }],
    ['a dangling link', 'link', 'there/new.csv', { link: 'there/new.csv' }],
    ['a link to such a link', 'one', 'there/new.csv', { one: 'data/two', 'data/two': '../there/new.csv' }],
    ['a name in a linked folder', 'way/new.csv', 'there/new.csv', { way: 'there' }],
    ['a link there that leads up', 'way/link', 'new.csv', { way: 'there', 'there/link': '../new.csv' }],
  ])('is resolved for %s', async (_what, target, place, links) => {
    for (const [name, to] of Object.entries(links)) await symlink(to, at(name));
    expect(await placeOf(at(target))).toBe(at(place));
  });

  it('is one of the links when they form a circle', async () => {
    await symlink('two', at('one'));
    await symlink('one', at('two'));
    expect([at('one'), at('two')]).toContain(await placeOf(at('one')));
  });
});

it('a dangling link is kept, and its target is written', async () => {
  await symlink('there/new.csv', at('link.csv'));
  const output = await createOutput(at('link.csv'), { gzip: false, bom: false, stdout: null });
  await output.write('rows');
  await output.commit();
  expect(await readlink(at('link.csv'))).toBe('there/new.csv');
  expect(await readFile(at('there/new.csv'), 'utf8')).toBe('rows');
});

describe('before anything is spent', () => {
  const namesWith = (some: Partial<OutputNames>): OutputNames => ({
    complete: at('out.csv'),
    partial: at('out.partial.csv'),
    errors: at('out.errors.csv'),
    report: at('out.report.json'),
    reportHtml: at('out.report.html'),
    gzip: false,
    changes: null,
    differences: null,
    partialDifferences: null,
    ...some,
  });
  const check = (some: Partial<OutputNames>) => assertPlaces(at('input.csv'), namesWith(some));

  it('ordinary names, pipes and standard output are accepted', async () => {
    await writeFile(at('out.csv'), 'of an earlier run');
    await expect(check({})).resolves.toBeUndefined();
    await expect(check({ complete: '-', partial: '-' })).resolves.toBeUndefined();
    await expect(check({ complete: '/dev/null', partial: '/dev/null' })).resolves.toBeUndefined();
    await expect(assertPlaces('-', namesWith({}))).resolves.toBeUndefined();
  });

  it.each([
    ['complete', 'there', 'it is a folder'],
    ['report', 'there', 'it is a folder'],
    ['errors', 'input.csv/out.csv', 'its folder'],
    ['complete', 'lost.csv', 'its folder is not a folder'],
  ] as const)('%s as %s is refused: %s', async (which, name, words) => {
    await symlink('input.csv/out.csv', at('lost.csv'));
    await expect(check({ [which]: at(name) })).rejects.toMatchObject({
      code: 'output-unwritable',
      subject: at(name),
      todo: expect.stringContaining(words),
    });
  });

  it('missing folders are made, also where a link leads', async () => {
    await symlink('there/deep/out.csv', at('later.csv'));
    const names = namesWith({ complete: at('new/out.csv'), errors: at('later.csv') });
    await assertPlaces(at('input.csv'), names);
    await expect(readdir(at('new'))).rejects.toThrow('ENOENT');
    await makePlaces(names);
    expect(await readdir(at('new'))).toEqual([]);
    expect(await readdir(at('there/deep'))).toEqual([]);
  });

  it('a link to another output is refused', async () => {
    await symlink('out.partial.csv', at('link.csv'));
    await expect(check({ errors: at('link.csv') })).rejects.toMatchObject({
      code: 'usage-invalid',
      subject: `${at('link.csv')}, which leads to ${at('out.partial.csv')}`,
    });
  });

  it.runIf(process.getuid?.() === 0)('a link of another user is refused, behind a folder too', async () => {
    await mkdir(at('there/below'));
    await symlink('there/below', at('way'));
    await symlink('../planted.csv', at('there/below/link.csv'));
    await symlink(at('data/new.csv'), at('there/planted.csv'));
    await expect(check({ errors: at('way/link.csv') })).resolves.toBeUndefined();
    await lchown(at('there/planted.csv'), 54_401, 54_401);
    await expect(check({ errors: at('way/link.csv') })).rejects.toMatchObject({
      code: 'output-unwritable',
      subject: `${at('there/planted.csv')} (a symbolic link of another user)`,
    });
  });

  it('an input behind a link is recognised by its real path', async () => {
    await symlink('input.csv', at('link.csv'));
    const names = namesWith({ complete: at('input.csv') });
    const expected = { code: 'usage-invalid', subject: at('input.csv') };
    await expect(assertPlaces(at('link.csv'), names)).rejects.toMatchObject(expected);
  });

  it('an output over the input is reported as such, under any name and for any output', async () => {
    await writeFile(at('input.csv'), 'a\n');
    await link(at('input.csv'), at('second-name.csv'));
    await symlink('input.csv', at('link.csv'));
    const input = 'would overwrite the input';
    for (const [which, name, words] of [
      ['complete', 'link.csv', `the output ${input}`],
      ['complete', 'second-name.csv', `the output ${input}`],
      ['errors', 'there/../input.csv', `the errors file ${input}`],
      ['report', 'link.csv', `the report ${input}`],
      ['errors', 'out.csv', 'the output and the errors file are the same file'],
    ] as const)
      await expect(check({ [which]: at(name) })).rejects.toThrow(words);
  });
});
