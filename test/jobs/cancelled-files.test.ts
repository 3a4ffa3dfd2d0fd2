/** A file that a person cancels and tries again is one job, with one page, whose orders hold. */
import { expect, test } from 'vitest';
import { readNoted } from '../../src/jobs/job-folder.js';
import { ends, engineOfFile, expectPaidOnce, stop } from '../e2e/commands.js';
import { askAs, startUpHere } from '../e2e/start-up.js';
import { domainList } from '../support/scene.js';
import { createInboxScene } from './inbox-scene.js';

const engine = engineOfFile();

test('a cancelled file that is tried again keeps its page, can be cancelled again, and is paid for once', async () => {
  const scene = await createInboxScene(engine, { latencyMs: 200 });
  const { meter, options } = scene.service;
  const up = await startUpHere(scene, { concurrency: 2 });
  const ask = askAs('ada', up);
  const file = `${scene.token}.csv`;
  const cancelled = async (billed: number) => {
    await scene.service.until(() => meter.billed >= billed);
    await ends(0, scene.run(['cancel', file]));
    const [folder = ''] = await scene.until('failed', 1);
    return (await readNoted(folder))?.id ?? '';
  };
  await scene.drop(file, domainList(40));
  const id = await cancelled(2);
  const again = async () => {
    const answer = await ask(`/files/${id}/again`, { confirmed: 'yes' });
    expect([answer.status, await answer.json()]).toMatchObject([200, { links: { page: `/files/${id}` } }]);
  };
  await again();
  expect((await ask(`/files/${id}`)).status).toBe(200);
  // A later order counts as the first did.
  expect(await cancelled(meter.billed + 2)).toBe(id);
  options.latencyMs = 0;
  await again();
  const [folder = ''] = await scene.until('done', 1);
  expect((await readNoted(folder))?.id).toBe(id);
  expect((await ask(`/files/${id}`)).status).toBe(200);
  expectPaidOnce(meter, 40);
  await stop(up);
});
