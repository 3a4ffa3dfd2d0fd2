/** A whole page: its document, style sheet and security policy. All components are synchronous. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Child, PropsWithChildren } from 'hono/jsx';
import { raw } from 'hono/utils/html';

/** The style sheet of every page. */
export const STYLE = readFileSync(new URL('style.css', import.meta.url), 'utf8');

/** Characters that HTML or UTF-8 forbids; the replacement character stands for them. */
const UNWRITABLE = /(?![\t\n\r])[\p{Cc}\p{Surrogate}]/gu;

/** Returns the HTML of components, which escape all text. Control characters are replaced. */
export function htmlOf(element: Child): string {
  return String(element).replace(UNWRITABLE, '\ufffd');
}

/** Returns the HTML of a whole page. */
export function documentOf(page: Child): string {
  return `<!doctype html>\n${htmlOf(page)}\n`;
}

/** `scripts`: modules, which run in their order. `style`: default `STYLE`. */
export function Page({
  title,
  head,
  style = STYLE,
  scripts = [],
  children,
}: PropsWithChildren<{ title: string; head: Child; style?: string; scripts?: readonly string[] }>) {
  return (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        {head}
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{title}</title>
        <style>{raw(style)}</style>
      </head>
      <body>
        {children}
        {scripts.map((script) => (
          <script type="module">{raw(script)}</script>
        ))}
      </body>
    </html>
  );
}

/** Returns a `Content-Security-Policy` for `scripts`, style, pictures as `data:`, and `more`. */
export function policyOf(parts: {
  readonly scripts: readonly string[];
  readonly style: string;
  readonly more: readonly string[];
}): string {
  const { scripts, style, more } = parts;
  return [
    "default-src 'none'",
    `script-src ${scripts.length === 0 ? "'none'" : scripts.map(hashSource).join(' ')}`,
    `style-src ${style}`,
    'img-src data:',
    "base-uri 'none'",
    ...more,
  ].join('; ');
}

/** Returns the source expression that allows exactly this text. */
export function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
