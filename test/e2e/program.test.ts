/** A program drives files through the dashboard of a real `up`, by HTTP alone. */
import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { schemaText } from '../../src/commands/schema.js';
import type { Document } from '../../src/run/documents.js';
import { createInboxScene, type InboxScene, readReason } from '../jobs/inbox-scene.js';
import { quickEngine } from '../support/engines.js';
import { domainList } from '../support/scene.js';
import { faultsOf } from '../support/schemas.js';
import { statusOf } from './commands.js';
import { dashboardUrl, PASSWORD, startUpHere } from './start-up.js';

type Run = Document<'run'>;

interface Answer<Json> {
  readonly status: number;
  readonly location: string | null;
  readonly json: Json;
}

async function open(config: object = {}, changes: Parameters<typeof createInboxScene>[1] = {}) {
  const scene = await createInboxScene(await quickEngine(), changes);
  const up = await startUpHere(scene, config);
  const url = dashboardUrl(up);
  const authorization = `Basic ${Buffer.from(`etl:${PASSWORD}`).toString('base64')}`;
  const ask = async <Json>(path: string, init: RequestInit = {}): Promise<Answer<Json>> => {
    const given = { headers: { authorization }, redirect: 'manual', ...init } as const;
    const answer = await fetch(new URL(path, url), given);
    const json = (await answer.json()) as Json;
    return { status: answer.status, location: answer.headers.get('location'), json };
  };
  const send = (
    query: Record<string, string>,
    body: string,
    headers: Record<string, string> = { authorization },
  ) => {
    const path = `/uploads?${new URLSearchParams({ start: '1', ...query })}`;
    return ask<Document<'upload'>>(path, { method: 'POST', headers, body });
  };
  /** Asks for the run until it says so; each document matches its schema. */
  const until = async (path: string, isThere: (run: Run) => boolean) => {
    const states = new Set<string>();
    for (;;) {
      const { status, json } = await ask<Run>(path);
      expect([status, faultsOf('run', json)]).toEqual([200, []]);
      states.add(json.state);
      if (isThere(json)) return { run: json, states: [...states] };
      await sleep(50);
    }
  };
  const text = async (path: string | null) =>
    (await fetch(new URL(path ?? '/no-such-link', url), { headers: { authorization } })).text();
  return { scene, up, ask, send, until, text, authorization, meter: scene.service.meter };
}

const filesIn = async (scene: InboxScene) => [
  ...(await scene.list('inbox')),
  ...(await readdir(scene.path('.drafts')).catch(() => [])),
];

const rowsIn = (csv: string) => csv.match(/^brand-\d{5}\.com,/gm)?.length;

test('a program sends a file, follows its run and takes the result; what it costs is what the file needs', async () => {
  const { scene, up, ask, send, until, text, meter } = await open({}, { latencyMs: 40 });
  const sent = await send(
    { name: 'Kunden März.csv', column: 'website:domain', fields: 'name,domain' },
    domainList(60),
  );
  expect([sent.status, faultsOf('upload', sent.json)]).toEqual([201, []]);
  expect(sent.json).toMatchObject({ file: 'Kunden März.csv', links: { run: sent.location } });

  const { run, states } = await until(sent.json.links.run, ({ isEnded }) => isEnded);
  expect(states.at(-1)).toBe('finished');
  expect(states).not.toContain('failed');
  expect(run).toMatchObject({ id: sent.json.id, file: 'Kunden März.csv', reason: null });
  expect(run.run).toMatchObject({ status: 'finished', rows: 60, requests: { sent: 60, billed: 60 } });
  const output = await text(run.links.output);
  expect(output).toMatch(/^website,note,.*brand_name,brand_domain/);
  expect(rowsIn(output)).toBe(60);
  expect(JSON.parse(await text(run.links.report))).toMatchObject({ run: { id: run.run?.id } });
  expect(meter.billed).toBe(60);

  // By the run's own id, and as `status --json` has it.
  const byRun = (await ask<Run>(`/runs/${run.run?.id}.json`)).json;
  expect({ ...byRun, id: run.id, links: { ...byRun.links, run: run.links.run } }).toEqual(run);
  const { runs } = await statusOf(scene);
  expect(runs).toContainEqual(run.run);
  expect(up.said).toMatch(/"by":"etl".*"job":"j-[0-9a-f]+"/);

  // Sent again under the same name: nothing is bought, and nothing is replaced.
  const again = await send({ name: 'Kunden März.csv' }, domainList(60));
  expect(again.json.id).not.toBe(sent.json.id);
  const second = await until(again.json.links.run, ({ isEnded }) => isEnded);
  expect(second.run.run?.requests.sent).toBe(0);
  expect(meter.billed).toBe(60);
});

