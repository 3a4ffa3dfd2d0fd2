/**
 * One e-mail through one mail server, by SMTP. What it says is the caller's.
 */
export interface MailMessage {
  readonly from: string;
  readonly to: readonly string[];
  readonly subject: string;
  readonly text: string;
  /** Of a message that a later process may send again: mailboxes tell a repeated one by it. Default: a new one. */
  readonly id?: string;
}

export interface MailServer {
  /** `smtp://` or `smtps://`, credentials included. */
  readonly url: string;
  /** Whether to send to an `smtp://` server that offers no TLS, readable on the way. */
  readonly allowsPlain: boolean;
}

/** Finding the server, connecting, greeting, and each silence after that. */
const STEP_MS = 10_000;

/** Resolves when the server has taken it. Throws what nodemailer throws, which holds no credentials. */
export async function sendMail(server: MailServer, message: MailMessage): Promise<void> {
  // Few processes ever send one.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    url: server.url,
    requireTLS: !server.allowsPlain,
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    dnsTimeout: STEP_MS,
  });
  try {
    const { id, to, ...rest } = message;
    const messageId = id === undefined ? {} : { messageId: `<${id}@brand-enrich>` };
    await transport.sendMail({ ...rest, ...messageId, to: [...to] });
  } finally {
    transport.close();
  }
}
