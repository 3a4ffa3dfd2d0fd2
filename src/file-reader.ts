/**
 * The process that reads one workbook, Parquet file or archive, on descriptor 3. Its parent limits
 * its memory and time, because such a file may exhaust both: see `input/reader/`.
 */
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { answerPass } from './input/reader/answer-pass.js';

const replies = new Socket({ fd: 1, readable: false, writable: true });
createInterface({ input: process.stdin })
  .on('line', async (line) => {
    for await (const reply of answerPass(JSON.parse(line)))
      await new Promise((resolve) => replies.write(`${JSON.stringify(reply)}\n`, resolve));
  })
  // The parent has ended.
  .on('close', () => process.exit());
replies.on('error', () => process.exit());
// Signals are meant for the parent, which ends this process.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
// The reply already reports the first error; further failed reads have nobody who awaits them.
process.on('unhandledRejection', () => undefined);
