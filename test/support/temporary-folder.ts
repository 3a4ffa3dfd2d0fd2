/** Temporary folders for one test, removed when it is over. */
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder for the running test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'brand-enrich-e2e-'));
  // Root's private server runs as another user, who has to traverse the folder.
  await chmod(folder, 0o711);
  onTestFinished(async () => {
    await endServer(join(folder, 'state'));
    // A server that is shutting down still writes for a moment.
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  });
  return folder;
}

/** Stops the private server that killed processes left in a state folder. */
async function endServer(state: string): Promise<void> {
  const text = await readFile(join(state, 'postgres', 'data', 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  try {
    process.kill(pid, 'SIGQUIT');
  } catch {
    // It has exited meanwhile.
  }
}
