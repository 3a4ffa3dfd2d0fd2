/** A person's word through restarts of every kind; `ORDERS=24` plays so many stories. */
import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import { onEngines } from '../e2e/commands.js';
import { createInboxScene, type InboxScene } from '../jobs/inbox-scene.js';
import { type EngineUnderTest, embeddedEngine, postgresEngine, redisEngine } from '../support/engines.js';
import { createDice, type Dice } from './dice.js';
import { createWork, KINDS, type Work } from './ordered-work.js';

const STORIES = Number(process.env.ORDERS ?? 16);
/** Most of the time is spent waiting. */
const AT_ONCE = 6;
const ANSWER_MS = 3_000;

const WORDS = ['cancel', 'pause', 'pause, resume', 'pause, cancel'] as const;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGKILL'] as const;

type Story = ReturnType<typeof tell>;

/** Each kind of work and word in turn; everything else by chance. */
function tell(dice: Dice, index: number) {
  const word = WORDS[Math.floor(index / KINDS.length) % WORDS.length] ?? 'cancel';
  return {
    kind: KINDS[index % KINDS.length] ?? 'file',
    word,
    rows: dice.between(200, 900),
    concurrency: dice.pick([4, 8, 16]),
    billedFirst: dice.between(1, 40),
    isSaidOnPage: dice.pick([true, false]),
    isNamed: dice.pick([true, false]),
    saidAt: dice.pick(['before', 'before', 'before', 'in the shutdown', 'while down'] as const),
    secondAt: dice.pick(['before', 'while down', 'after'] as const),
    signal: dice.pick(SIGNALS),
    killAfterMs: dice.pick([0, 100, 1_000, 4_000, 10_000]),
    downMs: dice.pick([100, 500, 2_000, 5_000, 12_000, 30_000]),
    again: dice.pick([null, null, 'SIGTERM', 'SIGKILL'] as const),
    againAfterMs: dice.pick([100, 1_000, 5_000]),
    /** Longer than locks and looks last, or short. */
    quietMs: dice.pick([8_000, 25_000]),
    isTriedAgain: dice.pick([true, false]),
  };
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function play(scene: InboxScene, story: Story, work: Work): Promise<void> {
  const { meter, options } = scene.service;
  const { concurrency, rows } = story;
  const [first, second = null] = story.word.split(', ') as ('pause' | 'resume' | 'cancel')[];
  let lost = 0;
  let standsFrom: number | null = null;
  let isGiven = false;

  /** Nothing is billed since the word but what was in flight, or had its permit. */
  const expectQuiet = () => {
    const from = standsFrom;
    if (from === null) return;
    const after = meter.requests.filter(({ atMs, isBilled }) => isBilled && atMs > from);
    const late = after.filter(({ atMs }) => atMs > from + ANSWER_MS);
    expect({ late: late.length, isFew: after.length <= 2 * concurrency }).toEqual({ late: 0, isFew: true });
  };
  const give = async (word: 'pause' | 'resume' | 'cancel', canUsePage: boolean) => {
    const ref = story.isNamed ? work.name : id;
    // A page has runs by their ids alone, and no cancel of a schedule.
    const isOnPage = canUsePage && story.isSaidOnPage;
    if (word === 'resume') expectQuiet();
    if (isOnPage) await work.press(word, story.kind === 'schedule' && word !== 'cancel' ? ref : id);
    else await work.say(word, ref);
    standsFrom = word === 'resume' ? null : (standsFrom ?? meter.nowMs());
    if (word === 'cancel') standsFrom ??= meter.nowMs();
  };
  const giveSecond = async (at: Story['secondAt'], canUsePage: boolean) => {
    if (second === null || isGiven || (at !== story.secondAt && at !== 'after')) return;
    isGiven = true;
    if (at === 'after') await work.untilPaused();
    await give(second, canUsePage);
  };

  await work.begin();
  await scene.service.until(() => meter.billed >= story.billedFirst);
  const id = await work.runId();
  if (story.saidAt === 'before') {
    await give(first ?? 'cancel', true);
    await sleep(story.killAfterMs);
    await giveSecond('before', true);
  }
  const ended = await work.end(story.signal, async () => {
    if (story.saidAt === 'in the shutdown') await give(first ?? 'cancel', false);
  });
  if (story.signal === 'SIGKILL') lost += ended * concurrency;
  if (story.saidAt === 'while down') await give(first ?? 'cancel', false);
  await giveSecond('while down', false);
  await sleep(story.downMs);
  await work.startAgain();
  const isResumed = standsFrom === null;
  if (story.again !== null && !isResumed) {
    await sleep(story.againAfterMs);
    await work.end(story.again);
    await sleep(story.againAfterMs);
    await work.startAgain();
  }
  if (!isResumed) await sleep(story.quietMs);
  expectQuiet();
  const isCancelled = () => first === 'cancel' || (second === 'cancel' && isGiven);
  if (!isCancelled() && !isResumed) {
    await work.untilPaused();
    await work.expectRefusal();
    await giveSecond('after', true);
    if (second === null) await give('resume', true);
  }
  if (isCancelled()) {
    await work.untilCancelled();
    await sleep(ANSWER_MS);
    expectQuiet();
    if (story.kind === 'schedule' && first === 'pause') await work.say('resume', work.name);
  }
  options.latencyMs = 30;
  if (isCancelled()) await work.placeAgain(story.isTriedAgain);
  await work.untilDone();
  expect({ identifiers: meter.billedOf.size, isFew: meter.billed <= rows + lost }).toEqual({
    identifiers: rows,
    isFew: true,
  });
  expect(meter.mostBilledOnce()).toBeLessThanOrEqual(lost > 0 ? 2 : 1);
  await work.end('SIGTERM');
}

async function judge(engine: EngineUnderTest, index: number): Promise<object | null> {
  const story = tell(createDice(`orders ${engine.name} ${index}`), index);
  const scene = await createInboxScene(engine, { latencyMs: ANSWER_MS });
  const work = createWork(scene, story.kind, story.rows, story.concurrency);
  try {
    await play(scene, story, work);
    console.log(`story ${index} held: ${story.kind}, ${story.word}, ${story.signal}`);
    return null;
  } catch (error) {
    const { billed, inFlight } = scene.service.meter;
    const failed = { index, story, error: String(error), billed, inFlight };
    console.log(failed, work.said());
    await work.end('SIGKILL');
    return failed;
  }
}

onEngines([redisEngine(), postgresEngine(), embeddedEngine()], (engine) => {
  test(`${STORIES} stories of a word and restarts`, { timeout: 3_600_000 }, async () => {
    const limit = pLimit(AT_ONCE);
    const stories = Array.from({ length: STORIES }, (_, index) => limit(judge, engine, index));
    expect((await Promise.all(stories)).filter((failed) => failed !== null)).toEqual([]);
  });
});
