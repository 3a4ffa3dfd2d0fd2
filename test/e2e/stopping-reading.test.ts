/** A signal while the input is still being read: nothing was spent, so nothing is waited for. */
import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { killLeftovers, startCli } from '../support/cli.js';
import { temporaryFolder } from '../support/temporary-folder.js';

afterEach(killLeftovers);

test.each(['SIGINT', 'SIGTERM'] as const)('%s ends a run that reads from a silent pipe', async (signal) => {
  const cwd = await temporaryFolder();
  const pipe = join(cwd, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const running = startCli(['plan', 'pipe'], { cwd });
  const writer = await untilRead(pipe);
  onTestFinished(() => writer.close());
  running.kill(signal);
  const { code, stderr } = await running.done;
  expect([code, stderr]).toEqual([
    130,
    expect.stringContaining(
      'brand-enrich: stopped by a signal: pipe; nothing was spent or written; run again',
    ),
  ]);
});

/** The pipe, opened for writing once a reader has opened it. */
async function untilRead(pipe: string): Promise<FileHandle> {
  for (;;) {
    const writer = await open(pipe, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => null);
    if (writer !== null) return writer;
    await setTimeout(5);
  }
}
