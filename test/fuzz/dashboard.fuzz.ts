/** Connections of any kind to the dashboard of a real `up`, with and without the password. */
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import { derivedId } from '../../src/jobs/job-folder.js';
import { kill } from '../e2e/commands.js';
import { signIn } from '../e2e/person.js';
import { dashboardUrl, PASSWORD } from '../e2e/start-up.js';
import { type BrandService, startBrandService } from '../support/brand-service.js';
import { type CliProcess, startCli } from '../support/cli.js';
import { type EngineUnderTest, embeddedEngine, redisEngine } from '../support/engines.js';
import { share } from '../support/properties.js';
import { newToken } from '../support/service-options.js';
import { temporaryPlace } from '../support/temporary-folder.js';
import { fuzz } from './fuzz.js';
import { exchange, type RawAnswer, readAnswers } from './http-answers.js';
import { mutate, mutateText, mutations, wordsOf } from './mutations.js';

/** In files that are shown after signing in, and in those that are never shown. */
const INSIDE = 'a-row-in-the-watched-folder';
const OUTSIDE = 'a-row-outside-of-the-watched-folder';
const JOB = 'list-2026-11-01T10-00-00Z';

let engine: EngineUnderTest;
let service: BrandService;
let up: CliProcess;
let place: Awaited<ReturnType<typeof temporaryPlace>>;
let port = 0;
let cookie = '';
let formToken = '';

beforeAll(async () => {
  engine = redisEngine();
  if (engine.missing !== null) engine = embeddedEngine();
  await engine.start();
  place = await temporaryPlace();
  const token = newToken();
  service = await startBrandService({ tokens: [token] });
  await fillFolders(place.path);
  up = startCli(['up'], {
    cwd: place.path,
    env: {
      ...engine.env(place.path),
      BRAND_API_URL: service.url,
      BRAND_API_TOKEN: token,
      BRAND_ENRICH_DASHBOARD_PASSWORD: PASSWORD,
    },
  });
  await up.untilSaid(/"msg":"serving the dashboard"/);
  const url = dashboardUrl(up);
  port = Number(new URL(url).port);
  ({ cookie, token: formToken } = await signIn(url));
  expect(formToken).not.toBe('');
});
afterAll(async () => {
  await kill(up);
  await service.stop();
  await engine.stop();
  await place.remove();
});

/** A watched folder with jobs that ended, links that lead out of it, and files around it. */
async function fillFolders(folder: string): Promise<void> {
  const root = join(folder, 'watched');
  for (const kind of ['done', 'failed', 'waiting']) {
    const job = join(root, kind, JOB);
    await mkdir(job, { recursive: true });
    await writeFile(join(job, 'list.csv'), `website\n${INSIDE}.com\n`);
    await writeFile(join(job, 'list.enriched.csv'), `website\n${INSIDE}.com\n`);
    await writeFile(join(job, 'reason.txt'), 'A reason.');
    await writeFile(join(job, '.hidden'), OUTSIDE);
    await symlink(join(folder, 'outside.csv'), join(job, 'link.csv'));
    await symlink(folder, join(root, kind, `up-${JOB}`));
    await writeFile(join(root, kind, 'loose.csv'), OUTSIDE);
  }
  await writeFile(join(folder, 'outside.csv'), OUTSIDE);
  const config = { inbox: ['watched'], settle: '200ms', metricsPort: 0, dashboardPort: 0 };
  await writeFile(join(folder, 'brand-enrich.config.json'), `// ${OUTSIDE}\n${JSON.stringify(config)}`);
}

const NAMES = wordsOf('list.csv list.enriched.csv reason.txt .hidden link.csv outside.csv .. .');
const PATHS = [
  ...wordsOf('/ /status.json /sign-in /sign-in?next=/status.json'),
  ...wordsOf('/runs/x /files/x /uploads?name=a.csv /uploads/check?name=a.csv /static/main.js'),
  ...[derivedId(JOB), derivedId(`up-${JOB}`), '..', '%2e%2e'].flatMap((id) => [
    `/files/${id}`,
    ...NAMES.map((name) => `/files/${id}/${name}`),
    `/files/${id}/..%2f..%2foutside.csv`,
    `/files/${id}/%2e%2e/outside.csv`,
  ]),
  ...wordsOf('/?token=wrong /?token=wrong&name=x /%00 /%zz'),
  ...wordsOf('//elsewhere.example/ http://elsewhere.example/ *'),
  '',
];
const POSTS = [
  ...wordsOf('/sign-in /sign-out /pause /resume /runs/x/pause /runs/x/cancel /files/x/again /uploads'),
  ...['/uploads?name=a.csv', '/uploads/check?name=../b.csv', '/files/x/start', '/files/x/discard'],
  ...['/uploads?inbox=0&name=..%2f..%2foutside.csv', '/uploads?inbox=7&name=a.csv', '/schedules/x/run'],
];
const WORDS = [...wordsOf('../ ..%2f %2e%2e/ ..\\ ..%5c %00 // /./ ? # %252e outside.csv'), ...NAMES];
const HEADERS = [
  'Accept: text/html',
  'Accept: text/html',
  'Origin: http://elsewhere.example',
  'Sec-Fetch-Site: cross-site',
  'Connection: close',
  'Content-Length: 5',
  'Content-Length: 0',
  'Content-Length: 99999999',
  'Transfer-Encoding: chunked',
  'Expect: 100-continue',
  'Content-Type: application/x-www-form-urlencoded',
  'X-Form-Token: x',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Authorization: Basic eDp5',
  'Authorization: Basic !!',
  'Cookie: brand-enrich-session-1=x',
  'Range: bytes=0-1',
  'X-Forwarded-Host: x',
];
const FIELDS = wordsOf(
  `token=x confirmed=yes inbox=0 folder=${JOB} folder=.. back=//elsewhere.example next=/ password=no`,
);

