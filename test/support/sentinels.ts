/** A primary with two replicas, and three sentinels that watch them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished } from 'vitest';
import { freePort } from './free-port.js';
import { startRedis } from './redis-server.js';
import { startServer } from './server-process.js';
import { temporaryFolder } from './temporary-folder.js';

/** A primary that does not answer for a second is replaced. `url`: as `--engine` takes it. */
export async function startSentinels() {
  const quick = ['--repl-diskless-sync-delay', '0', '--appendonly', 'yes'];
  const primary = await startRedis({ args: quick });
  const follow = [...quick, '--replicaof', `127.0.0.1 ${primary.port}`];
  const servers = [primary, ...(await Promise.all([0, 1].map(() => startRedis({ args: follow }))))];
  const sentinels = await Promise.all(
    [0, 1, 2].map(async () => {
      const port = await freePort();
      const folder = await temporaryFolder();
      const config = [
        `port ${port}`,
        `dir ${folder}`,
        'bind 127.0.0.1',
        `sentinel monitor brands 127.0.0.1 ${primary.port} 2`,
        'sentinel down-after-milliseconds brands 1000',
        'sentinel failover-timeout brands 5000',
      ];
      await writeFile(join(folder, 'sentinel.conf'), `${config.join('\n')}\n`);
      const command = ['redis-server', join(folder, 'sentinel.conf'), '--sentinel'];
      return { port, server: await startServer(command, '+monitor master') };
    }),
  );
  onTestFinished(async () => {
    await Promise.all(sentinels.map(({ server }) => server.kill('SIGKILL')));
    await Promise.all(servers.map((server) => server.stop()));
  });
  // A sentinel that does not know a replica yet could not promote it.
  for (const { port } of sentinels) {
    const sentinel = new Redis(port);
    const known = async () => {
      const fields = (await sentinel.call('SENTINEL', 'MASTER', 'brands')) as string[];
      const numberOf = (name: string) => Number(fields[fields.indexOf(name) + 1]);
      return [numberOf('num-slaves'), numberOf('num-other-sentinels')];
    };
    await expect.poll(known, { timeout: 30_000 }).toEqual([2, 2]);
    sentinel.disconnect();
  }
  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return { primary, url: `redis+sentinel://${hosts}/brands/0` };
}
