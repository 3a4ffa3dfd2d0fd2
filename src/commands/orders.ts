/** `pause`, `resume` and `cancel`, for a schedule, all spending, or a file by name or any run. */
import { ConfigError, type ExitCode, usageProblem } from '../core/errors.js';
import { isProcessGone, userAtHost } from '../core/process-identity.js';
import type { Engine } from '../engine/engine.js';
import {
  ALL_SPENDING,
  agentOwner,
  isAlive,
  isOfFile,
  isScheduleOwner,
  type Label,
  type OrderEnd,
  type Pause,
  type RunRecord,
  scheduleOwner,
} from '../engine/stores/run-store.js';
import { resume } from '../jobs/file-orders.js';
import { chooseSchedule, createScheduleBook, keyOf } from '../jobs/schedules/schedule-book.js';
import { createScheduleFiles } from '../jobs/schedules/schedule-files.js';
import { listReading } from '../jobs/watcher-status.js';
import { type Answer, answerFrom, answerLine, type CommandCall } from './answer.js';

const RUNS_NAMED = 100;

/** Throws `ConfigError` for what cannot be ordered, and what opening the engine throws. */
export function runOrder(call: CommandCall): Promise<ExitCode> {
  const files = createScheduleFiles(call.settings.state);
  return answerFrom(call, (stores) => {
    const book = createScheduleBook(stores, files);
    const ownersOf = async (name: string) => {
      const chosen = chooseSchedule(await book.list(), name);
      return ('name' in chosen ? [chosen] : chosen).map((each) => scheduleOwner(keyOf(each)));
    };
    return carryOut(call, { ...stores, ownersOf, tickOf: book.tickUnderWay });
  });
}

interface Stores extends Engine {
  /** Schedules of this name, wherever they are defined, as owners of runs. */
  readonly ownersOf: (name: string) => Promise<readonly string[]>;
  /** The job of the tick of a schedule that is under way; null: none is. */
  readonly tickOf: (owner: string) => Promise<string | null>;
}

function carryOut({ command, args }: CommandCall, stores: Stores): Promise<Answer> {
  const [name = null] = args;
  if (command === 'cancel') return cancelNamed(name ?? '', stores);
  if (name === null) return pauseAll(command === 'pause', stores);
  return command === 'pause' ? pauseNamed(name, stores) : resumeNamed(name, stores);
}

async function pauseAll(isPaused: boolean, stores: Engine): Promise<Answer> {
  if (isPaused) await stores.runs.pauseOwner({ ...ALL_SPENDING, by: userAtHost() });
  else await resume(stores, ALL_SPENDING.owner);
  const data = { run: null, isPaused };
  if (isPaused) return answerLine(data, 'spending is paused; `brand-enrich resume` allows it again');
  const still = (await stores.runs.pauses()).map(({ run, label }) => run ?? label.name);
  const rest = still.length === 0 ? '' : `; still paused: ${still.join(', ')}`;
  return answerLine(data, `spending is allowed again${rest}`);
}

async function pauseNamed(name: string, stores: Stores): Promise<Answer> {
  const found = await find(name, stores);
  const by = userAtHost();
  const run = 'run' in found ? found.run : null;
  if ('owner' in found) await stores.runs.pauseOwner({ ...found, by, run });
  else assertDone(await stores.runs.pause(found.run, by), name);
  const data = { run, isPaused: true };
  return answerLine(data, `${name} is paused; \`brand-enrich resume ${name}\` continues it`);
}

async function resumeNamed(name: string, stores: Stores): Promise<Answer> {
  const { runs, ledger } = stores;
  const known = await runs.get(name);
  const [standing, schedules] = await Promise.all([runs.pauses(), stores.ownersOf(name)]);
  const named = standing.filter(({ owner, run, label }) =>
    known === null
      ? [run, owner].includes(name) || [agentOwner(name), ...schedules].includes(owner) || label.name === name
      : owner === known.owner,
  );
  const [one, ...others] = named;
  if (others.length > 0)
    throw unclear(
      name,
      named.map(({ run, owner }) => run ?? owner),
    );
  if (one === undefined) {
    if (known === null) await find(name, stores);
    throw unusable('it is not paused', name);
  }
  await resume(stores, one.owner);
  const account = known?.settings.account;
  const isAllPaused = account !== undefined && (await ledger.show(account)).isPaused;
  const rest = isAllPaused ? ', once spending is allowed again: `brand-enrich resume`' : '';
  const next = await whatIsNext(one.owner, stores);
  return answerLine({ run: one.run, isPaused: false }, `${name} is resumed: ${next}${rest}`);
}

async function whatIsNext(owner: string, { runs, ledger }: Engine): Promise<string> {
  if (isScheduleOwner(owner)) return 'a run that was begun continues within seconds, others begin when due';
  const latest = (await runs.list(RUNS_NAMED)).find((run) => run.owner === owner);
  if (latest === undefined) return 'nothing holds it any more';
  if (latest.owner.startsWith(agentOwner(''))) return 'its calls are carried out again';
  if (latest.owner !== latest.key) return 'it continues within seconds where its inbox is watched';
  const { account, process } = latest.settings;
  const { now } = await ledger.show(account);
  const isWaiting = isAlive(latest, now) && !(process !== undefined && isProcessGone(process));
  return isWaiting ? 'it continues' : 'run the same command again to continue it';
}

