/** Receives files: people send them, and programs send and start them at once. */
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { BrandEnrichError, ConfigError, RunError, usageProblem } from '../core/errors.js';
import type { Log } from '../core/log.js';
import { DOCUMENT_VERSION } from '../core/terminal-text.js';
import type { OrderStores } from '../jobs/file-orders.js';
import { isSideFile, sideFileOf, uploadName } from '../jobs/inbox-file.js';
import { choiceOf, type UploadPlans } from '../jobs/plan-upload.js';
import { discard, startFile } from '../jobs/start-file.js';
import type { Uploads } from '../jobs/uploads.js';
import type { Document } from '../run/documents.js';
import { answerError, FORGED, mayAct } from './actions.js';
import { answerText, type GatedApp, type GatedContext } from './gate.js';
import { filePath } from './plain-pages.js';
import { runDocumentPath } from './program-routes.js';

export interface UploadParts {
  readonly uploads: Uploads;
  readonly plans: UploadPlans;
}

/** What a request says that is not a setting of the file. */
const OF_THE_REQUEST = ['start', 'inbox', 'name'];

/** Adds requests that are not forms. */
export function addUploads(
  app: GatedApp,
  { uploads, plans, engine, log }: UploadParts & { readonly engine: OrderStores; readonly log: Log },
): void {
  function askedOf({ req }: Context) {
    const length = req.header('content-length');
    return {
      inbox: Number(req.query('inbox') ?? 0),
      name: req.query('name') ?? '',
      length: length === undefined ? null : Number(length),
    };
  }

  async function receive(context: GatedContext, sentBy: string) {
    const upload = await uploads.receive({ ...askedOf(context), sentBy }, context.env.incoming);
    const by = { by: sentBy, address: getConnInfo(context).remote.address };
    log.info({ ...by, file: upload.file, bytes: upload.size, upload: upload.id }, 'a file was uploaded');
    return upload;
  }

  /** Nothing is received for a name or settings that cannot be. */
  async function receiveAndStart(context: GatedContext, start: string, sentBy: string) {
    if (start !== '1')
      throw new ConfigError(
        usageProblem('start can only be 1 or 0', `start=${start}`, 'start=1 starts the file'),
      );
    const { searchParams } = new URL(context.req.url);
    for (const key of OF_THE_REQUEST) searchParams.delete(key);
    const { inbox, name: given, length } = askedOf(context);
    const name = uploadName(given);
    if (given.trim() === '' || !isSideFile(sideFileOf(name))) {
      const what = 'the name of the file has no ending of a table';
      const todo = 'set name in the address to one that ends with .csv, .jsonl, .xlsx or the like';
      throw new ConfigError(usageProblem(what, given || 'name', todo));
    }
    await uploads.check(inbox, name, length);
    const values = [...new Set(searchParams.keys())].map((key) => {
      const [first, ...others] = searchParams.getAll(key);
      return [key, others.length > 0 ? [first, ...others] : first];
    });
    await plans.check(uploads.roots[inbox] ?? '', Object.fromEntries(values));
    const upload = await receive(context, sentBy);
    const { id, root, folder, file } = upload;
    const settings = choiceOf(searchParams);
    await startFile(engine, root, folder, Date.now(), { settings, by: sentBy }).catch(async (error) => {
      await discard(upload).catch(() => undefined);
      if (!(error instanceof RunError)) throw error;
      const words = { what: 'the file cannot be stored now', todo: 'look at the inbox, then send it again' };
      throw new RunError({ ...error.detail, ...words });
    });
    log.info({ by: sentBy, file, job: id }, 'a file was sent and started by a program');
    return { id, file };
  }

  app.post('/uploads/check', (context) =>
    answering(context, async () => {
      const { inbox, name } = askedOf(context);
      await uploads.check(inbox, name, Number(context.req.query('size')) || null);
      return context.body(null, 204);
    }),
  );

  app.post('/uploads', (context) =>
    answering(context, async () => {
      const { user } = context.get('session');
      const start = context.req.queries('start')?.join() ?? '0';
      if (start === '0') return context.json({ path: filePath((await receive(context, user)).id) }, 201);
      const { id, file } = await receiveAndStart(context, start, user);
      const links = { run: runDocumentPath(id), page: filePath(id) };
      const document: Document<'upload'> = { id, file, links };
      context.header('location', links.run);
      return context.json({ version: DOCUMENT_VERSION, ...document }, 201);
    }),
  );

  async function answering(context: GatedContext, action: () => Promise<Response>): Promise<Response> {
    if (!mayAct(context, context.get('session'), context.req.header('x-form-token') ?? null))
      return answerText(context, FORGED, 403, 'form-foreign');
    try {
      return await action();
    } catch (error) {
      if (error instanceof BrandEnrichError) return answerError(context, error);
      // The sender has gone and does not read this.
      if (context.env.incoming.destroyed)
        return answerText(context, 'the file did not arrive whole', 400, 'input-changed');
      throw error;
    }
  }
}
