import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { InterruptedError } from '../../src/core/errors.js';
import { confirmSpending } from '../../src/run/confirm-spending.js';

const ESTIMATE = { requests: 1_500, withinQuota: 1_000, overageRequests: 400, maxCost: '40', deferred: 100 };

function scene(isTTY = true) {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 80 });
  const said: string[] = [];
  const stop = new AbortController();
  const ask = (some: { yes?: boolean; confirmAbove?: string } = {}) =>
    confirmSpending(
      ESTIMATE,
      { yes: false, confirmAbove: '20', ...some },
      { stdin, stderr, stop: stop.signal },
      {
        notice: (sentence) => said.push(sentence),
      },
    );
  return { stdin, stderr, said, stop, ask };
}

describe('on a terminal', () => {
  it.each([
    ['y\n', true],
    ['Yes\n', true],
    ['n\n', false],
    ['\n', false],
    ['perhaps\n', false],
  ])('the answer %j is %s', async (answer, isAgreed) => {
    const { stdin, ask } = scene();
    const agreed = ask();
    stdin.write(answer);
    expect(await agreed).toBe(isAgreed);
  });

  it('the end of the input is a no', async () => {
    const { stdin, ask } = scene();
    const agreed = ask();
    stdin.end();
    expect(await agreed).toBe(false);
  });

  it('Ctrl-C is an interruption, and nothing was spent', async () => {
    const { stdin, ask } = scene();
    const agreed = ask();
    stdin.write('\u0003');
    await expect(agreed).rejects.toThrow(InterruptedError);
    await expect(agreed).rejects.toMatchObject({ exitCode: 130 });
  });

  it.each([{ yes: true }, { confirmAbove: '40' }])('nothing is asked with %j', async (some) => {
    const { ask, said } = scene();
    expect(await ask(some)).toBe(true);
    expect(said).toEqual([
      '1,500 identifiers to ask for, 1,000 within the quota, up to 400 as overage for at most 40, 100 beyond the limit',
    ]);
  });
});

it('elsewhere nothing is asked, and the cost is said', async () => {
  const { ask, said } = scene(false);
  expect(await ask()).toBe(true);
  expect(said).toHaveLength(1);
});
