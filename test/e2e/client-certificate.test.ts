/** Servers that ask for a client's certificate: Redis as it comes, and an https service. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { COMPANY_CA, COMPANY_TLS, inTls } from '../support/company-ca.js';
import { engineAt, quickEngine } from '../support/engines.js';
import { freePort } from '../support/free-port.js';
import { hasRedisServer, startRedis } from '../support/redis-server.js';
import { createScene, domainList } from '../support/scene.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ends } from './commands.js';

async function certificates() {
  const folder = await temporaryFolder();
  const files = {
    ca: join(folder, 'ca.pem'),
    cert: join(folder, 'client.crt'),
    key: join(folder, 'client.key'),
  };
  await writeFile(files.ca, COMPANY_CA);
  await writeFile(files.cert, COMPANY_TLS.cert);
  await writeFile(files.key, COMPANY_TLS.key);
  return { ...files, flags: ['--client-cert', files.cert, '--client-cert', files.key] };
}

test.skipIf(!hasRedisServer())('Redis that asks for a certificate gets it', async () => {
  const { ca, cert, key, flags } = await certificates();
  const port = await freePort();
  const tls = ['--tls-port', String(port), '--tls-cert-file', cert, '--tls-key-file', key];
  const server = await startRedis({ args: [...tls, '--tls-ca-cert-file', ca] });
  onTestFinished(() => server.stop());
  const engine = engineAt('redis', `rediss://127.0.0.1:${port}`);
  const scene = await createScene(engine, {}, domainList(5));
  const run = ['run', 'list.csv', '--ca-file', ca];
  const refused = await ends(5, scene.run(run));
  // With TLS 1.3 the reason may come too late.
  expect(refused.stderr).toMatch(/--client-cert if it asks for a client certificate|pass it as clientCert/);
  await ends(0, scene.run([...run, ...flags]));
  expect(scene.service.meter.billed).toBe(5);
});

test('an https service that asks for a certificate gets it', async () => {
  const { ca, flags } = await certificates();
  const scene = await createScene(await quickEngine(), {}, domainList(5));
  const port = await inTls(Number(new URL(scene.service.url).port), { ca: COMPANY_CA, requestCert: true });
  const run = ['run', 'list.csv', '--ca-file', ca, '--base-url', `https://127.0.0.1:${port}`];
  await ends(5, scene.run(run));
  await ends(0, scene.run([...run, ...flags]));
  expect(scene.service.meter.billed).toBe(5);
});

test('files without a key, or with the key of another certificate, are refused', async () => {
  const { ca, cert } = await certificates();
  const scene = await createScene(await quickEngine(), {}, domainList(5));
  await ends(2, scene.run(['run', 'list.csv', '--client-cert', cert]), 'there is no private key in PEM');
  const missing = await ends(2, scene.run(['run', 'list.csv', '--client-cert', join(ca, 'none')]));
  expect(missing.stderr).toContain('a file of the client certificate cannot be read');
  expect(scene.service.meter.requests).toEqual([]);
});
