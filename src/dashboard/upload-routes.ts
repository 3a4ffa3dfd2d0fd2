/** Receives the files that people send to the dashboard. */
import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { BrandEnrichError } from '../core/errors.js';
import type { Log } from '../core/log.js';
import type { UploadPlans } from '../jobs/plan-upload.js';
import type { Uploads } from '../jobs/uploads.js';
import { FORGED, mayAct } from './actions.js';
import { answerText, type GatedApp, type Session } from './gate.js';
import { filePath } from './plain-pages.js';

export interface UploadParts {
  readonly uploads: Uploads;
  readonly plans: UploadPlans;
}

/** Adds requests that are not forms. */
export function addUploads(
  app: GatedApp,
  { uploads, log }: Pick<UploadParts, 'uploads'> & { readonly log: Log },
): void {
  app.post('/uploads/check', (context) =>
    answering(context, context.get('session'), async (asked) => {
      await uploads.check(asked.inbox, asked.name, Number(context.req.query('size')) || null);
      return context.body(null, 204);
    }),
  );

  app.post('/uploads', (context) => {
    const session = context.get('session');
    return answering(context, session, async (asked) => {
      const { incoming } = context.env as unknown as HttpBindings;
      const sent = { ...asked, sentBy: session.user };
      const upload = await uploads.receive(sent, incoming as IncomingMessage);
      const by = { by: session.user, address: getConnInfo(context).remote.address };
      log.info({ ...by, file: upload.file, bytes: upload.size, upload: upload.id }, 'a file was uploaded');
      return context.json({ path: filePath(upload.id) }, 201);
    });
  });
}

/** Reads what is asked, and answers an error of ours in words. */
async function answering(
  context: Context,
  session: Session,
  action: (asked: { inbox: number; name: string; length: number | null }) => Promise<Response>,
): Promise<Response> {
  const { req } = context;
  if (!mayAct(context, session, req.header('x-form-token') ?? null))
    return answerText(context, FORGED, 403, 'form-foreign');
  const inbox = Number(req.query('inbox') ?? 0);
  const length = req.header('content-length');
  const asked = {
    inbox,
    name: req.query('name') ?? '',
    length: length === undefined ? null : Number(length),
  };
  try {
    return await action(asked);
  } catch (error) {
    if (error instanceof BrandEnrichError) {
      const status = error.code === 'disk-low' ? 507 : error.code === 'output-unwritable' ? 500 : 400;
      return answerText(context, error.inWords('keys').message, status, error.code);
    }
    const { incoming } = context.env as unknown as HttpBindings;
    // The sender has gone and does not read this.
    if (incoming.destroyed) return answerText(context, 'the file did not arrive whole', 400, 'input-changed');
    throw error;
  }
}
