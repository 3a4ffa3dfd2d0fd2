/** What a person chooses on the page of a plan and of a run, counted at the service. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createInboxScene } from '../jobs/inbox-scene.js';
import { profileText } from '../support/brand-profile.js';
import { quickEngine } from '../support/engines.js';
import { parquetOf } from '../support/hostile-files.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { domainAt, domainList } from '../support/scene.js';
import { ends, expectPaidOnce, kill, LONG } from './commands.js';
import { plain, signIn } from './person.js';
import { dashboardUrl, startUp, startUpHere } from './start-up.js';

type Person = Awaited<ReturnType<typeof signIn>>;

type Changes = Parameters<typeof createInboxScene>[1];
async function startScene(changes: Changes = {}, config: object = {}, startWith = startUpHere) {
  const scene = await createInboxScene(await quickEngine(), changes);
  const start = () => startWith(scene, config);
  const up = await start();
  return { scene, up, start, person: await signIn(dashboardUrl(up)) };
}

/** Waits until a file that was started has a run; the path of its page. */
async function runAfter({ get }: Person, answer: Response): Promise<string> {
  const path = answer.headers.get('location') ?? '';
  expect(path).toMatch(/^\/files\/j-/);
  await expect.poll(() => get(path)).toContain(' Run r-');
  return path;
}

/** Sends a file, presses Start with these choices; the path of its run. */
async function begin(person: Person, name: string, content: string, chosen: Record<string, string>) {
  const page = await person.get(await person.send(name, content));
  return runAfter(person, await person.press(page, 'Start', chosen));
}

test('a try of 20 buys 20, shows them, and waits; its rest is bought when a person says so', async () => {
  const { scene, person } = await startScene();
  const { meter } = scene.service;
  const path = await person.send('list.csv', domainList(60));
  const plan = await person.get(path);
  expect(plan).toContain('Try 20 first, for at most 20 paid lookups');
  const answer = await person.press(plan, 'Start', { try: '20' });
  const run = await runAfter(person, answer);
  const [waiting = ''] = await scene.until('waiting', 1);
  expect(meter.requests).toHaveLength(20);
  // The page may be a second old.
  await expect.poll(() => person.get(run)).toContain('>Tried<');
  const tried = await person.get(run);
  expect(tried).toContain('look at them, then decide about the rest');
  const matched = [...meter.billedOf.keys()].filter((each) => tried.includes(`>${each.slice(7)}</bdi>`));
  expect(matched.length).toBeGreaterThan(5);
  expect(tried).not.toContain('>Pause<');
  expect(await readFile(join(waiting, 'reason.txt'), 'utf8')).toContain(
    '40 companies wait for your approval',
  );

  const question = await (await person.press(tried, 'Look up the rest')).text();
  expect(question).toContain('Look up the rest of list.csv?');
  expect(question).toContain('40 companies are left.');
  expect(meter.requests).toHaveLength(20);
  const rest = await runAfter(person, await person.press(question, 'Look up the rest'));
  expect(rest).toBe(run);
  await scene.until('done', 1);
  expect([meter.billed, meter.mostBilledOnce()]).toEqual([60, 1]);
  await expect.poll(() => person.get(run)).toContain('>Finished<');
});

test('a try whose answers are lost sends no more than it says', async () => {
  const { scene, person } = await startScene({ faults: { resetBefore: 0.5 } });
  const { meter } = scene.service;
  const run = await begin(person, 'list.csv', domainList(60), { try: '20' });
  const [waiting = ''] = await scene.until('waiting', 1);
  expect(meter.requests).toHaveLength(20);
  // Some of the 20 could not be asked for once more.
  const statuses = countStatuses(await readRows(join(waiting, 'list.enriched.partial.csv')));
  expect(statuses.deferred).toBeGreaterThan(40);
  await expect.poll(() => person.get(run)).toContain('>Tried<');
});

test('a try for the files of an inbox is not one of schedules: nobody would see it', LONG, async () => {
  const scene = await createInboxScene(await quickEngine());
  await scene.write('list.csv', domainList(5, 'scheduled'));
  const added = ['schedule', 'add', 'yearly', '--cron', '0 0 1 1 *', '--', 'run', 'list.csv'];
  await ends(0, scene.run(added));
  await startUpHere(scene, { try: 2 });
  await ends(0, scene.run(['schedule', 'run-now', 'yearly']));
  await scene.service.until(({ billed }) => billed === 5);
  await scene.drop('dropped.csv', domainList(5, 'dropped'));
  await scene.until('waiting', 1);
  expect(scene.service.meter.requests).toHaveLength(7);
});

