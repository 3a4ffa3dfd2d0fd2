/** Whether another process is gone is said only where it is certain. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isProcessGone, processIdentity } from '../../src/core/process-identity.js';

const ours = processIdentity();

describe('the identity of a process', () => {
  it('is that of a living one for itself', () => expect(isProcessGone(ours)).toBe(false));

  it('is that of one that is gone once it has ended', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    const pid = child.pid ?? 0;
    await once(child, 'exit');
    const [host, boot, namespace] = ours.split(' ');
    expect(isProcessGone([host, boot, namespace, pid, '1'].join(' '))).toBe(true);
  });

  it('is another one that has its number since', () => {
    const parts = ours.split(' ');
    expect(isProcessGone([...parts.slice(0, 4), '1'].join(' '))).toBe(process.platform === 'linux');
  });

  it.each([
    ['of another machine', (parts: string[]) => ['elsewhere', ...parts.slice(1)]],
    ['of another boot', (parts: string[]) => [parts[0] ?? '', 'x', ...parts.slice(2)]],
    ['of another container', (parts: string[]) => [...parts.slice(0, 2), 'pid:[1]', ...parts.slice(3)]],
  ])('%s cannot be judged', (_what, change) => {
    const gone = [...ours.split(' ').slice(0, 3), '4194303', '1'];
    expect(isProcessGone(change(gone).join(' '))).toBe(false);
  });

  it.each(['', 'x', 'a b c 0 1', 'a b c -1 1'])('that is none (%j) cannot be judged', (text) => {
    expect(isProcessGone(text)).toBe(false);
  });
});
