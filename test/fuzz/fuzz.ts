/** Random cases for one property; `FUZZ_SECONDS` sets its time, and failures say how to repeat. */
import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { onTestFinished, test } from 'vitest';

const SECONDS = readNumber('FUZZ_SECONDS') ?? 20;
const SEED = readNumber('FUZZ_SEED') ?? randomInt(2 ** 31);
/** Of the failing case, as a failure prints it. */
const PATH = process.env.FUZZ_PATH;
/** A single case takes no longer: a hang is a failure. */
const CASE_MS = 30_000;

function readNumber(name: string): number | null {
  const value = process.env[name] ?? '';
  if (value === '') return null;
  if (/^\d{1,10}$/.test(value)) return Number(value);
  throw new Error(`${name} is a whole number, not ${value}`);
}

/** One target. `holds` throws for a case for which the property does not hold. */
export function fuzz<T>(name: string, cases: fc.Arbitrary<T>, holds: (value: T) => void | Promise<void>) {
  test(name, { timeout: SECONDS * 1_000 + 4 * CASE_MS }, async () => {
    console.log(`FUZZ_SEED=${SEED} for "${name}"`);
    // A rejection that is not awaited would end the product's process.
    const unawaited: unknown[] = [];
    const note = (error: unknown) => void unawaited.push(error);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const property = fc.asyncProperty(cases, async (value) => {
      await holds(value);
      await setImmediate();
      if (unawaited.length > 0) throw unawaited.splice(0)[0];
    });
    const details = await fc.check(property, {
      seed: SEED,
      ...(PATH && { path: PATH }),
      numRuns: 1e9,
      plugins: [fc.timeout(CASE_MS), fc.interruptAfterTimeLimit(SECONDS * 1_000)],
    });
    console.log(`${details.numRuns} cases for "${name}"`);
    if (!details.failed || (details.interrupted && details.counterexample === null)) return;
    const report = await fc.asyncDefaultReportMessage(details);
    const replay = `FUZZ_SEED=${details.seed} FUZZ_PATH=${details.counterexamplePath}`;
    throw new Error(`${replay} npm run test:fuzz -- -t '${name}'\n${report}`, {
      cause: details.errorInstance,
    });
  });
}
