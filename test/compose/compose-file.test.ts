/** Checks `docker-compose.yml` without Docker; `e2e/many-machines.test.ts` runs its processes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DCLinter } from 'dclint';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseCommandLine } from '../../src/settings/command-line.js';
import { loadSettings } from '../../src/settings/load-settings.js';
import { SETTING_ENTRIES } from '../../src/settings/settings.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { argsOf, COMPOSE_TEXT, interpolate, isStaying, readCompose } from './compose-file.js';

/** The order of keys does not matter. */
const LINTING = { rules: {}, quiet: true, debug: false, exclude: [] };

const compose = readCompose();
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);
const dockerfile = (compose.services.worker?.build?.dockerfile_inline ?? '').trim().split('\n');

describe('the form of the Compose file', () => {
  it('matches the schema of the Compose specification', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'docker-compose.yml');
    const faults = async (text: string) => {
      await writeFile(path, text);
      const [result] = new DCLinter(LINTING).lintFiles([path], false);
      const messages: readonly { type: string; message: string }[] = result?.messages ?? [];
      return messages.filter(({ type }) => type === 'error').map(({ message }) => message);
    };
    expect(await faults(COMPOSE_TEXT)).toEqual([]);
    // A reader without the schema accepts the same.
    expect(await faults(COMPOSE_TEXT.replace('healthcheck:', 'healthchek:'))).not.toEqual([]);
  });

  it('writes environment values as strings, since readers disagree about a bare true or 1', () => {
    for (const [name, { environment = {} }] of services)
      for (const value of Object.values(environment)) expect(value, name).toBeTypeOf('string');
  });

  it('depends only on existing services, and waits for the health of those with a health check', () => {
    const lost = services.flatMap(([name, { depends_on = {} }]) =>
      Object.entries(depends_on).filter(([on, { condition }]) => {
        const target = compose.services[on];
        if (condition === 'service_healthy') return target?.healthcheck === undefined;
        return target === undefined || on === name || condition !== 'service_started';
      }),
    );
    expect(lost).toEqual([]);
  });

  it('mounts only declared volumes, and declares no unused one', () => {
    const mounted = services.flatMap(([, { volumes = [] }]) =>
      volumes.map((volume) => volume.split(':')[0] ?? '').filter((source) => /^[\w-]+$/.test(source)),
    );
    expect([...new Set(mounted)].sort()).toEqual(Object.keys(compose.volumes).sort());
  });

  it('escapes every $ that is not a variable', () => {
    const variable = (inner: string) => `$\{${inner}}`;
    expect(interpolate(`a $$ b ${variable('X:-c')}`, { X: 'd' })).toBe('a $ b d');
    expect(() => interpolate('echo $HOME')).toThrow();
    expect(() => interpolate(variable('X'))).toThrow();
    expect(() => interpolate(COMPOSE_TEXT)).not.toThrow();
  });
});

describe('the image', () => {
  const last = dockerfile.slice(dockerfile.findLastIndex((line) => line.startsWith('FROM ')));

  it('is built in two stages and runs without privileges', () => {
    expect(dockerfile.filter((line) => line.startsWith('FROM '))).toEqual([
      'FROM node:22-slim AS build',
      'FROM node:22-slim',
    ]);
    expect(last).toContain('USER node');
    for (const [name, service] of ours) {
      expect(service, name).toMatchObject({ init: true, cap_drop: ['ALL'], stop_grace_period: '30s' });
    }
  });

  it('copies only files that it names, all of which exist', () => {
    const copied = dockerfile
      .filter((line) => line.startsWith('COPY ') && !line.includes('--from'))
      .flatMap((line) => line.split(' ').slice(1, -1));
    expect(copied).toEqual(expect.arrayContaining(['package-lock.json', 'src', 'workers', 'fixtures']));
    const missing = copied.filter((name) => !existsSync(new URL(`../../${name}`, import.meta.url)));
    expect(missing).toEqual([]);
    expect(copied).not.toContain('.');
  });

  it('starts the command line', () => {
    expect(last).toContain('ENTRYPOINT ["node", "/app/dist/src/cli.js"]');
    for (const [name, service] of ours) {
      const { entrypoint } = service;
      if (isStaying(service)) expect(entrypoint?.[2], name).toContain('node /app/dist/src/cli.js "$@" &');
      else if (entrypoint) expect(entrypoint.slice(0, 2), name).toEqual(['node', '/app/dist/src/cli.js']);
    }
  });
});

