/**
 * Shared setup of the benchmarks: a catalogue, a local service in its own process, an engine, and a
 * way to run a command and measure it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeCatalogue } from '../../src/local-service/generate-catalogue.js';
import { generatedDomain } from '../../src/local-service/generate-keys.js';

const CLI = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
const SCRIPT = fileURLToPath(new URL('undici-script.mjs', import.meta.url));
export const TOKEN = 'bench-token';

export interface Took {
  readonly code: number;
  /** Wall clock, start-up included. */
  readonly seconds: number;
  /** Peak resident memory, MiB. */
  readonly peakMiB: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program until it exits, under GNU time to measure its peak memory. */
async function take(file: string, args: readonly string[], env: Record<string, string> = {}): Promise<Took> {
  const started = performance.now();
  const child = spawn('/usr/bin/time', ['-f', 'PEAK %M', process.execPath, file, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const [code] = (await once(child, 'close')) as [number];
  const peak = Number(/PEAK (\d+)/.exec(stderr)?.[1] ?? 0);
  return { code, seconds: (performance.now() - started) / 1_000, peakMiB: peak / 1_024, stdout, stderr };
}

export const runCli = (args: readonly string[], env: Record<string, string>) => take(CLI, args, env);
export const runScript = (args: readonly string[]) => take(SCRIPT, args);

export interface Service {
  readonly url: string;
  stop(): Promise<void>;
}

/** A local service with the generated catalogue and a quota that no benchmark reaches. */
export async function startService(
  folder: string,
  brands: number,
  faults: readonly string[] = [],
): Promise<Service> {
  const catalogue = join(folder, `catalogue-${brands}.jsonl`);
  await writeCatalogue(catalogue, {
    brands,
    cryptoSymbols: 10,
    etfTickers: 10,
    etfProviders: 5,
    seed: 1,
    bodyBytes: 2_048,
  });
  const accounts = join(folder, `accounts-${Math.random().toString(36).slice(2)}.json`);
  await writeFile(
    accounts,
    JSON.stringify({ accounts: [{ name: 'bench', token: TOKEN, plan: 'paid', quota: 1e9 }] }),
  );
  const child: ChildProcess = spawn(
    process.execPath,
    [
      CLI,
      'serve',
      '--port',
      '0',
      '--catalogue',
      catalogue,
      '--accounts',
      accounts,
      ...faults.flatMap((fault) => ['--fault', fault]),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const url = await untilSaid(child, /http:\/\/[\d.]+:\d+/);
  return { url, stop: () => endProcess(child) };
}

/** A worker process that is ready to take chunks. */
export async function startWorker(
  folder: string,
  engine: string,
  serviceUrl: string,
): Promise<Pick<Service, 'stop'>> {
  const child = spawn(
    process.execPath,
    [CLI, 'worker', '--engine', engine, '--state', join(folder, 'state')],
    {
      env: { ...process.env, BRAND_API_URL: serviceUrl, BRAND_API_TOKEN: TOKEN },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  await untilSaid(child, /waiting for chunks/);
  return { stop: () => endProcess(child) };
}

/** Waits for output that matches. Rejects when the process exits first. */
function untilSaid(child: ChildProcess, words: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stderr?.on('data', (chunk) => {
      text += chunk;
      const found = words.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error(`it ended before it said ${words}: ${text}`)));
  });
}

async function endProcess(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/**
 * A CSV of `rows` rows over `distinct` domains of the generated catalogue, about `bytes` bytes per
 * row.
 */
export async function writeInput(path: string, rows: number, distinct: number, bytes = 40): Promise<void> {
  const stream = createWriteStream(path);
  stream.write('id,website,note\n');
  let text = '';
  for (let row = 0; row < rows; row += 1) {
    const line = `${row},${generatedDomain((row * 7919) % distinct)},`;
    text += `${line}${'x'.repeat(Math.max(0, bytes - line.length - 1))}\n`;
    if (text.length > 1_000_000) {
      if (!stream.write(text)) await once(stream, 'drain');
      text = '';
    }
  }
  stream.end(text);
  await once(stream, 'close');
}

export async function readReport(
  path: string,
): Promise<{ requests: { sent: number; billed: number }; seconds: number }> {
  return JSON.parse(await readFile(path, 'utf8'));
}

export async function freshFolder(path: string): Promise<string> {
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true });
  return path;
}
