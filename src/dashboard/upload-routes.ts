/** Receiving files on the dashboard, and starting them. */
import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { BrandEnrichError } from '../core/errors.js';
import { withinDeadline } from '../core/lifecycle.js';
import type { Log } from '../core/log.js';
import { withTableEnding } from '../jobs/inbox-file.js';
import { newJobId } from '../jobs/job-folder.js';
import type { Choice, UploadPlans } from '../jobs/plan-upload.js';
import { tryAgain } from '../jobs/try-again.js';
import type { Upload, Uploads } from '../jobs/uploads.js';
import { isMoreThan } from '../run/lookups/spending.js';
import { FORGED, mayAct } from './actions.js';
import { answerText, type GatedApp, type Session } from './gate.js';
import { filePath } from './plain-pages.js';

export interface UploadParts {
  readonly uploads: Uploads;
  readonly plans: UploadPlans;
}

/** A plan that takes longer is not waited for. */
const PATIENCE_MS = 3_000;

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
      log.info({ ...by, file: upload.name, bytes: upload.size, upload: upload.id }, 'a file was uploaded');
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

/**
 * Starts a file as chosen. `shownCost`: the money that the page showed, or null. `by`: the name of
 * the session. Returns its job, or why it was not started.
 */
export async function startUpload(
  { uploads, plans }: UploadParts,
  upload: Upload,
  choice: Choice,
  shownCost: string | null,
  by: string,
) {
  // Caps and order may have been chosen since the page was made: they cost nothing to plan.
  const made = plans.made(upload, choice) ?? (await withinDeadline(plans.plan(upload, choice), PATIENCE_MS));
  if (made === undefined) return 'it is still being read; start it when its cost is shown';
  const { found } = made;
  if (found === null) return 'see below';
  const { plan, format, overage } = found;
  if (plan.rows.total === 0) return 'it has no rows';
  const shown = /^\d{1,12}(?:\.\d{1,6})?$/.exec(shownCost ?? '')?.[0];
  // Another view may have planned it anew since, when more of the quota was used.
  if (shown !== undefined && plan.spending !== null && isMoreThan(plan.spending.maxCost, shown))
    return 'it may cost more now than the page showed; what it costs now is below';
  // The money that was shown is the most that it costs, whatever others spend meanwhile.
  const cap = overage > 0 && plan.cap !== null ? { maxCost: plan.cap } : {};
  const settings = { ...choice, ...cap };
  const { root, folder } = upload;
  if (upload.failed) {
    const job = newJobId();
    return { job, name: await tryAgain(root, folder, Date.now(), { job, settings, by }), found };
  }
  const name = withTableEnding(upload.name, format);
  await uploads.start(upload, name, settings, by);
  return { job: upload.id, name, found };
}
