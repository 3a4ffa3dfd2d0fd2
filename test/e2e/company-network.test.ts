/** A proxy is the only way out, and the company's own authority signs the certificates. */
import { connect, createServer } from 'node:net';
import { TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { COMPANY_CA, COMPANY_TLS, inTls } from '../support/company-ca.js';
import { startConnectProxy } from '../support/connect-proxy.js';
import { type EngineUnderTest, inLongTests, postgresEngine, redisEngine } from '../support/engines.js';
import { listenForTest } from '../support/listen-anew.js';
import { createScene, domainList } from '../support/scene.js';
import { ends, onEngines } from './commands.js';

async function companyScene(engine: EngineUnderTest, behaviour: 'tunnel' | number = 'tunnel') {
  const scene = await createScene(engine, {}, domainList(70));
  const proxy = await startConnectProxy(await inTls(Number(new URL(scene.service.url).port)), { behaviour });
  await scene.write('ca.pem', COMPANY_CA);
  const env = {
    // A separate address: engines store what they know of a service under it.
    BRAND_API_URL: `https://api.test:${proxy.port}`,
    HTTPS_PROXY: `http://clerk:open-sesame-of-the-clerk@127.0.0.1:${proxy.port}`,
  };
  const said: string[] = [];
  const run = async (...args: string[]) => {
    const result = await scene.run(args, env);
    said.push(result.stdout, result.stderr);
    return result;
  };
  return { ...scene, proxy, run, said, env };
}

onEngines([redisEngine()], (engine) => {
  test('the file comes back, each identifier is paid once, and the proxy never sees the token', async () => {
    const { run, service, proxy, token, said, files } = await companyScene(engine);
    await ends(0, run('run', 'list.csv', '--ca-file', 'ca.pem'));
    expect([service.meter.billed, service.meter.mostBilledOnce()]).toEqual([70, 1]);
    expect(new Set(proxy.targets)).toEqual(new Set([`api.test:${proxy.port}`]));
    expect(proxy.seen()).not.toContain(token);
    expect(proxy.plain).toBe(0);
    const config = await run('config', '--ca-file', 'ca.pem');
    expect(config.stdout).toContain(
      `the service is reached through http://***@127.0.0.1:${proxy.port} (HTTPS_PROXY)`,
    );
    expect(config.stdout).toMatch(/caFile +ca\.pem +flag/);
    await run('config', '--json');
    await run('run', 'list.csv', '--json', '--ca-file', 'ca.pem', '--log-level', 'trace');
    expect(said.join('')).not.toMatch(/open-sesame|b3Blbi1zZXNhbWU/);
    expect(await files()).toContain('list.enriched.csv');
  });
});

/** TLS in front of the engine's port: PostgreSQL clients request it with eight bytes first. */
async function engineInTls(port: number, isPostgres: boolean): Promise<number> {
  const server = createServer((socket) => {
    const engine = connect(port, '127.0.0.1');
    const serve = () => {
      const secure = new TLSSocket(socket, { isServer: true, ...COMPANY_TLS });
      secure.on('error', () => undefined);
      secure.pipe(engine).pipe(secure);
    };
    for (const each of [socket, engine]) {
      each.on('error', () => undefined);
      each.on('close', () => [socket, engine].map((other) => other.destroy()));
    }
    if (!isPostgres) serve();
    else
      socket.once('data', () => {
        socket.write('S');
        serve();
      });
  });
  return listenForTest(server);
}

onEngines([redisEngine(), inLongTests(postgresEngine())], (engine) => {
  const isPostgres = engine.name === 'postgres';

  test('an engine in TLS is trusted with --ca-file, and the error without it names the flag', async () => {
    const scene = await createScene(engine);
    const { BRAND_ENRICH_ENGINE = '' } = scene.env;
    const url = new URL(BRAND_ENRICH_ENGINE);
    const port = await engineInTls(Number(url.port), isPostgres);
    const address = BRAND_ENRICH_ENGINE.replace(/^redis:/, 'rediss:').replace(url.host, `localhost:${port}`);
    const flags = ['--engine', isPostgres ? `${address}?sslmode=verify-full` : address];
    await scene.write('list.csv', domainList(3));
    await scene.write('ca.pem', COMPANY_CA);
    await ends(5, scene.run(['run', 'list.csv', ...flags]), '--ca-file');
    await ends(0, scene.run(['run', 'list.csv', ...flags, '--ca-file', 'ca.pem']));
    expect(scene.service.meter.billed).toBe(3);
  });
});
