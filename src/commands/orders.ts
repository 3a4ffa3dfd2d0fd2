/** `pause`, `resume` and `cancel`: for all spending, a schedule, a file or a run. */
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

/** Carries out an order. Throws `ConfigError` if it cannot, and as opening the engine does. */
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
  /** Returns the owner ids of the schedules with this name, on all machines. */
  readonly ownersOf: (name: string) => Promise<readonly string[]>;
  /** Returns the job of the schedule's running tick; null unless one is running. */
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
  const target = await findTarget(name, stores);
  const by = userAtHost();
  const run = 'run' in target ? target.run : null;
  if ('owner' in target) await stores.runs.pauseOwner({ ...target, by, run });
  else assertDone(await stores.runs.pause(target.run, by), name);
  const data = { run, isPaused: true };
  return answerLine(data, `${name} is paused; \`brand-enrich resume ${name}\` continues it`);
}

async function resumeNamed(name: string, stores: Stores): Promise<Answer> {
  const { runs, ledger } = stores;
  const runById = await runs.get(name);
  const [pauses, schedules] = await Promise.all([runs.pauses(), stores.ownersOf(name)]);
  const owners = [name, agentOwner(name), ...schedules];
  const named = pauses.filter(({ owner, run, label }) => {
    if (runById !== null) return owner === runById.owner;
    return run === name || owners.includes(owner) || label.name === name;
  });
  const [pause, ...others] = named;
  const ids = named.map(({ run, owner }) => run ?? owner);
  if (others.length > 0) throw unclear(name, ids);
  if (pause === undefined) {
    if (runById === null) await findTarget(name, stores);
    throw unusable('this is not paused', name);
  }
  await resume(stores, pause.owner);
  const account = runById?.settings.account;
  const isAllPaused = account !== undefined && (await ledger.show(account)).isPaused;
  const rest = isAllPaused ? ', once spending is allowed again: `brand-enrich resume`' : '';
  const next = await whatIsNext(pause.owner, stores);
  return answerLine({ run: pause.run, isPaused: false }, `${name} is resumed: ${next}${rest}`);
}

async function whatIsNext(owner: string, { runs, ledger }: Engine): Promise<string> {
  if (isScheduleOwner(owner)) return 'a stopped run continues within seconds, the next one starts when due';
  const latest = (await runs.list(RUNS_NAMED)).find((run) => run.owner === owner);
  if (latest === undefined) return 'it can start';
  if (latest.owner.startsWith(agentOwner(''))) return 'its calls are accepted again';
  if (latest.owner !== latest.key) return 'it continues within seconds where its inbox is watched';
  const { account, process } = latest.settings;
  const { now } = await ledger.show(account);
  const isWaiting = isAlive(latest, now) && !(process !== undefined && isProcessGone(process));
  return isWaiting ? 'it continues' : 'run the same command again to continue it';
}

async function cancelNamed(name: string, stores: Stores): Promise<Answer> {
  const target = await findTarget(name, stores);
  const job = 'run' in target ? null : target.isFile ? target.owner : await stores.tickOf(target.owner);
  // Keeps a file that is still being read from starting a run.
  if (job !== null) await stores.runs.cancelJob({ job, by: userAtHost() });
  const run = 'run' in target ? target.run : await runToCancel(target.owner, job, stores);
  if (run === undefined && job !== null)
    return answerLine({ cancelled: job }, `${name} is cancelled; nothing was sent for it`);
  if (run === undefined) throw unusable('no run of this schedule is under way', name);
  assertDone(await stores.runs.cancel(run, userAtHost()), name);
  return answerLine({ cancelled: run }, `${name} is cancelled; its paid answers stay stored`);
}

/** Target of an order: a run, or what starts runs (a schedule, a server, a file without a run). */
type Target =
  | { readonly run: string }
  | { readonly owner: string; readonly label: Label; readonly isFile: boolean };

/** Finds a run or job by id; a schedule, server or unfinished file by name. */
async function findTarget(name: string, stores: Stores): Promise<Target> {
  const { runs } = stores;
  if ((await runs.get(name)) !== null) return { run: name };
  const [schedule, ...otherSchedules] = await stores.ownersOf(name);
  const listed = await runs.list(RUNS_NAMED);
  const ownerNamed = (owner: string) => ({ owner, label: { host: null, name }, isFile: false });
  const agent = agentOwner(name);
  if (listed.some(({ owner }) => owner === agent)) return ownerNamed(agent);
  const running = listed.filter(({ status }) => status === 'running');
  const reading = (await listReading(stores.keyValues)).filter(
    ({ job, file }) => [job, file].includes(name) && !running.some((run) => run.job === job),
  );
  const isRead = ({ job }: RunRecord) => reading.some((each) => each.job === job);
  // A file that is being read now has no run yet; its runs are earlier starts.
  const files = filesNamed(name, listed).filter((run) => !isRead(run));
  const isFileNamed = ({ owner, label, run }: Pause) => {
    if (run !== null || !isOfFile({ owner }) || reading.some(({ job }) => job === owner)) return false;
    return owner === name || (label.name === name && !listed.some((each) => each.owner === owner));
  };
  const filesWithoutRun = [
    ...reading.map(({ job, host, file }) => ({ owner: job, label: { host, name: file } })),
    ...(await runs.pauses()).filter(isFileNamed),
  ];
  const targets: Target[] = [
    ...filesWithoutRun.map(({ owner, label }) => ({ owner, label, isFile: true })),
    ...files.map(({ id }) => ({ run: id })),
  ];
  const [file, ...others] = targets;
  if (otherSchedules.length > 0) {
    const what = 'several machines have a schedule with this name';
    throw new ConfigError(usageProblem(what, name, `write ${name}@HOST`));
  }
  if (others.length > 0 || (file !== undefined && schedule !== undefined))
    throw unclear(name, [...filesWithoutRun.map(({ owner }) => owner), ...files.map(({ id }) => id)]);
  if (schedule !== undefined) return ownerNamed(schedule);
  if (file !== undefined) return file;
  throw unusable('the engine knows no such run, schedule or unfinished file', name);
}

/** Returns the newest run of each unfinished file of this name: running ones, else stopped ones. */
function filesNamed(name: string, runs: readonly RunRecord[]): RunRecord[] {
  const newest = new Map<string, RunRecord>();
  for (const run of runs) if (!newest.has(run.owner)) newest.set(run.owner, run);
  const named = [...newest.values()].filter(({ label }) => label.name === name);
  const active = named.filter(({ status }) => status === 'running');
  return active.length > 0 ? active : named.filter(({ status }) => status === 'stopped');
}

/** Returns the newest run of an owner (of `job`, unless null) if it is running or stopped. */
async function runToCancel(owner: string, job: string | null, { runs }: Engine): Promise<string | undefined> {
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
  return new ConfigError(usageProblem('this name is not unique', name, `write one of ${ids.join(', ')}`));
}
