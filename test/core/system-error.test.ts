import { describe, expect, it } from 'vitest';
import { systemFault, systemWords } from '../../src/core/system-error.js';

const systemError = (
  code: string,
  detail: Record<string, unknown> = {},
  message = `${code}: of the system`,
) => Object.assign(new Error(message), { code, ...detail });

describe('the text of a system error', () => {
  it.each<[unknown, string, string?]>([
    [systemError('ENOENT', { path: 'a.csv' }), 'it does not exist'],
    [systemError('EACCES', { path: 'a.csv' }), 'permission denied'],
    [systemError('EISDIR'), 'it is a folder'],
    [systemError('EAI_AGAIN', { hostname: 'api.example' }), 'the name api.example cannot be resolved now'],
    [systemError('ECONNREFUSED', { address: 'a.test', port: 1 }), 'nothing listens at a.test:1', 'refused'],
    [systemError('ECONNREFUSED'), 'the connection was refused', 'refused'],
    [systemError('UND_ERR_CONNECT_TIMEOUT'), 'the connection timed out'],
    [systemError('HPE_INVALID_CONSTANT', {}, 'Expected HTTP/'), 'that port does not speak HTTP', 'no_http'],
    [
      systemError('ESOCKET', { originalCode: 'ECONNREFUSED', address: '::1', port: 25 }),
      'nothing listens at ::1:25',
      'refused',
    ],
    [new Error('anything else'), 'anything else'],
    [systemError('EODD', {}, 'odd'), 'odd'],
    ['a text', 'a text'],
  ])('%s', (error, words, kind = 'passing') => {
    expect(systemFault(error)).toEqual({ words, kind });
  });

  it.each([
    [systemError('ENOTFOUND', { hostname: 'api.exmaple.com' }), 'the host api.exmaple.com does not exist'],
    [
      systemError('EDNS', { originalCode: 'ENOTFOUND', hostname: 'a.test' }),
      'the host a.test does not exist',
    ],
    [systemError('ERR_SSL_WRONG_VERSION_NUMBER'), 'that port does not speak TLS'],
    [
      systemError('EPROTO', {}, '80AC:error:0A00010B:SSL routines::wrong version number'),
      'that port does not speak TLS',
    ],
    [systemError('ERR_TLS_CERT_ALTNAME_INVALID'), 'the certificate belongs to another host'],
  ])('%s is permanent', (error, words) => {
    expect(systemFault(error)).toEqual({ words, kind: 'lasting' });
  });

  it.each(['DEPTH_ZERO_SELF_SIGNED_CERT', 'SELF_SIGNED_CERT_IN_CHAIN', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'])(
    'an untrusted certificate (%s) names the setting to change',
    (code) => {
      const { words, kind } = systemFault(systemError(code));
      expect(words).toMatch(/^the certificate is .*--ca-file$/);
      expect(kind).toBe('lasting');
    },
  );

  it('of several addresses lists each reason once, and is permanent only when all are', () => {
    const refused = (address: string) => systemError('ECONNREFUSED', { address, port: 5 });
    expect(systemFault(new AggregateError([refused('::1'), refused('127.0.0.1')]))).toEqual({
      words: 'nothing listens at ::1:5, nothing listens at 127.0.0.1:5',
      kind: 'refused',
    });
    const other = systemError('ETIMEDOUT');
    expect(systemFault(new AggregateError([refused('::1'), other])).kind).toBe('passing');
    const alike = new AggregateError([refused('::1'), refused('::1')]);
    expect(systemWords(alike)).toBe('nothing listens at ::1:5');
  });
});