test('a try that is paused, killed, resumed and cancelled sends no more than it says', LONG, async () => {
  const { scene, up, person, start } = await startScene({ latencyMs: 500 }, { concurrency: 2 }, startUp);
  const { meter, options } = scene.service;
  const run = await begin(person, 'list.csv', domainList(60), { try: '20' });
  await scene.service.until(({ billed }) => billed >= 4);
  // What is left of the trial takes longer than pressing the button.
  options.latencyMs = 4_000;
  expect((await person.press(await person.get(run), 'Pause')).status).toBe(303);
  await scene.until('waiting', 1);
  expect(meter.billed).toBeLessThan(20);
  options.latencyMs = 0;
  const question = await (await person.press(await person.get(run), 'Resume')).text();
  const again = await runAfter(person, await person.press(question, 'Resume'));
  await expect.poll(async () => person.get(again)).toContain('>Tried<');
  expect(meter.requests).toHaveLength(20);

  await kill(up);
  const later = await signIn(dashboardUrl(await start()));
  await scene.drop('other.csv', domainList(3, 'other'));
  await scene.until('done', 1);
  expect(meter.requests).toHaveLength(23);
  const sure = await (await later.press(await later.get(again), 'Cancel the run')).text();
  expect((await later.press(sure, 'Cancel the run')).status).toBe(303);
  const [failed = ''] = await scene.until('failed', 1);
  expect(await readFile(join(failed, 'reason.txt'), 'utf8')).toContain('Cancelled by Ada');
  expect(meter.requests).toHaveLength(23);
});

test('a cap of the page holds, and buys the most valuable rows; not found rows and Excel come as asked', async () => {
  const { scene, person } = await startScene();
  const { meter } = scene.service;
  const rows = Array.from({ length: 30 }, (_, index) => `${domainAt(index)},${index * 10}`);
  const priority = 'position:2:desc';
  const chosen = { maxRequests: '7', priority };
  const run = await begin(person, 'capped.csv', `website,revenue\n${rows.join('\n')}\n`, chosen);
  const [waiting = ''] = await scene.until('waiting', 1);
  expect([...meter.billedOf.keys()].sort()).toEqual(
    [23, 24, 25, 26, 27, 28, 29].map((index) => `domain:${domainAt(index)}`),
  );
  expect(meter.requests).toHaveLength(7);
  expect(JSON.parse(await readFile(join(waiting, 'capped.csv.json'), 'utf8'))).toEqual(chosen);
  expect(await person.get(run)).toContain('<dt>Cap</dt><dd>7 paid lookups</dd>');

  await begin(person, 'book.csv', domainList(3), { format: 'xlsx' });
  const [book = ''] = await scene.until('done', 1);
  expect((await readFile(join(book, 'book.enriched.xlsx'))).subarray(0, 2).toString()).toBe('PK');
  await begin(person, 'missing.csv', domainList(20, 'other'), { errorsInclude: 'not_found' });
  const missing = (await scene.until('done', 2)).find((folder) => folder !== book) ?? '';
  const { not_found } = countStatuses(await readRows(join(missing, 'missing.enriched.csv')));
  expect(not_found).toBeGreaterThan(0);
  expect(countStatuses(await readRows(join(missing, 'missing.errors.csv')))).toEqual({ not_found });
});

test('a file that waits at its cap goes on when a person raises it on its page, and nothing is bought twice', async () => {
  const { scene, up, person } = await startScene();
  const { meter } = scene.service;
  const run = await begin(person, 'capped.csv', domainList(30), { maxRequests: '7' });
  await scene.until('waiting', 1);
  await expect.poll(() => person.get(run)).toContain('>Go on<');
  const page = await person.get(run);
  expect(page).toContain('This file reached its own limit.');
  expect(page).toMatch(/<input[^>]*name="maxRequests"[^>]*value="7"/);
  // Without a higher one nothing would happen.
  const same = await person.press(page, 'Go on');
  expect([same.status, same.headers.get('location')]).toEqual([303, `${run}#caps`]);

  await expect.poll(() => person.get('/')).toContain(`href="${run}#caps"`);
  const question = await (await person.press(await person.get(run), 'Go on', { maxRequests: '12' })).text();
  expect(question).toContain('Go on with capped.csv?');
  expect(question).toContain('At most 5 of them are looked up now.');
  expect(meter.requests).toHaveLength(7);
  const again = await runAfter(person, await person.press(question, 'Go on'));
  await scene.service.until(({ billed }) => billed === 12);
  await expect.poll(() => person.get(again)).toMatch(/name="maxRequests"[^>]*value="12"/);
  expect(meter.requests).toHaveLength(12);
  // It rests meanwhile: one run for each word of a person.
  expect(up.said.match(/"file":"capped.csv",[^\n]*"msg":"taken"/g)).toHaveLength(2);

  const sure = await (await person.press(await person.get(again), 'Go on', { maxRequests: '' })).text();
  expect(sure).not.toContain('looked up now');
  await runAfter(person, await person.press(sure, 'Go on'));
  await scene.until('done', 1);
  expect([meter.billed, meter.mostBilledOnce()]).toEqual([30, 1]);
});

