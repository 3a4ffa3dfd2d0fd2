/** Sends one e-mail through one mail server: SMTP, never a proxy. The caller supplies the text. */
import type { Transporter } from 'nodemailer';
import { trusting } from '../core/connector.js';

interface MailMessage {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Mailboxes recognise a repeated message by it. Default: a new one. */
  readonly id?: string;
}

interface MailServer {
  /** `smtp://` or `smtps://`, credentials included. */
  readonly url: string;
  /** Whether to send to an `smtp://` server that offers no TLS, readable on the way. */
  readonly allowsPlain: boolean;
  /** As in `Network`. Default: none. */
  readonly extraCa?: string | null;
}

/** Finding the server, connecting, greeting, and each silence after that. */
const STEP_MS = 10_000;

/** Resolves when the server has taken it. Throws nodemailer errors, which hold no credentials. */
export async function sendMail(server: MailServer, { id, to, ...rest }: MailMessage): Promise<void> {
  const messageId = id === undefined ? {} : { messageId: `<${id}@brand-enrich>` };
  await withServer(server, (transport) => transport.sendMail({ ...rest, ...messageId, to: [...to] }));
}

/** Connects and signs in, and sends nothing. Throws as `sendMail` does. */
export async function tryMail(server: MailServer): Promise<void> {
  await withServer(server, (transport) => transport.verify());
}

async function withServer(
  server: MailServer,
  use: (transport: Transporter) => Promise<unknown>,
): Promise<void> {
  // Few processes ever send one.
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
