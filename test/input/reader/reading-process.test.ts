import { describe, expect, it } from 'vitest';
import { readPs, usageOf } from '../../../src/input/reader/reading-process.js';

describe('memory and computing time of a process', () => {
  it.each([
    ['  81234 00:01:02\n', { memory: 81_234 * 1_024, cpuMs: 62_000 }],
    ['81234   3:04.56', { memory: 81_234 * 1_024, cpuMs: 184_560 }],
    ['1024 2-01:00:00', { memory: 1_048_576, cpuMs: 176_400_000 }],
    ['', { memory: null, cpuMs: null }],
    ['ps: illegal option', { memory: null, cpuMs: null }],
  ])('are read from ps: %j', (text, usage) => {
    expect(readPs(text)).toEqual(usage);
  });

  it('are known for this process', async () => {
    const { memory, cpuMs } = await usageOf(process.pid);
    if (process.platform === 'win32') return;
    expect(memory).toBeGreaterThan(20_000_000);
    expect(cpuMs).toBeGreaterThan(10);
  });

  it('are unknown for a process that has ended', async () => {
    expect(await usageOf(2 ** 22 + 5)).toEqual({ memory: null, cpuMs: null });
  });
});
