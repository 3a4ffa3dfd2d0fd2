/** Every form of the dashboard, sent by another page or without the token of its session. */
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createInboxScene } from '../jobs/inbox-scene.js';
import { redisEngine } from '../support/engines.js';
import { onEngines, stop } from './commands.js';
import { signIn } from './person.js';
import { dashboardUrl, PASSWORD, startUpHere } from './start-up.js';

const CODE = fileURLToPath(new URL('../../src/dashboard/', import.meta.url));

/** The paths that forms and programs post to, with `x` for what they name. */
async function postedPaths(): Promise<string[]> {
  const files = (await readdir(CODE)).map((name) => readFile(CODE + name, 'utf8'));
  const code = (await Promise.all(files)).join('\n');
  const constants = new Map(
    Array.from(code.matchAll(/const (\w+) = '(\/[^']*)'/g), ([, name = '', path = '']) => [name, path]),
  );
  const paths = new Set<string>();
  // Of `app.post` and `actionOn`, and of an action, whose property stands alone on its line.
  for (const [, quoted, name = ''] of code.matchAll(
    /(?:app\.(?:post|put|patch|delete)\(|actionOn\(|^ +path: )(?:'([^']+)'|([A-Z_]+)),/gm,
  ))
    paths.add(quoted ?? constants.get(name) ?? `${name} is not known here`);
  return [...paths].map((path) => path.replaceAll(/:\w+/g, 'x')).sort();
}

onEngines([redisEngine()], (engine) => {
  test('a form of another page, or without its token, does nothing', async () => {
    const scene = await createInboxScene(engine);
    const up = await startUpHere(scene);
    const url = dashboardUrl(up);
    const own = { origin: new URL(url).origin };
    const post = (path: string, headers: Record<string, string>, body = new URLSearchParams({ a: '1' })) =>
      fetch(new URL(path, url), { method: 'POST', redirect: 'manual', headers, body });
    const { cookie } = await signIn(url);
    const authorization = `Basic ${Buffer.from(`ada:${PASSWORD}`).toString('base64')}`;

    const paths = await postedPaths();
    expect(paths).toEqual(expect.arrayContaining(['/sign-out', '/uploads', '/runs/x/cancel', '/resume']));
    expect(paths.length).toBeGreaterThanOrEqual(17);
    for (const path of paths) {
      const tries: readonly Record<string, string>[] = [
        { cookie, origin: 'https://evil.example' },
        { cookie, origin: 'null' },
        { cookie, origin: `${own.origin}.evil.example` },
        { authorization, origin: 'https://evil.example' },
        { authorization, 'sec-fetch-site': 'same-site' },
      ];
      for (const headers of tries) {
        const { status } = await post(path, headers);
        expect([path, headers, status === 401 || status === 403]).toEqual([path, headers, true]);
      }
      // A path that is there answers that; any other would be 404.
      if (!path.startsWith('/sign-'))
        expect([path, (await post(path, { ...own, cookie })).status]).toEqual([path, 403]);
      const stranger = (await post(path, own)).status;
      expect([path, stranger]).toEqual([path, path === '/sign-out' ? 303 : 401]);
    }
    expect((await fetch(new URL('/status.json', url), { headers: { cookie } })).status).toBe(200);
    await stop(up);
  });
});