const target = fc
  .record({ path: fc.constantFrom(...PATHS, ...PATHS, ...POSTS), changes: mutations(WORDS, 3) })
  .map(({ path, changes }) => mutateText(path, changes));
const request = fc.record({
  method: fc.constantFrom(...wordsOf('GET GET GET HEAD POST POST PUT DELETE OPTIONS TRACE FETCH')),
  target,
  host: fc.constantFrom(
    ...wordsOf('127.0.0.1 127.0.0.1 127.0.0.1 localhost elsewhere.example'),
    '',
    '[::1',
    'a b',
    '127.0.0.1:x',
  ),
  headers: fc.array(fc.constantFrom(...HEADERS), { maxLength: 3 }),
  fields: fc.array(fc.constantFrom(...FIELDS), { maxLength: 4 }),
  changes: fc.oneof(share(3, fc.constant([])), mutations(WORDS, 3)),
  ending: fc.constantFrom('half-close' as const, 'half-close', 'half-close', 'destroy'),
});
type Made = typeof request extends fc.Arbitrary<infer T> ? T : never;

/** `extra`: headers of who sends it. */
async function send(
  { method, target, host, headers, fields, changes, ending }: Made,
  extra: readonly string[],
) {
  const body = fields.join('&');
  const length =
    method === 'GET' || headers.some((it) => /^(content-length|transfer)/i.test(it))
      ? []
      : [`Content-Length: ${body.length}`];
  const lines = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, ...extra, ...headers, ...length];
  const text = `${lines.join('\r\n')}\r\n\r\n${method === 'GET' ? '' : body}`;
  const bytes = mutate(Buffer.from(text, 'latin1'), changes);
  const got = await exchange(port, [bytes], ending);
  if (ending === 'destroy') return [];
  return readAnswers(got, /HEAD/.test(bytes.toString('latin1')));
}

/** Not a bug, which the log would explain, and not a file that is never shown. */
function expectCalm({ status, body }: RawAnswer): void {
  expect(status).toBeLessThan(500);
  expect(body.toString('latin1')).not.toContain(OUTSIDE);
  expect(body.toString('latin1')).not.toContain(PASSWORD);
}

/** How often the log explains a bug, when that was last looked at. */
let bugs = 0;
function expectNoBug(): void {
  const before = bugs;
  bugs = up.said.split('a dashboard request failed').length - 1;
  expect(bugs, up.said.slice(-3_000)).toBe(before);
}

/** Files below the folder that the engine did not put there; links are not followed. */
async function files(): Promise<string[]> {
  const entries = await readdir(place.path, { recursive: true, withFileTypes: true });
  const names = entries.map((entry) => relative(place.path, join(entry.parentPath, entry.name)));
  // What ended is moved by the inbox as it sees fit.
  return names
    .filter(
      (name) =>
        !/^(state|watched\/(processing|waiting|failed|\.{1,2}brand-enrich-engine[.\w]*))(\/|$)/.test(name),
    )
    .sort();
}

fuzz('without the password nothing is shown, done or spent', request, async (made) => {
  const before = await files();
  for (const answer of await send(made, [])) {
    expectCalm(answer);
    const text = answer.body.toString('latin1');
    expect(text).not.toContain(INSIDE);
    expect(text).not.toContain(JOB);
    // Only the sign-in page is shown without signing in.
    if (answer.status === 200) expect(text === '' || text.includes('name="password"')).toBe(true);
    else expect([301, 303, 400, 401, 403, 404, 405, 408, 413, 417, 421, 429, 431]).toContain(answer.status);
    if (answer.status < 400 && answer.status > 300)
      expect(answer.headers.get('location')?.[0]).toMatch(/^\/sign-in(\?next=%2F(?!%2F|%5C)|$)/i);
    expect(answer.headers.get('set-cookie')?.some((it) => /session-\d+=[^;]/.test(it)) ?? false).toBe(false);
  }
  expectNoBug();
  expect(await files()).toEqual(before);
  expect(service.meter.requests).toEqual([]);
});

/** What is not in the folders of the inbox. */
async function around(): Promise<string[]> {
  const names = (await files()).filter((name) => !/^watched\//.test(name));
  return Promise.all(
    names.map(async (name) => `${name} ${await readFile(join(place.path, name), 'utf8').catch(() => '')}`),
  );
}

fuzz(
  'with a session no file outside of the watched folder is served or changed',
  fc.record({ request, hasToken: fc.boolean() }),
  async ({ request: made, hasToken }) => {
    const before = await around();
    const fields = hasToken ? [...made.fields, `token=${formToken}`] : made.fields;
    const headers = [`Cookie: ${cookie}`, ...(hasToken ? [`X-Form-Token: ${formToken}`] : [])];
    for (const answer of await send({ ...made, fields }, headers)) {
      expectCalm(answer);
      const location = answer.headers.get('location')?.[0] ?? '/';
      expect(location).toMatch(/^\/(?![/\\])/);
    }
    expectNoBug();
    expect(await around()).toEqual(before);
    // The session lives, and so does the process.
    const page = await fetch(`http://127.0.0.1:${port}/status.json`, { headers: { cookie } });
    expect(page.status).toBe(200);
    await page.arrayBuffer();
  },
);