describe('the containers', () => {
  it.each(ours)('%s has a command and an environment that the program accepts', (name, service) => {
    const args = name === 'run' ? [...argsOf(service), 'customers.csv'] : argsOf(service);
    const parsed = parseCommandLine(args, '0.0.0');
    if (!('command' in parsed)) throw new Error(`${name} starts no command`);
    const env = service.environment ?? {};
    const known = SETTING_ENTRIES.map(([, { env: variable }]) => variable);
    expect(Object.keys(env).filter((variable) => !known.includes(variable))).toEqual([]);
    const home = '/home/node';
    const { settings } = loadSettings({ ...parsed, env: { ...env }, file: null, home });
    if (name !== 'service')
      expect(settings).toMatchObject({ engine: 'redis://redis:6379', token: 'demo-token' });
    if (name === 'run') expect(settings.worker).toBe(false);
  });

  it('Redis never evicts a queue, a worker can be scaled, a run starts only on request', () => {
    const { redis, worker, up, run } = compose.services;
    expect(redis?.command?.join(' ')).toMatch(/--appendonly yes.*--maxmemory-policy noeviction/);
    expect(redis).toMatchObject({ image: expect.stringMatching(/^redis:7/), volumes: ['redis-data:/data'] });
    expect(worker).not.toHaveProperty('container_name');
    // Schedules outlive their container.
    expect(up?.hostname).toBe('up');
    expect(run?.profiles).toEqual(['run']);
    const others = services.filter(([, { profiles }]) => profiles === undefined);
    expect(others.map(([name]) => name)).toEqual(['redis', 'service', 'up', 'worker']);
  });

  it('the dashboard alone is published, to this machine', () => {
    const port = compose.services.up?.environment?.BRAND_ENRICH_DASHBOARD_PORT ?? 'none';
    const published = services.flatMap(([name, { ports }]) => (ports === undefined ? [] : [{ name, ports }]));
    expect(published).toEqual([{ name: 'up', ports: [`127.0.0.1:${port}:${port}`] }]);
  });

  it.each(['up', 'worker'])('%s has a health check on its metrics', (name) => {
    const { environment = {}, healthcheck } = compose.services[name] ?? {};
    const port = environment.BRAND_ENRICH_METRICS_PORT ?? 'none';
    expect(healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${port}/readyz`);
  });

  it('every long-running service has a health check', () => {
    const silent = services.filter(([name, { healthcheck }]) => name !== 'run' && healthcheck === undefined);
    expect(silent).toEqual([]);
  });
});

describe('a container whose process ends', () => {
  const staying = ours.filter(([, service]) => isStaying(service));

  /** The shell of the file, with a small process in place of the program. */
  async function start(child: string) {
    const [shell = '', ...args] = compose.services.up?.entrypoint ?? [];
    const folder = await temporaryFolder();
    await writeFile(join(folder, 'cli.sh'), child);
    const inPlace = args.map((arg) => arg.replace('node /app/dist/src/cli.js', `exec sh ${folder}/cli.sh`));
    const running = spawn(shell, [...inPlace, 'one word', 'two']);
    onTestFinished(() => void running.kill('SIGKILL'));
    let said = '';
    for (const stream of [running.stdout, running.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    const ended = once(running, 'close').then(([code]) => code as number | null);
    return { running, ended, said: () => said };
  }

  it('is one of those that stay', () => {
    expect(staying.map(([name]) => name).sort()).toEqual(['service', 'up', 'worker']);
    for (const [name, { entrypoint }] of staying)
      expect(entrypoint, name).toEqual(compose.services.up?.entrypoint);
  });

  it.each([2, 4])('with %i is not restarted: it stays until it is stopped', async (code) => {
    const { running, ended, said } = await start(`exit ${code}`);
    await expect.poll(said).toContain(`ended with ${code} and is not restarted`);
    expect(running.exitCode).toBeNull();
    running.kill('SIGTERM');
    expect(await ended).toBe(code);
  });

  it.each([0, 1, 5, 130])('with %i ends, for the restart policy to decide', async (code) => {
    expect(await (await start(`exit ${code}`)).ended).toBe(code);
  });

  it('is stopped by its own end: the signal is passed on, and waited for', async () => {
    const { running, ended, said } = await start(
      'trap "echo stopping; sleep 0.2; echo stopped; exit 0" TERM; echo "$1,$2"; while :; do sleep 0.05; done',
    );
    await expect.poll(said).toBe('one word,two\n');
    running.kill('SIGTERM');
    expect(await ended).toBe(0);
    expect(said()).toBe('one word,two\nstopping\nstopped\n');
  });
});

it('secrets: are not in the file: the environment wins over the demo account', () => {
  const env = {
    BRAND_API_TOKEN: 'sesame',
    BRAND_API_URL: 'https://api.example.com',
    BRAND_ENRICH_ALLOW_HTTP: 'false',
  };
  for (const name of ['up', 'worker', 'run']) {
    expect(readCompose(env).services[name]?.environment, name).toMatchObject(env);
  }
  const secrets = COMPOSE_TEXT.split('\n').filter((line) =>
    /^\s*\w*(TOKEN|PASSWORD|SECRET|KEY)\w*:/i.test(line),
  );
  expect(secrets.map((line) => line.trim())).toEqual([
    'BRAND_API_TOKEN: $'.concat('{BRAND_API_TOKEN:-demo-token}'),
    'BRAND_ENRICH_DASHBOARD_PASSWORD: $'.concat('{BRAND_ENRICH_DASHBOARD_PASSWORD:-demo-password}'),
  ]);
});
