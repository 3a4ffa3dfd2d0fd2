import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { showConfig } from '../../src/commands/config.js';
import { readNotifySecret } from '../../src/settings/secrets.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { load as loadWith, refusal, SERVICE } from './refusal.js';

const SECRET = 'whsec_U2VzYW1lT3BlblNlc2FtZU9wZW4=';

const load = (flags: Record<string, unknown> = {}, env: Record<string, string> = {}) =>
  loadWith({ flags, env: { ...SERVICE, ...env } });

describe('notification settings', () => {
  it('default to no recipient and to all events', () => {
    expect(load().settings).toMatchObject({
      notifyUrl: null,
      notifyEmail: [],
      notifyOn: ['finish', 'failure', 'limit', 'parked'],
    });
    expect(load({ notifyOn: 'failure, parked' }).settings.notifyOn).toEqual(['failure', 'parked']);
  });

  it.each([
    [{ notifyOn: 'failures' }, 'did you mean failure?'],
    [{ notifyUrl: 'hooks.example.com' }, 'is not an http or https address'],
    [{ notifyUrl: 'https://me:word@hooks.example.com' }, 'without credentials'],
    [{ notifyUrl: 'http://hooks.example.com/key' }, 'could be intercepted: http://hooks.example.com/…'],
    [{ notifyEmail: ['a@b.example'] }, 'no mail server was given'],
    [{ notifyEmail: ['Ada <a@b.example>'], smtpUrl: 'smtp://m.example' }, 'is not an e-mail address'],
    [{ notifyEmail: ['a@b.example'], smtpUrl: 'm.example:25' }, 'is not the address of a mail server'],
  ])('refuses %j', (flags, words) => {
    expect(refusal(() => load(flags)).message).toContain(words);
  });

  it.each([
    { notifyUrl: 'https://hooks.example.com/x?key=1' },
    { notifyUrl: 'http://127.0.0.1:9/x' },
    { notifyUrl: 'http://LOCALHOST/x' },
    { notifyUrl: 'http://hooks.example.com/x', allowHttp: true },
  ])('accepts %j as it is', (flags) => {
    expect(load(flags).settings.notifyUrl).toBe(flags.notifyUrl);
  });
});

describe('secrets of notifications', () => {
  it('are never shown', () => {
    const notifyUrl = 'https://hooks.example.com/T1/SesameOpen?k=SesameOpen';
    const env = {
      BRAND_ENRICH_NOTIFY_SECRET: SECRET,
      BRAND_ENRICH_SMTP_URL: 'smtp://ada:SesameOpen@mail.example:587',
    };
    const shown = showConfig(load({ notifyUrl, notifyEmail: ['a@b.example'] }, env), null);
    expect(shown).toContain('https://hooks.example.com/…');
    expect(shown).toContain('smtp://***@mail.example:587');
    expect(shown).toContain('set, not shown');
    expect(shown).not.toMatch(/Sesame|U2Vz/);
    const wrong = { notifyUrl: 'htps://hooks.example.com/SesameOpen' };
    const { message } = refusal(() => load(wrong, { BRAND_ENRICH_NOTIFY_SECRET: 'SesameOpen' }));
    expect(message).not.toContain('Sesame');
  });

  it.each(['short', 'whsec_not base64 at all', 'two lines of it,\nthe second'])(
    'refuses the secret %j',
    (secret) => {
      const { message } = refusal(() => load({}, { BRAND_ENRICH_NOTIFY_SECRET: secret }));
      expect(message).toContain('is not a secret');
    },
  );

  it('come from the environment or a file, and the flag wins', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'secret.txt');
    await writeFile(path, `\uFEFF${SECRET}\r\n`);
    const env = { BRAND_ENRICH_NOTIFY_SECRET: 'another secret, from here' };
    expect(readNotifySecret(load().settings)).toBeNull();
    expect(readNotifySecret(load({}, env).settings)).toBe('another secret, from here');
    expect(readNotifySecret(load({ notifySecretFile: path }, env).settings)).toBe(SECRET);
    const envFile = { ...env, BRAND_ENRICH_NOTIFY_SECRET_FILE: path };
    expect(readNotifySecret(load({}, envFile).settings)).toBe('another secret, from here');
    await writeFile(path, 'Sesame');
    const refused = refusal(() => readNotifySecret(load({ notifySecretFile: path }).settings));
    expect(refused.message).toContain(path);
    expect(refused.message).not.toContain('Sesame');
    const missing = load({ notifySecretFile: join(folder, 'none.txt') }).settings;
    expect(refusal(() => readNotifySecret(missing)).message).toContain('it does not exist');
  });
});
