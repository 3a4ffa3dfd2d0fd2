/** Sends an e-mail through a mail server by SMTP, never through a proxy. */
import type { Transporter } from 'nodemailer';
import { trusting } from '../core/connector.js';

interface MailMessage {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Lets mailboxes recognise a repeated message. Default: a new id. */
  readonly id?: string;
}

interface MailServer {
  /** `smtp://` or `smtps://`, credentials included. */
  readonly url: string;
  /** Permits an `smtp://` server without TLS, where others can read the mail on its way. */
  readonly allowsPlain: boolean;
  /** As in `Network`. Default: null. */
  readonly extraCa?: string | null;
}

/** Limit for finding the server, connecting and greeting each, and for any silence after that. */
const STEP_MS = 10_000;

/** Sends a message. Throws nodemailer errors, which hold no credentials. */
export async function sendMail(server: MailServer, { id, to, ...rest }: MailMessage): Promise<void> {
  const messageId = id === undefined ? {} : { messageId: `<${id}@brand-enrich>` };
  await withServer(server, (transport) => transport.sendMail({ ...rest, ...messageId, to: [...to] }));
}

/** Connects and signs in, but sends nothing. Throws like {@link sendMail}. */
export async function tryMail(server: MailServer): Promise<void> {
  await withServer(server, (transport) => transport.verify());
}

async function withServer(
  server: MailServer,
  use: (transport: Transporter) => Promise<unknown>,
): Promise<void> {
  // Few processes need it.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: server.url,
    requireTLS: !server.allowsPlain,
    tls: trusting(server.extraCa ?? null),
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
  });
  try {
    await use(transport);
  } finally {
    transport.close();
  }
}
