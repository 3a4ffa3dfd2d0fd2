/** What a person gives orders for in `orders.chaos.ts`, each placed and looked at in one way. */
import { expect } from 'vitest';
import { readNoted } from '../../src/jobs/job-folder.js';
import type { Document } from '../../src/run/documents.js';
import { ends } from '../e2e/commands.js';
import { dashboardUrl, PASSWORD, startUp } from '../e2e/start-up.js';
import { type InboxScene, readReason } from '../jobs/inbox-scene.js';
import type { CliProcess } from '../support/cli.js';
import { domainList } from '../support/scene.js';

export const KINDS = ['file', 'upload', 'schedule', 'command'] as const;
export type Kind = (typeof KINDS)[number];

/** On a busy machine, and after kill -9: BullMQ gives the lock of a tick back after 15 to 20 s. */
const PATIENCE = { timeout: 180_000, interval: 300 };

export type Work = ReturnType<typeof createWork>;

export function createWork(scene: InboxScene, kind: Kind, rows: number, concurrency: number) {
  // Runs and schedules are found by name, and scenes share an engine.
  const unique = `w${scene.token.slice(-10)}`;
  const file = `${unique}.csv`;
  const name = kind === 'schedule' ? unique : file;
  const hasInbox = kind === 'file' || kind === 'upload';
  let up: CliProcess | null = null;
  let command: CliProcess | null = null;

  const say = async (...args: string[]) => {
    const { code, stdout, stderr } = await scene.run(args);
    expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
    return stdout;
  };

  async function ask(path: string, form?: Record<string, string> | string): Promise<Response> {
    if (up === null) throw new Error('no dashboard is up');
    return fetch(new URL(path, dashboardUrl(up)), {
      headers: { authorization: `Basic ${Buffer.from(`ada:${PASSWORD}`).toString('base64')}` },
      redirect: 'manual',
      ...(form !== undefined && {
        method: 'POST',
        body: typeof form === 'string' ? form : new URLSearchParams({ confirmed: 'yes', ...form }),
      }),
    });
  }

  /** A form that is not refused. */
  async function press(path: string, form: Record<string, string> = {}): Promise<void> {
    const { status } = await ask(path, form);
    expect([200, 202], path).toContain(status);
    const refused = [...(up?.said ?? '').matchAll(/.*refused on the dashboard.*/g)];
    expect(refused.map(([line]) => line)).toEqual([]);
  }

  async function lastTick() {
    const { schedules } = JSON.parse(await say('schedule', 'list', '--json')) as Document<'schedules'>;
    return schedules.find((each) => each.name === name)?.last ?? null;
  }

  async function start(): Promise<void> {
    up = await startUp(scene, { concurrency });
  }

  async function place(): Promise<void> {
    if (kind === 'file') await scene.drop(file, domainList(rows));
    if (kind === 'upload') {
      const sent = await ask(`/uploads?${new URLSearchParams({ name: file })}`, domainList(rows));
      expect(sent.status).toBe(201);
      const { path } = (await sent.json()) as { path: string };
      await expect.poll(async () => (await ask(path)).text(), PATIENCE).toContain('>Start');
      await press(`${path}/start`);
    }
    if (kind === 'schedule') await say('schedule', 'run-now', name);
    if (kind === 'command') command = scene.start(['run', file, '--concurrency', String(concurrency)]);
  }

  return {
    name,
    /** Of its latest run. */
    async runId(): Promise<string> {
      const { runs } = JSON.parse(await say('status', '--json')) as Document<'status'>;
      const id = runs.find(({ label }) => label.endsWith(`: ${file}`))?.id;
      if (id === undefined) throw new Error(`no run of ${file}`);
      return id;
    },
    async begin(): Promise<void> {
      if (!hasInbox) await scene.write(file, domainList(rows));
      await start();
      const never = ['--cron', '0 0 1 1 *', '--tz', 'UTC'];
      if (kind === 'schedule')
        await say('schedule', 'add', name, ...never, '--', 'run', file, '-o', 'out.csv');
      await place();
    },
    say,
    /** The same order on the dashboard. */
    press: (word: 'pause' | 'resume' | 'cancel', ref: string) => {
      const isSchedule = kind === 'schedule' && ref === name;
      return press(`/${isSchedule ? 'schedules' : 'runs'}/${encodeURIComponent(ref)}/${word}`);
    },
    /** Ends what runs; how many processes that could have had requests in flight. */
    async end(signal: NodeJS.Signals, waitBetween?: () => Promise<unknown>): Promise<number> {
      const ending = [up, command].filter((each) => each !== null);
      for (const each of ending) each.kill(signal);
      await waitBetween?.();
      await Promise.all(ending.map(({ done }) => done));
      [up, command] = [null, null];
      return ending.length;
    },
    /** A command is not taken up again by anything: it is only typed again. */
    startAgain: start,
    /** Of a command: it is typed again though it is paused. */
    async expectRefusal(): Promise<void> {
      if (kind !== 'command') return;
      await ends(7, scene.run(['run', file, '--yes']), /paused by \S+ since/);
    },
    /** Where people see that it is cancelled; a command ends by itself, or is gone. */
    async untilCancelled(): Promise<void> {
      if (hasInbox) {
        const [folder = ''] = await scene.until('failed', 1, PATIENCE.timeout);
        expect(await readReason(folder)).toMatch(/^Cancelled by \S+ on .*UTC/);
        expect(await scene.list('inbox')).toEqual([]);
        expect(await scene.list('waiting')).toEqual([]);
      }
      if (kind === 'schedule')
        await expect.poll(async () => (await lastTick())?.sentence, PATIENCE).toMatch(/cancelled/);
      if (command !== null) expect((await command.done).code).toBe(130);
      command = null;
    },
    /** Where people see that it is paused. */
    async untilPaused(): Promise<void> {
      if (hasInbox) {
        const [folder = ''] = await scene.until('waiting', 1, PATIENCE.timeout);
        expect(await readReason(folder)).toMatch(/^Paused by \S+ since .*UTC/);
      }
      const { pauses } = JSON.parse(await say('status', '--json')) as Document<'status'>;
      // One of a schedule has the name by which it was given.
      expect(pauses.filter((pause) => [name, file].includes(pause.name))).toHaveLength(1);
    },
    /** Places it anew after a cancel: a new drop, `Try again`, the next tick, the command. */
    async placeAgain(isTriedAgain: boolean): Promise<void> {
      const [failed] = hasInbox ? await scene.list('failed') : [];
      if (failed !== undefined && isTriedAgain)
        await press(`/files/${(await readNoted(scene.path(`failed/${failed}`)))?.id}/again`, {});
      else await place();
    },
    /** It completes; a command that is not running is typed again. */
    async untilDone(): Promise<void> {
      if (hasInbox) return void (await scene.until('done', 1, PATIENCE.timeout));
      if (kind === 'schedule')
        return await expect.poll(async () => (await lastTick())?.exitCode, PATIENCE).toBe(0);
      if (command === null) await place();
      const { code, stderr } = (await command?.done) ?? { code: null, stderr: '' };
      expect(code, stderr).toBe(0);
      command = null;
    },
    /** Its last output, for a failure. */
    said: () => `${up?.said.slice(-3_000) ?? ''}\n${command?.said.slice(-1_000) ?? ''}`,
  };
}
