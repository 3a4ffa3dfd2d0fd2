/** A folder for one test, removed when the test is over. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Call it while a test runs; removes the folder that it made, and only that one. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'brand-enrich-service-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