test('a start after another column was chosen, but not planned, shows its plan and buys nothing', async () => {
  const { scene, person } = await startScene();
  const { meter } = scene.service;
  const rows = Array.from({ length: 12 }, (_, at) => `${domainAt(at)},${domainAt(at + 40)},${at % 3}`);
  const path = await person.send('two.csv', `website,parent website,tier\n${rows.join('\n')}\n`);
  const page = await person.get(path);
  const refused = await person.press(page, 'Start', { pick: 'position:2', maxRequests: '5' });
  const next = refused.headers.get('location') ?? '';
  expect(new URL(next, 'http://page').searchParams.getAll('column')).toEqual(['position:2']);
  const planned = await person.get(next);
  expect(planned).toContain('Identifiers come from column &quot;parent website&quot;');
  expect(planned).toMatch(/<input[^>]*name="maxRequests"[^>]*value="5"/);
  expect([meter.requests.length, await scene.list('inbox')]).toEqual([0, []]);

  const only = await person.press(planned, 'Start', {
    maxRequests: '',
    only: 'tier',
    'only-is': 'value',
    'only-value': '2',
  });
  const filtered = await person.get(only.headers.get('location') ?? '');
  expect(filtered).toContain('12 rows, 4 domains: at most 4 paid lookups.');
  await runAfter(person, await person.press(filtered, 'Start', { sort: 'none' }));
  const [folder = ''] = await scene.until('done', 1);
  const bought = [...meter.billedOf.keys()].sort();
  expect(bought).toEqual([42, 45, 48, 51].map((index) => `domain:${domainAt(index)}`));
  const kept = await readRows(join(folder, 'two.enriched.csv'));
  expect(kept.map(({ website }) => website)).toEqual(rows.map((row) => row.split(',')[0]));
  expect(countStatuses(kept).skipped).toBe(8);
});

/** What the service calls the company of a domain, or nothing where it does not know the domain. */
const nameOf = (domain: string) => JSON.parse(profileText('domain', domain) ?? '{}').name ?? '';

test('the page fills columns of the file: its plan counts cells, and a change of fields costs nothing', async () => {
  const { scene, person } = await startScene();
  const { meter } = scene.service;
  await begin(person, 'first.csv', domainList(9), {});
  const [first = ''] = await scene.until('done', 1);
  expect(meter.billed).toBe(9);
  // Every second cell is blank; three companies have no stored answer.
  const domains = Array.from({ length: 12 }, (_, at) => domainAt(at));
  const lines = domains.map((domain, at) => `${domain},${at % 2 === 0 ? '' : 'Own name'},${at}`);
  const path = await person.send('own.csv', `website,Company,tier\n${lines.join('\n')}\n`);
  const page = await person.get(path);
  const labels = [...page.matchAll(/<label for="fill-\d">([^<]*)</g)].map(([, label]) => label);
  expect(labels).toEqual(['Company', 'tier']);
  for (const field of 'name country industry employees company.location.region links.linkedin'.split(' '))
    expect(page).toContain(`<option value="Company=${field}">`);
  expect(page).toContain('<details id="fills" class="folded"><summary>');

  const known = domains.slice(0, 9).filter((domain) => nameOf(domain) !== '');
  const blank = known.filter((domain) => domains.indexOf(domain) % 2 === 0).length;
  const planned = await person.get(`${path}?fill=Company%3Dname&fill=`);
  const counts = `<bdi>Company</bdi> from name: ${blank} filled, 0 agree, ${known.length - blank} differ<`;
  expect(planned).toContain(counts);
  expect(planned).toContain('at most 3 paid lookups');
  expect(meter.requests).toHaveLength(9);

  await runAfter(person, await person.press(planned, 'Start'));
  const second = (await scene.until('done', 2)).find((folder) => folder !== first) ?? '';
  expect(JSON.parse(await readFile(join(second, 'own.csv.json'), 'utf8'))).toEqual({
    fill: ['Company=name'],
  });
  const filled = await readRows(join(second, 'own.enriched.csv'));
  expect(new Map(filled.map(({ website, Company }) => [website, Company]))).toEqual(
    new Map(domains.map((domain, at) => [domain, at % 2 === 0 ? nameOf(domain) : 'Own name'])),
  );
  expectPaidOnce(meter, 12);

  const again = await person.send('own.csv', `website,Company,tier\n${lines.join('\n')}\n`);
  const chosen = { fill: 'Company=name', 'fill-over': '1' };
  await runAfter(person, await person.press(await person.get(again), 'Start', chosen));
  const third = (await scene.until('done', 3)).find((folder) => ![first, second].includes(folder)) ?? '';
  for (const { website = '', Company } of await readRows(join(third, 'own.enriched.csv')))
    expect(Company).toBe(nameOf(website) || (domains.indexOf(website) % 2 === 0 ? '' : 'Own name'));
  expectPaidOnce(meter, 12);
});

