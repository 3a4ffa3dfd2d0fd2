/** Answers taken directly from this process's worker, and those left to the store. */
import { describe, expect, it } from 'vitest';
import type { Engine } from '../../../src/engine/engine.js';
import { OutcomeCollector } from '../../../src/run/lookups/collect-outcomes.js';
import { createRenderer } from '../../../src/run/output/render.js';
import type { FetchedAnswer } from '../../../src/worker/asked.js';
import { planFor } from '../output/plans.js';
import { scanWanting } from '../spools.js';

const FETCHED_AT = Date.UTC(2030, 0, 15, 12);

function answer(text: string, some: Partial<FetchedAnswer> = {}): FetchedAnswer {
  const brand = { name: `Brand of ${text}`, qualityScore: 0.5 };
  const profile = { text: JSON.stringify(brand), brand };
  return {
    key: `service:${text}`,
    status: 'matched',
    retryLater: false,
    profile,
    fetchedAt: FETCHED_AT,
    ...some,
  };
}

const batchOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ index, text: `domain:b${index}.com` }));

async function begin(count: number) {
  const scan = await scanWanting(count);
  const options = {
    // Must not be called.
    engine: {} as Engine,
    scan,
    renderer: createRenderer(planFor({ fields: ['name', 'source', 'fetched_at'] })),
    keyOf: (text: string) => `service:${text}`,
    freshness: { asOf: 0, maxAgeMs: 0, maxAgeMissingMs: 0, notBefore: 0 },
    emit: () => undefined,
  };
  const collector = new OutcomeCollector(options);
  collector.expect(batchOf(count));
  return { options, answers: scan.answers, collector };
}

describe('an answer of this process', () => {
  it('counts for its identifier, with its text, its date and its score', async () => {
    const { answers, collector } = await begin(2);
    collector.onAnswer(answer('domain:b1.com'));
    expect([answers.status(0), answers.status(1)]).toEqual([null, 'matched']);
    const rendered = ',matched,b1.com,Brand of domain:b1.com,api,2030-01-15T12:00:00.000Z,';
    expect(answers.rendered(1).before).toBe(rendered);
    expect(answers.score(1)).toBe(0.5);
    expect(collector.summary.facts.identifiers).toMatchObject({ matched: 1, stored: 0 });
  });

  it('is taken once, however often it is reported', async () => {
    const { answers, collector } = await begin(1);
    for (let time = 0; time < 2; time += 1) {
      collector.expect([{ index: 0, text: 'domain:b0.com' }]);
      collector.onAnswer(answer('domain:b0.com'));
    }
    expect([answers.answered, collector.summary.facts.identifiers.matched]).toEqual([1, 1]);
  });

  it('is left to the store when it is of another run, of another service, or late', async () => {
    const { answers, collector } = await begin(1);
    collector.onAnswer(answer('domain:stranger.com'));
    collector.onAnswer(answer('domain:b0.com', { key: 'other:domain:b0.com' }));
    collector.close();
    collector.onAnswer(answer('domain:b0.com'));
    expect(answers.answered).toBe(0);
  });

  it('is left to the store, and not counted, when it cannot be written', async () => {
    const { options, answers, collector } = await begin(1);
    const full = { ...options.renderer, answer: () => expect.fail('the disk is full') };
    const failing = new OutcomeCollector({ ...options, renderer: full });
    failing.expect([{ index: 0, text: 'domain:b0.com' }]);
    failing.onAnswer(answer('domain:b0.com'));
    expect([answers.answered, failing.summary.facts.identifiers.matched]).toEqual([0, 0]);
    collector.onAnswer(answer('domain:b0.com'));
    expect(answers.answered).toBe(1);
  });

  it('is left to the store when it was queued after 100,000 others', async () => {
    const { answers, collector } = await begin(1);
    const other = (_: unknown, at: number) => ({ index: at + 2, text: `isin:${at}` });
    collector.expect(Array.from({ length: 100_000 }, other));
    collector.expect([{ index: 1, text: 'domain:b1.com' }]);
    collector.onAnswer(answer('domain:b1.com'));
    collector.onAnswer(answer('domain:b0.com'));
    expect([answers.status(0), answers.status(1)]).toEqual(['matched', null]);
  });
});

describe('answers of workers elsewhere', () => {
  async function beginElsewhere(count: number, isThere: (index: number) => boolean) {
    const { options, answers } = await begin(count);
    const asked: string[][] = [];
    const read = async (keys: readonly string[]) => {
      asked.push(keys.map((key) => key.replace('service:domain:', '')));
      return keys.map((key) => {
        if (!isThere(Number(/\d+/.exec(key)?.[0]))) return null;
        return { status: 'not_found', packed: null, fetchedAt: FETCHED_AT, freshUntil: null };
      });
    };
    const engine = { outcomes: { read } } as unknown as Engine;
    const collector = new OutcomeCollector({ ...options, engine });
    collector.expect(batchOf(count));
    return { collector, answers, asked };
  }

  it('are taken during the lookups: as many as were reported, without those of this process', async () => {
    const { collector, answers, asked } = await beginElsewhere(4, () => true);
    collector.onAnswer(answer('domain:b0.com'));
    await collector.takeStoredSoFar(1);
    expect(asked).toEqual([]);
    await collector.takeStoredSoFar(3);
    expect(asked).toEqual([['b1.com', 'b2.com']]);
    await collector.takeStoredSoFar(3);
    expect(asked).toHaveLength(1);
    expect([answers.answered, collector.summary.facts.identifiers.notFound]).toEqual([3, 2]);
  });

  it('that are not stored yet are looked for after the others, once more has been reported', async () => {
    const { collector, asked } = await beginElsewhere(4, (index) => index > 1);
    await collector.takeStoredSoFar(2);
    await collector.takeStoredSoFar(2);
    expect(asked).toEqual([['b0.com', 'b1.com']]);
    await collector.takeStoredSoFar(3);
    expect(asked.slice(1)).toEqual([['b2.com', 'b3.com', 'b0.com']]);
    for (let look = 0; look < 3; look += 1) await collector.takeStoredSoFar(4);
    expect(asked.slice(2)).toEqual([['b1.com', 'b0.com']]);
  });

  it('that were stored when the run began are in the tally, and not looked for', async () => {
    const { collector, asked } = await beginElsewhere(4, (index) => index < 2);
    await collector.takeStored('stored', undefined, [0, 1]);
    await collector.takeStoredSoFar(2);
    expect(asked).toHaveLength(1);
  });

  it('are not asked for once answers of this process have come for all the rest', async () => {
    const { collector, asked } = await beginElsewhere(600, () => true);
    const taking = collector.takeStoredSoFar(600);
    for (let index = 0; index < 600; index += 1) collector.onAnswer(answer(`domain:b${index}.com`));
    await taking;
    expect(asked.map((keys) => keys.length)).toEqual([100]);
    expect(collector.summary.facts.identifiers).toMatchObject({ matched: 600, notFound: 0 });
  });
});
