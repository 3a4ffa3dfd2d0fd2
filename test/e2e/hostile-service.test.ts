/** A malicious service, and a malicious file. */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { embeddedEngine, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { readRows } from '../support/output-files.js';
import { startWebServer } from '../support/raw-web-server.js';
import { runHere } from '../support/run-here.js';
import { newToken } from '../support/service-options.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ends, onEngines } from './commands.js';

interface Answer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body: string;
}

/** Answers by the last segment of the path; keeps what is posted to it. */
async function startService(answerTo: (value: string) => Answer) {
  const asked: string[] = [];
  const posted: string[] = [];
  const { url } = await startWebServer(async (request, response) => {
    if (request.method === 'POST') {
      posted.push(await text(request));
      response.end();
      return;
    }
    const value = decodeURIComponent(request.url?.split('?')[0]?.split('/').at(-1) ?? '');
    asked.push(value);
    const { status = 200, headers = {}, body } = answerTo(value);
    const usage = { 'x-api-key-quota': '1000', 'x-api-key-approximate-usage': String(asked.length) };
    response.writeHead(status, { 'content-type': 'application/json', ...usage, ...headers }).end(body);
  });
  return { url, asked, posted };
}

/** Everything written below a folder, the engine's files included. */
async function allText(folder: string): Promise<string> {
  let text = '';
  for (const name of await readdir(folder, { recursive: true })) {
    const path = join(folder, name);
    if ((await stat(path)).isFile()) text += `${name}\n${(await readFile(path)).toString('latin1')}\n`;
  }
  return text;
}

const postgres = postgresEngine();
onEngines([redisEngine(), inLongTests(embeddedEngine()), inLongTests(postgres)], (engine) => {
  test('an echoed token is in no file, log, message, notification or status', async () => {
    const folder = await temporaryFolder();
    const token = `${newToken()}_AbC`;
    const odd = [...token].map((sign, at) => (at % 2 ? sign.toUpperCase() : sign)).join('');
    const service = await startService((value) => {
      const echo = { 'x-bf-error': value === 'a.com' ? token : odd };
      if (value === 'a.com' || value === 'b.com') return { status: 400, headers: echo, body: '{}' };
      if (value === 'c.com') return { status: 410, body: JSON.stringify({ error: token, message: token }) };
      return { body: JSON.stringify({ name: `Brand ${odd}`, domain: value, [token]: token, n: 1 }) };
    });
    await writeFile(join(folder, 'list.csv'), 'website\na.com\nb.com\nc.com\nd.com\n');
    const env = {
      ...engine.env(folder),
      BRAND_API_URL: service.url,
      BRAND_API_TOKEN: token,
      BRAND_ENRICH_NOTIFY_URL: `${service.url}/hook`,
    };
    const cli = (...args: string[]) => runHere(args, { cwd: folder, env });
    const traced = ['run', 'list.csv', '--log-level', 'trace'];
    const csv = await ends(1, cli(...traced, '--json', '--log-file', 'run.log'));
    const lines = await cli(...traced, '--format', 'jsonl');
    const status = await cli('status', '--json');
    const output = [csv, lines, status].map(({ stdout, stderr }) => stdout + stderr).join('\n');
    const all = [output, await allText(folder), ...service.posted].join('\n').toLowerCase();
    expect(service.posted.length).toBeGreaterThan(0);
    expect(all).toContain('***');
    expect(all).not.toContain(token.toLowerCase());
    const rows = await readRows(join(folder, 'list.enriched.csv'));
    expect(rows.map((row) => row.brand_status).sort()).toEqual(['failed', 'failed', 'failed', 'matched']);
  });

  test('a deeply nested brand prevents no output, in this run or the next', async () => {
    const folder = await temporaryFolder();
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    const deeper = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    const service = await startService((value) => ({
      body: `{"name":"${value}","domain":"${value}","tags":${deep},"company":${deeper},"__proto__":{"a":1},"qualityScore":1e999}`,
    }));
    await writeFile(join(folder, 'list.csv'), 'website\na.com\nb.com\n');
    const env = { ...engine.env(folder), BRAND_API_URL: service.url, BRAND_API_TOKEN: newToken() };
    for (const args of [
      ['--fields', '+tags,company,+__proto__,name'],
      ['--fields', '+company.a.a,+tags.0'],
      ['--format', 'jsonl'],
    ]) {
      await ends(0, runHere(['run', 'list.csv', ...args], { cwd: folder, env }));
    }
    expect(service.asked.toSorted()).toEqual(['a.com', 'b.com']);
    expect(await readFile(join(folder, 'list.enriched.jsonl'), 'utf8')).toContain(deep);
  });
});

test('terminal control sequences in a file are escaped in every message', { tags: ['long'] }, async () => {
  const ESCAPE = '\u001b[2J\u009b31m\u202e';
  const folder = await temporaryFolder();
  const service = await startService(() => ({ status: 404, body: '{}' }));
  const name = `list${ESCAPE}.csv`;
  const header = `web${ESCAPE}site`;
  const rows = `"${header}","note"\n"a.com","${ESCAPE}"\n"no ${ESCAPE} domain","x"\n`;
  await writeFile(join(folder, name), rows);
  const env = {
    BRAND_ENRICH_STATE: join(folder, 'state'),
    BRAND_API_URL: service.url,
    BRAND_API_TOKEN: newToken(),
  };
  const cli = (...args: string[]) => runHere(args, { cwd: folder, env });
  const column = ['--column', `${header}:domain`];
  const ran = [];
  // One by one: the test compares output, not which process starts first.
  for (const args of [
    ['plan', name, ...column],
    ['plan', name, ...column, '--json'],
    ['run', `missing${ESCAPE}.csv`],
    ['run', name, '--column', `other${ESCAPE}`],
    ['run', name, `--un${ESCAPE}known`],
    ['ledger', 'show', '--account', `team${ESCAPE}`],
    ['cancel', `run${ESCAPE}`],
  ])
    ran.push(await cli(...args));
  ran.push(await cli('run', name, ...column, '--log-level', 'trace'));
  ran.push(await cli('run', name, ...column, '--json', '--log-level', 'trace'));
  ran.push(await cli('status'));
  for (const { stdout, stderr } of ran) expect(stdout + stderr).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
  expect(ran[0]?.stdout).toContain('web\\x1b[2J\\x9b31m\\u202esite');
  const written = await readFile(join(folder, `list${ESCAPE}.enriched.csv`), 'utf8');
  expect(written).toContain(header);
  expect(written).toContain(`"${ESCAPE}"`);
});
