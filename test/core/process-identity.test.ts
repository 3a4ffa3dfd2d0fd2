import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isProcessGone, processIdentity } from '../../src/core/process-identity.js';

const ours = processIdentity();

describe('the identity of a process', () => {
  it('identifies the current process as alive', () => expect(isProcessGone(ours)).toBe(false));

  it('identifies a process that has exited as dead', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    const pid = child.pid ?? 0;
    await once(child, 'exit');
    const [host, boot, namespace] = ours.split(' ');
    expect(isProcessGone([host, boot, namespace, pid, '1'].join(' '))).toBe(true);
  });

  it('identifies a process id that was reused as dead', () => {
    const parts = ours.split(' ');
    expect(isProcessGone([...parts.slice(0, 4), '1'].join(' '))).toBe(process.platform === 'linux');
  });

  it.each([
    ['of another machine', (parts: string[]) => ['elsewhere', ...parts.slice(1)]],
    ['of another boot', (parts: string[]) => [parts[0] ?? '', 'x', ...parts.slice(2)]],
    ['of another container', (parts: string[]) => [...parts.slice(0, 2), 'pid:[1]', ...parts.slice(3)]],
  ])('%s is inconclusive', (_what, change) => {
    const gone = [...ours.split(' ').slice(0, 3), '4194303', '1'];
    expect(isProcessGone(change(gone).join(' '))).toBe(false);
  });

  it.each(['', 'x', 'a b c 0 1', 'a b c -1 1'])('an invalid one (%j) is inconclusive', (text) => {
    expect(isProcessGone(text)).toBe(false);
  });
});
