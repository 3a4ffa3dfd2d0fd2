/** `--fill` of whole runs: counts, the file of differences, and what a second run costs. */
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { profileText } from '../support/brand-profile.js';
import { embeddedEngine, redisEngine } from '../support/engines.js';
import { readRows } from '../support/output-files.js';
import { createScene, domainAt } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

/** As a CSV cell; empty where the service has no brand. */
function nameOf(domain: string): string {
  const text = profileText('domain', domain);
  return text === null ? '' : `"${JSON.parse(text).name.replaceAll('"', '""')}"`;
}

/** Every third cell is blank, and every fifth row has an own name. */
const list = Array.from(
  { length: 30 },
  (_, at) => `${domainAt(at)},${at % 3 === 0 ? '' : at % 5 === 0 ? `own ${at}` : nameOf(domainAt(at))}\n`,
);
const FILE = `website,Name\n${list.join('')}`;

onEngines([redisEngine().missing === null ? redisEngine() : embeddedEngine()], (engine) => {
  test('a run fills blank cells, lists those that differ, and does it again for nothing', async () => {
    const scene = await createScene(engine, {}, FILE);
    const command = ['run', 'list.csv', '--fill', 'name=name', '--fields', 'none', '--json'];
    const first = JSON.parse((await ends(0, scene.run(command))).stdout);
    const rows = await readRows(scene.path('list.enriched.csv'));
    expect(rows).toHaveLength(30);
    expect(Object.keys(rows[0] ?? {})).toEqual(['website', 'Name']);
    const differences = await readRows(scene.path('list.differences.csv'));
    const [column] = first.fills.columns;
    expect(column).toMatchObject({ column: 'Name', field: 'name', differing: differences.length });
    expect(column.filled + column.kept + column.differing).toBe(first.rows.matched);
    for (const { row, theirs, column } of differences) {
      expect([column, theirs]).toEqual(['Name', `own ${Number(row) - 1}`]);
    }
    expect(column.filled).toBeGreaterThan(5);
    expect(column.kept).toBeGreaterThan(5);

    const { billed } = scene.service.meter;
    const plan = JSON.parse((await ends(0, scene.run(['plan', ...command.slice(1)]))).stdout);
    expect(plan.fills).toEqual({ columns: first.fills.columns, misfits: 0 });
    const filled = ['run', 'list.enriched.csv', '--fill', 'name=name', '--fields', 'none', '-o', 'again.csv'];
    await ends(0, scene.run(filled));
    const texts = ['list.enriched.csv', 'again.csv'].map((name) => readFile(scene.path(name), 'utf8'));
    const [once, twice] = await Promise.all(texts);
    expect(twice).toBe(once);
    expect(scene.service.meter.billed).toBe(billed);
  });

  test('a run that stops names its differences as partial; its completion removes them', async () => {
    const scene = await createScene(engine, {}, FILE);
    const command = ['run', 'list.csv', '--fill-over', 'Name=name', '--max-requests'];
    await ends(7, scene.run([...command, '20']));
    expect(await scene.files()).toContain('list.differences.partial.csv');
    await ends(0, scene.run([...command, '100']));
    const files = await scene.files();
    expect(files).not.toContain('list.differences.partial.csv');
    expect(files).toContain('list.differences.csv');
    const rows = await readRows(scene.path('list.enriched.csv'));
    for (const row of rows) if (row.brand_status === 'matched') expect(row.Name).toBe(row.brand_name);
  });

  test('what cannot be filled costs nothing', async () => {
    const scene = await createScene(engine, {}, FILE);
    await ends(2, scene.run(['run', 'list.csv', '--fill', 'website=domain']), 'this column is looked up');
    await ends(2, scene.run(['run', 'list.csv', '--fill', 'Nme=name']), 'did you mean "Name"?');
    expect(scene.service.meter.requests).toEqual([]);
  });
});
