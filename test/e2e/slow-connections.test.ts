/** Slow connections to dashboard and metrics, and an inbox that goes on beside them. */
import { spawnSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createInboxScene } from '../jobs/inbox-scene.js';
import { inLongTests, redisEngine } from '../support/engines.js';
import { countStatuses, readRows } from '../support/output-files.js';
import { domainList } from '../support/scene.js';
import { onEngines } from './commands.js';
import { askAs, dashboardUrl, startUp } from './start-up.js';

const hasLimits = spawnSync('prlimit', ['--version']).status === 0;

/** Connections that send the beginning of a request, and never its end. */
async function openSlowly(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let opened = 0; opened < count; opened += 1) {
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    socket.resume().on('error', () => undefined);
    await new Promise<void>((resolve) => socket.once('connect', resolve).once('close', () => resolve()));
    socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n');
  }
  return sockets;
}

onEngines([inLongTests(redisEngine())], (engine) => {
  test.skipIf(!hasLimits)('1,500 slow connections stop neither inbox nor pages', async () => {
    const scene = await createInboxScene(engine, { jitterMs: 5 });
    const up = await startUp(scene);
    expect(spawnSync('prlimit', ['--pid', String(up.pid), '--nofile=800:800']).status).toBe(0);
    const dashboard = Number(new URL(dashboardUrl(up)).port);
    const metrics = Number(/"metrics":"http:[^"]+:(\d+)\/metrics"/.exec(up.said)?.[1]);
    const sockets = [...(await openSlowly(dashboard, 1_500)), ...(await openSlowly(metrics, 1_500))];
    await scene.drop('list.csv', domainList(50));
    const [done = ''] = await scene.until('done', 1);
    expect(countStatuses(await readRows(join(done, 'list.enriched.csv'))).matched).toBeGreaterThan(0);
    const page = await askAs('', up)('/status.json');
    expect(page.status).toBe(200);
    expect((await fetch(`http://127.0.0.1:${metrics}/healthz`)).status).toBe(200);
    await expect.poll(() => sockets.filter((socket) => !socket.closed).length).toBe(0);
  });
});
