import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { showConfig } from '../../src/commands/config.js';
import { mailOf } from '../../src/settings/address-values.js';
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
      notifyMail: null,
      notifyOn: ['finish', 'failure', 'limit', 'parked'],
    });
    expect(load({ notifyOn: 'failure, parked' }).settings.notifyOn).toEqual(['failure', 'parked']);
  });

  it.each([
    [{ notifyOn: 'failures' }, 'did you mean failure?'],
    [{ notifyUrl: 'hooks.example.com' }, 'is not an http or https address'],
    [{ notifyUrl: 'https://me:word@hooks.example.com' }, 'without credentials'],
    [{ notifyUrl: 'http://hooks.example.com/key' }, 'could be intercepted: http://hooks.example.com/…'],
    [{ notifyMail: 'smtp://m.example' }, 'is not an address with e-mail addresses to send to'],
    [{ notifyMail: 'smtp://m.example?to=Ada <a@b.example>' }, 'is not an address with e-mail addresses'],
    [{ notifyMail: 'm.example:25?to=a@b.example' }, 'is not the address of a mail server'],
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
      BRAND_ENRICH_NOTIFY_MAIL: 'smtp://ada:SesameOpen@mail.example:587?to=a@b.example',
    };
    const shown = showConfig(load({ notifyUrl }, env), null);
    expect(shown).toContain('https://hooks.example.com/…');
    expect(shown).toContain('smtp://***@mail.example:587');
    expect(shown).toContain('set, not shown');
    expect(shown).not.toMatch(/Sesame|U2Vz/);
    const wrong = { notifyUrl: 'htps://hooks.example.com/SesameOpen' };
    const { message } = refusal(() => load(wrong, { BRAND_ENRICH_NOTIFY_SECRET: 'SesameOpen' }));
    expect(message).not.toContain('Sesame');
  });

  it.each(['short', 'whsec_not base64 at all', 'two lines of it,\nthe second'])('refuses %j', (secret) => {
    const { message } = refusal(() => load({}, { BRAND_ENRICH_NOTIFY_SECRET: secret }));
    expect(message).toContain('is not a secret');
  });

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

it('an address of mail names server, receivers and sender', () => {
  expect(mailOf('smtps://u:p@m.example:465?to=a+b@c.example,d@e.example&from=f@g.example')).toEqual({
    server: 'smtps://u:p@m.example:465',
    to: ['a+b@c.example', 'd@e.example'],
    from: 'f@g.example',
  });
  expect(mailOf('smtp://m.example?to=a@b.example').from).toBe('a@b.example');
});