test('its caps hold, and a file that cannot be read has failed, with the reason', async () => {
  const { scene, up, send, until, text, meter } = await open();
  const capped = await send({ name: 'list.csv', maxRequests: '7' }, domainList(30));
  const { run } = await until(capped.json.links.run, ({ state }) => state === 'waiting');
  expect(run).toMatchObject({ isEnded: false, run: { requests: { billed: 7 } }, links: { output: null } });
  expect(run.reason).toBe('The cap of 7 paid lookups is reached.');
  expect(rowsIn(await text(run.links.partial))).toBe(30);
  expect(meter.billed).toBe(7);

  const titled = 'Customers,\nof March,\nwebsite,city\nacme.com,Berlin\n';
  const unread = await send({ name: 'names.csv' }, titled);
  const failed = await until(unread.json.links.run, ({ isEnded }) => isEnded);
  expect(failed.run).toMatchObject({ state: 'failed', run: null, links: { output: null } });
  const [folder = ''] = await scene.until('failed', 1);
  const reason = await readReason(folder);
  expect(reason).toMatch(/“lines above the header: 2”\.\n\nNothing was spent\..*\{"skipLines":2\}/s);
  expect(up.said).not.toContain('will be retried');
  expect(meter.billed).toBe(7);
});

test('each route of the OpenAPI description but downloads answers with a document that it names', async () => {
  const { ask, authorization } = await open();
  const { paths, components } = JSON.parse(schemaText('openapi'));
  const answers: Record<string, [number, string]> = {};
  for (const [path, item] of Object.entries<object>(paths))
    for (const [method, operation] of Object.entries<{ responses: object }>(item as never)) {
      if (method === 'parameters' || path.startsWith('/files')) continue;
      const asked = `${path.replace('{id}', 'r-0')}?start=1`;
      const form = { ...orderOf(authorization, 'confirmed=yes'), method: method.toUpperCase() };
      const init = method === 'get' ? {} : form;
      const { status, json } = await ask<{ error?: Document<'http-error'>['error'] }>(asked, init);
      const described = JSON.stringify(Object.entries(operation.responses));
      const names = [...described.matchAll(/schemas\/([\w-]+)/g)].map(([, name = '']) => name);
      for (const name of names) expect(Object.keys(components.schemas)).toContain(name);
      const fits = names.filter((name) => faultsOf(name, json).length === 0);
      answers[`${method} ${path}`] = [status, fits.join()];
      // The words for a path that nothing serves.
      expect(json.error?.message ?? '').not.toMatch(/^not found; the dashboard/);
    }
  const [missing, done]: [number, string][] = [
    [404, 'http-error'],
    [200, 'http-done'],
  ];
  expect(answers).toEqual({
    'post /uploads': [400, 'http-error'],
    'get /runs/{id}.json': missing,
    'post /runs/{id}/pause': missing,
    'post /runs/{id}/resume': missing,
    'post /runs/{id}/cancel': missing,
    'post /pause': done,
    'post /resume': done,
    'get /status.json': [200, 'dashboard'],
  });
});

/** As `curl -X POST` and `curl -d` send it: without a body, or a form. */
const orderOf = (authorization: string, form: string) => ({
  method: 'POST',
  headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
  ...(form !== '' && { body: form }),
});

