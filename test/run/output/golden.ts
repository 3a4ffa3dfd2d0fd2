/** Golden files, compared byte for byte; `REWRITE_GOLDEN=1` before the command rewrites them. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

export async function expectGolden(name: string, text: string): Promise<void> {
  const path = fileURLToPath(new URL(`golden/${name}`, import.meta.url));
  if (process.env.REWRITE_GOLDEN) await writeFile(path, text);
  expect(text).toBe(await readFile(path, 'utf8'));
}
