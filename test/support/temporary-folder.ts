import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

export async function temporaryFolder(): Promise<string> {
  const { path, remove } = await temporaryPlace();
  onTestFinished(remove);
  return path;
}

/** The same for the tests of a file, whose last hook removes it. */
export async function temporaryPlace() {
  const path = await mkdtemp(join(tmpdir(), 'brand-enrich-e2e-'));
  // Root's private server runs as another user, who has to traverse the folder.
  await chmod(path, 0o711);
  return {
    path,
    async remove(): Promise<void> {
      await endServer(join(path, 'state'));
      // A server that is shutting down still writes for a moment.
      await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
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