test('a program pauses, resumes and cancels, by the id of the file or of its run, and reads what became of it', async () => {
  const { scene, ask, send, until, authorization } = await open({ concurrency: 1 }, { latencyMs: 300 });
  const order = <Json>(path: string, form = '') => ask<Json>(path, orderOf(authorization, form));
  const refused = async (status: number, code: string, path: string, form = '') => {
    const { status: got, json } = await order<Document<'http-error'>>(path, form);
    expect([got, json.error.code, faultsOf('http-error', json)]).toEqual([status, code, []]);
    return json.error.message;
  };
  const taken = async (path: string, form = '') => {
    const { status, json } = await order<Run>(path, form);
    expect([status, faultsOf('run', json)]).toEqual([200, []]);
    return json;
  };
  await refused(404, 'not-found', '/runs/r-nope/pause');
  await refused(404, 'not-found', '/runs/j-0000000000000000/cancel', 'confirmed=yes');

  const { json } = await send({ name: 'list.csv' }, domainList(60));
  const { id } = json;
  await scene.service.until(({ billed }) => billed >= 2);
  const paused = await taken(`/runs/${id}/pause`);
  expect(paused).toMatchObject({ id, state: 'paused', isEnded: false });
  expect(await refused(409, 'not-now', `/runs/${id}/pause`)).toContain('cannot be paused now');
  expect(await refused(400, 'unconfirmed', `/runs/${id}/resume`)).toMatch(/Resume list\.csv\?.*left/);
  await until(json.links.run, ({ run }) => run?.status !== 'running');

  const resumed = await taken(`/runs/${paused.run?.id}/resume`, 'confirmed=yes');
  expect(resumed.id).toBe(paused.run?.id);
  await until(json.links.run, ({ state }) => state === 'running');
  await scene.service.until(({ billed }) => billed >= 6);
  expect(await taken(`/runs/${id}/cancel`, 'confirmed=yes')).toMatchObject({ id, file: 'list.csv' });
  const ended = await until(json.links.run, ({ isEnded }) => isEnded);
  expect(ended.run.state).toBe('cancelled');
  expect(scene.service.meter.billed).toBeLessThan(60);
  const why = await refused(409, 'not-now', `/runs/${ended.run.run?.id}/cancel`, 'confirmed=yes');
  expect(why).toContain('cancelled');

  const all = await order<Document<'http-done'>>('/pause');
  expect([all.status, faultsOf('http-done', all.json)]).toEqual([200, []]);
  expect(await refused(400, 'unconfirmed', '/resume')).toContain('Resume spending?');
  expect((await order('/resume', 'confirmed=yes')).status).toBe(200);
});

test('what a request may not say is refused in JSON, and nothing is kept or sent', async () => {
  const { scene, ask, send, authorization, meter } = await open();
  const refused = async (status: number, code: string, answer: Promise<Answer<unknown>>) => {
    const { json: document, status: got } = await answer;
    const json = document as Document<'http-error'>;
    expect([got, json.error.code, faultsOf('http-error', json)]).toEqual([status, code, []]);
    return json.error.message;
  };
  const sent = (query: Record<string, string>, headers?: Record<string, string>) =>
    send({ name: 'list.csv', ...query }, domainList(3), headers);
  const others = 'notifyUrl notifyMail plan overageBudget account sample pick maxRequests';
  for (const key of `baseUrl token tokenFile engine state output report ${others}`.split(' '))
    expect(await refused(400, 'usage-invalid', sent({ [key]: 'x' }))).toContain(`${key} in this request`);
  for (const query of [{ name: 'export' }, { name: '' }, { inbox: '7' }])
    await refused(400, 'usage-invalid', sent(query));
  await refused(401, 'signed-out', sent({}, {}));
  const wrong = `Basic ${Buffer.from('etl:wrong').toString('base64')}`;
  await refused(401, 'password-wrong', sent({}, { authorization: wrong }));
  for (const foreign of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'same-origin' }])
    await refused(403, 'form-foreign', sent({}, { authorization, ...foreign }));
  for (const run of ['j-0000000000000000', 'r-nobody', '%2e%2e%2fstatus'])
    await refused(404, 'not-found', ask(`/runs/${run}.json`));
  expect(await filesIn(scene)).toEqual([]);
  expect(meter.requests).toEqual([]);

  await scene.write('brand-enrich.json', '{"colum": "website"}');
  await refused(503, 'usage-invalid', sent({}));
  expect(await filesIn(scene)).toEqual([]);
});
