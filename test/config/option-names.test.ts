/** What the command line says of flags, as a program reads it. */
import { expect, it } from 'vitest';
import { loadOptions } from '../../src/config/load-options.js';
import { inOptionNames, withOptionNames } from '../../src/config/option-names.js';
import { refusal } from './refusal.js';

it.each([
  ['--max-requests 5 is reached', 'maxRequests 5 is reached'],
  ['use --column website:domain', 'use column website:domain'],
  ['read it with --no-header, or -o FILE', 'read it with header: false, or output FILE'],
  ['set BRAND_API_URL or --base-url; --sample needs neither', 'set baseUrl; sample needs neither'],
  ['set BRAND_API_TOKEN_FILE', 'set BRAND_API_TOKEN_FILE'],
  ['--usage-lagging, --yes, a--quota, a - b', '--usage-lagging, --yes, a--quota, a - b'],
])('%s', (text, expected) => {
  expect(withOptionNames(text)).toBe(expected);
});

it('rewrites every part of an error, and leaves what is not ours', () => {
  const error = inOptionNames(refusal(() => loadOptions({})));
  expect(JSON.stringify([error, String(error)])).not.toMatch(/--|BRAND_/);
  expect(error).toMatchObject({
    subject: 'baseUrl, token',
    message: expect.stringContaining('set baseUrl;'),
  });
  const other = new Error('--quota');
  expect(inOptionNames(other)).toBe(other);
  expect(other.message).toBe('--quota');
});
