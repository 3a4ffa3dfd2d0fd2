/**
 * Scripts and styles that stand inside a page, and how its security policy names them.
 */
import { createHash } from 'node:crypto';

/**
 * A script as it may stand inside a `script` element: it cannot end it, and names no source map, which a browser's tools would
 * ask for.
 */
export function inlineScript(text: string): string {
  return text
    .replace(/^\/\/# sourceMappingURL=.*$/gm, '')
    .replace(/\r\n?/g, '\n')
    .replace(/<(?=\/script|!--)/gi, '\\x3c');
}

/** Source expression of a `Content-Security-Policy` that allows exactly this text. */
export function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
