/**
 * The password of the dashboard: what it may look like, and where it is read from. No message of this file quotes what was
 * read.
 */
import { NeverStartError } from '../core/errors.js';
import { isLoopbackHost } from './address-values.js';
import { maskTokenPath } from './mask.js';
import { readSecretFile, type SecretFileWords } from './read-secret-file.js';
import type { ValueKind } from './value-kind.js';
import { accepted, oneText, refused } from './value-kind.js';

/** A shorter one could be found by trying. */
const SHORTEST_PASSWORD = 12;
/** Longer ones are files named by mistake. */
const LONGEST_PASSWORD = 1_024;

const UNREADABLE: SecretFileWords = {
  code: 'usage-invalid',
  what: 'the file of the password cannot be read',
  todo: 'name one that can with --dashboard-password-file, or set BRAND_ENRICH_DASHBOARD_PASSWORD',
};

/** Trimmed: one line. */
export const dashboardPasswordValue: ValueKind<string> = oneText('PASSWORD', (seen) => {
  const password = seen.trim();
  const isRight =
    password.length >= SHORTEST_PASSWORD && password.length <= LONGEST_PASSWORD && !/\p{Cc}/u.test(password);
  return isRight
    ? accepted(password)
    : refused('a password', `one line of ${SHORTEST_PASSWORD} characters or more`);
});

export interface DashboardPasswordSettings {
  readonly dashboardHost: string;
  readonly dashboardPassword: string | null;
  readonly dashboardPasswordFile: string | null;
}

/**
 * The password that the settings name; null when they name none, which only a dashboard on loopback may do.
 * Throws `NeverStartError` `usage-invalid` when others could reach a dashboard without one, and when the file cannot be read
 * or holds no password.
 */
export function readDashboardPassword(settings: DashboardPasswordSettings): string | null {
  const { dashboardHost: host, dashboardPassword, dashboardPasswordFile: path } = settings;
  if (dashboardPassword !== null) return dashboardPassword;
  if (path === null) {
    if (isLoopbackHost(host)) return null;
    throw new NeverStartError({
      code: 'usage-invalid',
      what: 'a dashboard that others can reach needs a password',
      subject: `--dashboard-host ${host}`,
      todo: 'set BRAND_ENRICH_DASHBOARD_PASSWORD or name a file with --dashboard-password-file, or leave the host at 127.0.0.1',
    });
  }
  const parsed = dashboardPasswordValue.parse([readSecretFile(path, UNREADABLE)]);
  if (parsed.ok) return parsed.value;
  throw new NeverStartError({
    code: 'usage-invalid',
    what: 'what this file holds (not shown) is not a password',
    subject: maskTokenPath(path),
    todo: `write ${parsed.refusal.write}`,
  });
}
