/** A served dashboard for tests: the test provides its data and turns its clock. */
import { tmpdir } from 'node:os';
import { expect, onTestFinished } from 'vitest';
import { type Log, silentLog } from '../../src/core/log.js';
import type { Action } from '../../src/dashboard/actions.js';
import { addFileRoutes, type FileRoutes } from '../../src/dashboard/file-routes.js';
import type { DashboardView } from '../../src/dashboard/gather-dashboard.js';
import type { FileLook, RunView } from '../../src/dashboard/look-at-run.js';
import {
  type DashboardContext,
  type DashboardServerOptions,
  serveDashboard,
} from '../../src/dashboard/open-dashboard.js';
import { createResultRows } from '../../src/dashboard/result-rows.js';
import { addUploads, type UploadParts } from '../../src/dashboard/upload-routes.js';
import { createFileFinder } from '../../src/jobs/find-files.js';
import type { FileCaps } from '../../src/jobs/start-file.js';
import { createUploads, type Uploads } from '../../src/jobs/uploads.js';
import { NO_ORDERS } from '../support/no-orders.js';
import { ask, basic, sessionOf, signIn } from './asking.js';
import { dashboardView, NOW } from './views.js';

export const PASSWORD = 'correct horse battery staple'.replaceAll(' ', '-');

/** As random as that of a process. */
export const LINK_TOKEN = '3vYt0PSkq7eN5uXw2LbRfC8hJmZ1aGd4';

export interface ServedDashboard {
  readonly url: string;
  /** Takes effect with the next request. */
  show(view: DashboardView): void;
  /** Milliseconds. */
  advance(ms: number): void;
  /** Bugs that it reported. */
  readonly errors: readonly Error[];
}

/** Without an inbox, nothing can be sent. */
export function noUploads(): UploadParts {
  const plan = () => Promise.reject(new Error('there is no plan in this test'));
  return {
    uploads: createUploads([], { now: () => NOW }),
    plans: { plan, check: async () => undefined, made: () => null },
  };
}

/** Nothing is in an inbox. */
export const NO_FILES = createFileFinder([]);

/** Nothing waits at a cap. */
export const NO_CAPS: FileCaps = {
  read: async () => null,
  check: () => Promise.reject(new Error('there are no caps in this test')),
};

/** Of a process without an account and an inbox. */
export function emptyContext() {
  const stop: DashboardContext['stop'] = new AbortController().signal;
  return { names: null, inboxes: [], uploads: noUploads(), caps: NO_CAPS, log: silentLog(), stop };
}

/** What the routes of files need, without files and without data. */
export const ROUTES = {
  ...noUploads(),
  look: async (): Promise<Pick<DashboardView, 'data'>> => ({ data: null }),
  lookAtRun: async (): Promise<RunView | null | 'unavailable'> => null,
  lookAtFile: async (): Promise<FileLook> => ({ file: null, run: null }),
  finder: NO_FILES,
  caps: NO_CAPS,
  terms: { overagePrice: '0.1', currency: null },
  results: createResultRows(async () => tmpdir(), new AbortController().signal),
  now: () => NOW,
} satisfies FileRoutes;

/** The pages of these uploads, without plans. */
export function uploadPages(uploads: Uploads): DashboardServerOptions['addPages'] {
  return (app) => {
    addFileRoutes(app, { ...ROUTES, finder: createFileFinder(uploads.roots) });
    addUploads(app, { ...ROUTES, engine: NO_ORDERS, uploads, log: silentLog() });
  };
}

export async function startDashboard(
  parts: {
    readonly view?: DashboardView;
    readonly host?: string;
    readonly password?: string;
    /** null for a dashboard without a sign-in link. */
    readonly linkToken?: null;
    /** Default: where it listens. */
    readonly publicUrl?: string;
    readonly actions?: readonly Action[];
    readonly log?: Log;
    /** Of the answers to wrong passwords. Default: no time passes. */
    readonly sleep?: () => Promise<void>;
    readonly addPages?: DashboardServerOptions['addPages'];
  } = {},
): Promise<ServedDashboard> {
  let view = parts.view ?? dashboardView();
  let now = NOW;
  const errors: Error[] = [];
  const server = await serveDashboard({
    host: parts.host ?? '127.0.0.1',
    port: 0,
    url: parts.publicUrl ?? null,
    password: parts.password ?? PASSWORD,
    linkToken: parts.linkToken === null ? null : LINK_TOKEN,
    clock: { now: () => now, monotonic: () => now, sleep: parts.sleep ?? (async () => undefined) },
    actions: parts.actions ?? [],
    ...(parts.addPages && { addPages: parts.addPages }),
    log: parts.log ?? silentLog(),
    look: async () => view,
    onError: (error) => errors.push(error),
  });
  onTestFinished(() => server.close());
  return {
    url: `${server.url}/`,
    errors,
    show(next) {
      view = next;
    },
    advance(ms) {
      now += ms;
    },
  };
}

/** A dashboard at which so many wrong passwords wait that it looks at none, until `calm`. */
export async function startCrowded() {
  let isCalm = false;
  const waiting: (() => void)[] = [];
  const sleep = () => (isCalm ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)));
  const served = await startDashboard({ sleep });
  const session = sessionOf(await ask(served, '/sign-in', signIn(PASSWORD)));
  const guesses = Array.from({ length: 50 }, (_, nth) =>
    nth % 2 === 0
      ? ask(served, '/', { headers: basic('wrong-guess') })
      : ask(served, '/sign-in', signIn('wrong-guess')),
  );
  const status = async () => (await ask(served, '/', { headers: basic(PASSWORD) })).status;
  await expect.poll(status).toBe(429);
  /** Returns the answers to the wrong ones. */
  async function calm() {
    isCalm = true;
    for (const resolve of waiting) resolve();
    return Promise.all(guesses);
  }
  onTestFinished(async () => void (await calm()));
  return { served, session, calm };
}
