/**
 * The kinds of values that notifications are set up with: webhook, mail server, addressees, secret, occasions. Whether an address may be
 * used as it is is judged in `notify-rules.ts`. Nothing here quotes a secret.
 */
import { nearest } from '../core/nearest.js';
import type { ValueKind } from './value-kind.js';
import { accepted, eachText, oneText, refused } from './value-kind.js';

/** What people and programs can be told of. */
export const NOTIFY_EVENTS = ['finish', 'failure', 'limit', 'parked'] as const;
export type NotifyEvent = (typeof NOTIFY_EVENTS)[number];

const ALL_EVENTS = NOTIFY_EVENTS.join(',');

/** Some of `NOTIFY_EVENTS`. */
export const notifyEvents: ValueKind<readonly NotifyEvent[]> = eachText('list', ALL_EVENTS, (seen) => {
  const found = NOTIFY_EVENTS.find((each) => each === seen);
  if (found !== undefined) return accepted(found);
  return refused(
    `one of ${NOTIFY_EVENTS.join(', ')}`,
    `some of them, separated by commas, for example ${ALL_EVENTS}`,
    nearest(seen, NOTIFY_EVENTS),
  );
});

/** An http or https address as it is, query included: receivers put a secret of theirs there, or into the path. */
export const webhookValue: ValueKind<string> = oneText('URL', (seen) => {
  const url = URL.canParse(seen) ? new URL(seen) : null;
  const isRight = url !== null && /^https?:$/.test(url.protocol);
  if (!isRight)
    return refused('an http or https address', 'all of it, for example https://hooks.example.com/brands');
  return url.username === '' && url.password === ''
    ? accepted(seen)
    : refused('an address without credentials', 'it without them; a signature proves who sends');
});

/** `smtp://` or `smtps://`. May hold a password: show it through `maskAddress` only. */
export const smtpValue: ValueKind<string> = oneText('URL', (seen) => {
  const url = URL.canParse(seen) ? new URL(seen) : null;
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== ''
    ? accepted(seen)
    : refused('the address of a mail server', 'it as smtp://user:password@mail.example.com:587 or smtps://…');
});

const MAIL_EXAMPLE = 'an address alone, for example data-team@example.com';

function parseMailAddress(seen: string) {
  return /^[^\s@<>,;"]{1,64}@[A-Za-z0-9.-]{1,253}$/.test(seen)
    ? accepted(seen)
    : refused('an e-mail address', MAIL_EXAMPLE);
}

export const mailAddress: ValueKind<string> = oneText('ADDRESS', parseMailAddress);
export const mailAddresses: ValueKind<readonly string[]> = eachText('repeated', 'ADDRESS', parseMailAddress);

/** A shorter one could be found by trying. */
const SHORTEST_SECRET = 16;
const LONGEST_SECRET = 4_096;

/** Trimmed. `whsec_` and base64 as the Standard Webhooks specification has it, or any text of one line. */
export const notifySecretValue: ValueKind<string> = oneText('SECRET', (seen) => {
  const secret = seen.trim();
  const isRight =
    secret.length >= SHORTEST_SECRET && secret.length <= LONGEST_SECRET && /^[^\r\n\0]+$/.test(secret);
  if (!isRight) return refused('a secret', `one line of ${SHORTEST_SECRET} characters or more`);
  return !secret.startsWith('whsec_') || /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)
    ? accepted(secret)
    : refused('a secret', 'base64 after whsec_, or a text that does not begin so');
});