async function cancelNamed(name: string, stores: Stores): Promise<Answer> {
  const found = await find(name, stores);
  const job = 'run' in found ? null : found.isFile ? found.owner : await stores.tickOf(found.owner);
  // It may be read, and no run of it have begun: then none does.
  if (job !== null) await stores.runs.cancelJob({ job, by: userAtHost() });
  const run = 'run' in found ? found.run : await activeOf(found.owner, job, stores);
  if (run === undefined && job !== null)
    return answerLine({ cancelled: job }, `${name} is cancelled; nothing was sent for it`);
  if (run === undefined) throw unusable('no run of this schedule is under way', name);
  assertDone(await stores.runs.cancel(run, userAtHost()), name);
  return answerLine({ cancelled: run }, `${name} is cancelled; its paid answers stay stored`);
}

/** A run, or an owner of runs: a schedule, a server, or a file that has no run yet. */
type Found =
  | { readonly run: string }
  | { readonly owner: string; readonly label: Label; readonly isFile: boolean };

/** By the id of a run or a file's job, or by the name of a schedule, server or unfinished file. */
async function find(name: string, stores: Stores): Promise<Found> {
  const { runs } = stores;
  if ((await runs.get(name)) !== null) return { run: name };
  const [schedule, ...more] = await stores.ownersOf(name);
  const listed = await runs.list(RUNS_NAMED);
  const ownerNamed = (owner: string) => ({ owner, label: { host: null, name }, isFile: false });
  const agent = agentOwner(name);
  if (listed.some(({ owner }) => owner === agent)) return ownerNamed(agent);
  const running = listed.filter(({ status }) => status === 'running');
  const reading = (await listReading(stores.keyValues)).filter(
    ({ job, file }) => [job, file].includes(name) && !running.some((run) => run.job === job),
  );
  const isRead = ({ job }: RunRecord) => reading.some((each) => each.job === job);
  // An earlier start of it is not what reads it now.
  const files = filesNamed(name, listed).filter((run) => !isRead(run));
  const isFileNamed = ({ owner, label, run }: Pause) => {
    if (run !== null || !isOfFile({ owner }) || reading.some(({ job }) => job === owner)) return false;
    return owner === name || (label.name === name && !listed.some((each) => each.owner === owner));
  };
  const unread = [
    ...reading.map(({ job, host, file }) => ({ owner: job, label: { host, name: file } })),
    ...(await runs.pauses()).filter(isFileNamed),
  ];
  const found: Found[] = [
    ...unread.map(({ owner, label }) => ({ owner, label, isFile: true })),
    ...files.map(({ id }) => ({ run: id })),
  ];
  const [file, ...others] = found;
  if (more.length > 0) {
    const what = 'several machines have a schedule with this name';
    throw new ConfigError(usageProblem(what, name, `write ${name}@HOST`));
  }
  if (others.length > 0 || (file !== undefined && schedule !== undefined))
    throw unclear(name, [...unread.map(({ owner }) => owner), ...files.map(({ id }) => id)]);
  if (schedule !== undefined) return ownerNamed(schedule);
  if (file !== undefined) return file;
  throw unusable('the engine knows no such run, schedule or unfinished file', name);
}

/** The newest run of each unfinished file of this name; of those under way, if any are. */
function filesNamed(name: string, runs: readonly RunRecord[]): RunRecord[] {
  const newest = new Map<string, RunRecord>();
  for (const run of runs) if (!newest.has(run.owner)) newest.set(run.owner, run);
  const named = [...newest.values()].filter(({ label }) => label.name === name);
  const active = named.filter(({ status }) => status === 'running');
  return active.length > 0 ? active : named.filter(({ status }) => status === 'stopped');
}

/** The newest run of an owner, of this job unless it is null, if it has not ended for good. */
async function activeOf(owner: string, job: string | null, { runs }: Engine): Promise<string | undefined> {
  const newest = (await runs.list(RUNS_NAMED)).find(
    (run) => run.owner === owner && (job === null || run.job === job),
  );
  return newest?.status === 'running' || newest?.status === 'stopped' ? newest.id : undefined;
}

function assertDone(end: OrderEnd, name: string): void {
  if (end === 'ended') throw unusable('the run has ended', name);
  if (end === 'unknown') throw unusable('the engine knows no such run', name);
}

function unusable(what: string, name: string): ConfigError {
  return new ConfigError(usageProblem(what, name, '`brand-enrich status` lists the runs'));
}

function unclear(name: string, ids: readonly string[]): ConfigError {
  return new ConfigError(usageProblem('several have this name', name, `name one run: ${ids.join(', ')}`));
}