test('the page says in a sentence why a column cannot be filled, and offers another choice', async () => {
  const { scene, person } = await startScene();
  const table = parquetOf({ website: ['brand-00001.com', 'brand-00002.com'], size: [1, 2] });
  const path = await person.send('sizes.parquet', table);
  const page = await person.get(path);
  const refused = await person.press(page, 'Start', { fill: 'size=employees' });
  const sizes = await person.get(refused.headers.get('location') ?? '');
  expect(plain(sizes)).toContain('Column "size" of the Parquet file holds INT32, not text: “Fill your own');
  expect(sizes).toContain('Fill a column of text, or choose a new name for one.');
  expect(sizes).toMatch(/<details id="fills" class="folded" open.*<option value="size=employees" selected/);
  const lookedUp = await person.get(`${path}?fill=website%3Dname`);
  expect(lookedUp).toContain('This column is looked up: “Fill your own columns” website=name.');
  expect(scene.service.meter.requests).toEqual([]);
});

test('files that were sent together are started in one go, for what the question named', async () => {
  const { scene, person } = await startScene();
  const { meter } = scene.service;
  await person.send('one.csv', domainList(12));
  await person.send('two.csv', domainList(5, 'other'));
  await person.send('names.csv', 'company,city\nAcme,Berlin\nBeta,Paris\n');
  await expect.poll(() => person.get('/')).toContain('See the cost of all');
  const question = await (await person.press(await person.get('/'), 'See the cost of all')).text();
  for (const words of [
    'Start 2 files?',
    'Together at most 17 paid lookups.',
    'one.csv: at most 12 paid lookups.',
    'Not started, because they need a look first: names.csv.',
  ])
    expect(question).toContain(words);
  expect([meter.requests.length, await scene.list('inbox')]).toEqual([0, []]);
  const answer = await person.press(question, 'Start all 2');
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/#upload-card']);
  await scene.until('done', 2);
  expect([meter.billed, meter.mostBilledOnce()]).toEqual([17, 1]);
  await expect.poll(() => person.get('/')).toContain('>names.csv</bdi>');
});

test('what failed is run again from the page of the run, for no more than its number, beside the first result', async () => {
  const { scene, person } = await startScene({ badShare: 0.2 });
  const { meter, options } = scene.service;
  const run = await begin(person, 'list.csv', domainList(60), {});
  const [first = ''] = await scene.until('done', 1);
  const { failed = 0 } = countStatuses(await readRows(join(first, 'list.enriched.csv')));
  expect(failed).toBeGreaterThan(3);
  const billed = meter.billed;
  options.badShare = 0;
  const button = `Run the ${failed} failed rows again`;
  const label = async () => person.get(run);
  await expect.poll(label).toContain(button);
  const sent = await person.press(await person.get(run), button);
  const plan = await person.get(sent.headers.get('location') ?? '');
  expect(plan).toContain(`60 rows, 60 domains: at most ${failed} paid lookups.`);
  expect(meter.billed).toBe(billed);
  await runAfter(person, await person.press(plan, 'Start'));
  const folders = await scene.until('done', 2);
  const second = folders.find((folder) => folder !== first) ?? '';
  expect(countStatuses(await readRows(join(second, 'list.enriched.csv'))).failed).toBeUndefined();
  expect(countStatuses(await readRows(join(first, 'list.enriched.csv'))).failed).toBe(failed);
  expectPaidOnce(meter, billed + failed);
});
