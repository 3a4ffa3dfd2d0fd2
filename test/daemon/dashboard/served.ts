/** A dashboard that is served to the running test: what it shows is handed in, its clock is turned by hand. */
import { onTestFinished } from 'vitest';
import type { DashboardView } from '../../../src/daemon/dashboard/gather-dashboard.js';
import { serveDashboard } from '../../../src/daemon/dashboard/open-dashboard.js';
import { chartLibrary } from '../../run/report/pages.js';
import { dashboardView, NOW } from './views.js';

export const PASSWORD = 'correct horse battery staple'.replaceAll(' ', '-');

export interface ServedDashboard {
  readonly url: string;
  /** From the next request on. */
  show(view: DashboardView): void;
  /** Milliseconds. */
  advance(ms: number): void;
  /** Bugs that it told of. */
  readonly troubles: readonly Error[];
}

export async function startDashboard(
  parts: { readonly view?: DashboardView; readonly host?: string; readonly password?: string } = {},
): Promise<ServedDashboard> {
  let view = parts.view ?? dashboardView();
  let now = NOW;
  const troubles: Error[] = [];
  const server = await serveDashboard({
    host: parts.host ?? '127.0.0.1',
    port: 0,
    password: parts.password ?? PASSWORD,
    clock: { now: () => now, monotonic: () => now },
    chartLibrary: await chartLibrary(),
    look: async () => view,
    openBoard: () => Promise.reject(new Error('there is no queue in this test')),
    onError: (error) => troubles.push(error),
  });
  onTestFinished(() => server.close());
  return {
    url: `${server.url}/`,
    troubles,
    show(next) {
      view = next;
    },
    advance(ms) {
      now += ms;
    },
  };
}
