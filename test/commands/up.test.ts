import { expect, it } from 'vitest';
import { startLines } from '../../src/commands/up.js';

it('lists dashboard, inboxes and metrics, and advises to name an inbox without one', () => {
  expect(startLines({ dashboard: null, inboxes: [], metricsUrl: null })).toEqual([
    'brand-enrich is up.',
    '  inbox      none: name one with --inbox DIR',
    '  stop       Ctrl-C; requests in flight are awaited, and the next start continues',
  ]);
  const dashboard = { url: 'https://brands.example/', signInUrl: null };
  const lines = startLines({ dashboard, inboxes: ['/a', '/b'], metricsUrl: 'http://127.0.0.1:9464' });
  expect(lines.slice(1, -1)).toEqual([
    '  dashboard  https://brands.example/',
    '  inbox      /a/inbox, results in /a/done',
    '  inbox      /b/inbox, results in /b/done',
    '  metrics    http://127.0.0.1:9464/metrics',
  ]);
});
