/**
 * The words of the command line for readers who have none, such as programs and pages:
 * `--max-requests` is the option, or the key of a settings file, `maxRequests`.
 */
import { BrandEnrichError } from '../core/errors.js';
import { PROGRAM_OPTIONS } from './load-options.js';

const BY_FLAG = new Map(
  [...PROGRAM_OPTIONS].flatMap(([key, { flag }]): [string, string][] =>
    flag === null ? [] : [[flag, flag.startsWith('--no-') ? `${key}: false` : key]],
  ),
);
for (const file of ['output', 'errors', 'report']) BY_FLAG.set(`--${file}`, file);
BY_FLAG.set('-o', 'output');

/** Flags become options; flags that have none stay. */
export function withOptionNames(text: string): string {
  return (
    text
      .replace(/(?<![\w-])--?[a-z][a-z-]*(?![\w-])/g, (flag) => BY_FLAG.get(flag) ?? flag)
      // A program need not know that there is an environment.
      .replace(/\bBRAND_API_(URL|TOKEN)\b/g, (_, name) => (name === 'URL' ? 'baseUrl' : 'token'))
      .replace(/\b(\w+) or \1\b/g, '$1')
  );
}

/** Rewrites an error with `withOptionNames`, and returns it; other values stay as they are. */
export function inOptionNames(error: unknown): unknown {
  if (!(error instanceof BrandEnrichError)) return error;
  const { message, what, subject, todo } = error;
  const texts = Object.entries({ message, what, subject, todo });
  return Object.assign(error, Object.fromEntries(texts.map(([key, text]) => [key, withOptionNames(text)])));
}
