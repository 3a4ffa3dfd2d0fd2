import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/core/errors.js';
import { proxyValue } from '../../src/settings/address-values.js';
import { networkOf, proxyFor } from '../../src/settings/network.js';
import { Refusal } from '../../src/settings/parse-value.js';
import { COMPANY_CA, COMPANY_TLS } from '../support/company-ca.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const SECURE = { address: 'http://secure.proxy:3128/', source: 'HTTPS_PROXY' };
const PLAIN = { address: 'http://plain.proxy:3128/', source: 'HTTP_PROXY' };
const DAMAGED = COMPANY_CA + COMPANY_CA.replace(/[A-Za-z]{20}/, 'x');
const PROXIES = { httpsProxy: SECURE.address, httpProxy: PLAIN.address };

describe('the proxy', () => {
  it.each([
    ['https://api.example', null, SECURE],
    ['http://api.example:8080', null, PLAIN],
    ['https://localhost:8443', null, null],
    ['http://127.0.0.1:8080', null, null],
    ['https://[::1]', null, null],
    ['https://api.example', '*', null],
    ['https://api.example', 'other.example, api.example', null],
    ['https://api.example', 'other.example API.EXAMPLE.', null],
    ['https://api.example', '.example', null],
    ['https://api.example', '*.example', null],
    ['https://a.api.example', 'api.example', null],
    ['https://myapi.example', 'api.example', SECURE],
    ['https://api.example', 'a.api.example', SECURE],
    ['https://api.example', 'api.example:443', null],
    ['https://api.example', 'api.example:8443', SECURE],
    ['https://api.example:8443', 'api.example:8443', null],
    ['https://api.example', '', SECURE],
    ['https://api.example', ' , . ,', SECURE],
    ['https://10.1.2.3', '10.0.0.0/8', null],
    ['https://11.1.2.3', '10.0.0.0/8', SECURE],
    ['https://api.example', '10.0.0.0/8', SECURE],
    ['https://10.1.2.3', '10.0.0.0/99', SECURE],
    ['https://10.1.2.3', '10.1.2.3', null],
    ['https://10.1.2.3', '2.3', SECURE],
    ['https://[2001:db8::5]', '2001:db8::/32', null],
    ['https://[2001:db8::5]', '[2001:db8::5]:443', null],
    ['https://[2001:db8::5]', '2001:db8::6', SECURE],
  ])('for %s with NO_PROXY=%s is %j', (address, noProxy, proxy) => {
    expect(proxyFor(address, { ...PROXIES, noProxy })).toEqual(proxy);
  });

  it('for one scheme is not used for the other', () => {
    const only = { httpsProxy: null, httpProxy: PLAIN.address, noProxy: null };
    expect(proxyFor('https://api.example', only)).toBeNull();
  });

  it.each([
    ['http://proxy:3128', 'http://proxy:3128/'],
    ['proxy.corp:3128', 'http://proxy.corp:3128/'],
    ['user:word@proxy:3128', 'http://user:word@proxy:3128/'],
    ['https://user:p%40ss@proxy', 'https://user:p%40ss@proxy/'],
    ['socks5://proxy:1080', null],
    ['http://', null],
  ])('%s is read as %s', (seen, value) => {
    const read = proxyValue.parse([seen]);
    expect(read instanceof Refusal ? null : read).toBe(value);
  });
});

describe('the file of --ca-file', () => {
  const read = async (content: string | Buffer | null, nodeCaFile: string | null = null) => {
    const path = join(await temporaryFolder(), 'ca.pem');
    if (content !== null) await writeFile(path, content);
    if (content === '') await chmod(path, 0o600);
    try {
      return networkOf({ ...PROXIES, noProxy: null, caFile: path, nodeCaFile }).extraCa;
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigError);
      return (error as ConfigError).message.replace(path, 'PATH');
    }
  };

  it('is read for its certificates and nothing else', async () => {
    const text = await read(`# ours\n${COMPANY_CA}\n${COMPANY_TLS.key}\r\n${COMPANY_TLS.cert}`);
    expect(text?.match(/BEGIN [A-Z ]+/g)).toEqual(['BEGIN CERTIFICATE', 'BEGIN CERTIFICATE']);
  });

  it.each([
    [COMPANY_CA, 2],
    ['no certificates', 1],
    [null, 1],
  ])('is used beside those of NODE_EXTRA_CA_CERTS, if they can be read: %#', async (content, count) => {
    const nodeCaFile = join(await temporaryFolder(), 'node.pem');
    if (content !== null) await writeFile(nodeCaFile, content);
    expect((await read(COMPANY_TLS.cert, nodeCaFile))?.match(/BEGIN CERTIFICATE/g)).toHaveLength(count);
  });

  it.each([
    ['is missing', null, /certificate file cannot be read: --ca-file PATH \(it does not exist\); name /],
    ['is cut', `${COMPANY_CA.slice(0, 200)}\n${COMPANY_CA}`, /^a certificate cannot be read: .*, number 1;/],
    ['is empty', '', /^the file has no certificate in PEM: --ca-file PATH; .*BEGIN CERTIFICATE/],
    ['is binary', Buffer.from('3082010a0282', 'hex'), /no certificate in PEM.*openssl x509 -inform der/],
    ['holds only a key', COMPANY_TLS.key, /no certificate in PEM/],
    ['is damaged', DAMAGED, /^a certificate cannot be read: --ca-file PATH, number 2;/],
  ])('%s: nothing is started', async (_, content, words) => {
    expect(await read(content)).toMatch(words);
  });
});
