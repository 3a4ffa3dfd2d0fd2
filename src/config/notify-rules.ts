/**
 * What notifications cannot do without, and where they must not go. Pure: settings in, problems out.
 */
import { isLoopbackUrl } from './address-values.js';
import { maskOrigin } from './mask.js';
import { type Problem, usageProblem } from './problems.js';
import type { Settings } from './settings.js';

/** `isMailServerUnread`: one was named, and that it cannot be read is reported already. */
export function findNotifyProblems(settings: Settings, isMailServerUnread: boolean): Problem[] {
  const { notifyUrl, notifyEmail, smtpUrl, allowHttp } = settings;
  const problems: Problem[] = [];
  if (notifyUrl?.toLowerCase().startsWith('http:') && !allowHttp && !isLoopbackUrl(notifyUrl)) {
    problems.push({
      code: 'usage-insecure',
      what: 'notifications would be readable on the way',
      subject: maskOrigin(notifyUrl),
      todo: 'use https, or allow plain http with --allow-http',
    });
  }
  if (notifyEmail.length > 0 && smtpUrl === null && !isMailServerUnread) {
    const todo = 'name it with --smtp-url smtp://HOST:PORT, or in BRAND_ENRICH_SMTP_URL';
    problems.push(usageProblem('no mail server was named', '--notify-email', todo));
  }
  return problems;
}
