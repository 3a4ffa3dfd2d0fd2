/** How other hosts are reached: the proxies of the environment, and `--ca-file`. */
import { X509Certificate } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { type ClientCertificate, decodedPart, type Network, type ProxyServer } from '../core/connector.js';
import { ConfigError } from '../core/errors.js';
import { attempt } from '../core/lifecycle.js';
import { type Phrase, phrase } from '../core/phrase.js';
import { readPlainFileSync } from '../core/plain-file.js';
import { keepSecret } from '../core/secrets.js';
import { systemWords } from '../core/system-error.js';
import { isLoopbackHost } from './address-values.js';
import type { Settings } from './settings.js';

type ProxySettings = Pick<Settings, 'httpsProxy' | 'httpProxy' | 'noProxy'>;

/** Throws `ConfigError` (`usage-invalid`) if the file has no certificates. */
export function networkOf(settings: ProxySettings & Pick<Settings, 'caFile' | 'nodeCaFile'>): Network {
  const { caFile, nodeCaFile } = settings;
  for (const address of [settings.httpsProxy, settings.httpProxy])
    if (address !== null) keepSecret(decodedPart(new URL(address).password));
  return {
    proxyFor: (address) => proxyFor(address, settings),
    extraCa: caFile === null ? null : readCertificates(caFile) + readNodeCertificates(nodeCaFile),
  };
}

/** Returns the proxy for an address, unless NO_PROXY or this machine exempts it. Pure. */
export function proxyFor(
  address: string,
  { httpsProxy, httpProxy, noProxy }: ProxySettings,
): ProxyServer | null {
  const { protocol, hostname, port } = new URL(address);
  const isHttps = protocol === 'https:';
  const proxy = isHttps ? httpsProxy : httpProxy;
  const host = hostname.replace(/^\[|\]$|\.$/g, '');
  if (proxy === null || isLoopbackHost(host)) return null;
  const isExempt = (noProxy ?? '')
    .split(/[\s,]+/)
    .some((entry) => isNamedBy(entry.toLowerCase(), host, port || (isHttps ? '443' : '80')));
  return isExempt ? null : { address: proxy, source: isHttps ? 'HTTPS_PROXY' : 'HTTP_PROXY' };
}

/**
 * Whether an entry of NO_PROXY names a host, as curl reads it: `*`; a name, with a dot before it or
 * not, and all below it; an address; a network (`10.0.0.0/8`); each but a network with `:port` too.
 */
function isNamedBy(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const [network = '', bits] = entry.split('/');
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  if (bits !== undefined) {
    const widest = family === 'ipv6' ? 128 : 32;
    if (isIP(network) === 0 || isIP(host) === 0 || !/^\d+$/.test(bits) || Number(bits) > widest) return false;
    const list = new BlockList();
    list.addSubnet(network, Number(bits), family);
    return list.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
  }
  if (isIP(entry) !== 0) return entry === host;
  const [, named = entry, namedPort] = /^(.+):(\d+)$/.exec(entry) ?? [];
  const name = named
    .replace(/^\[|\]$/g, '')
    .replace(/^\*?\./, '')
    .replace(/\.$/, '');
  if (name === '' || (namedPort !== undefined && namedPort !== port)) return false;
  return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
}

/**
 * The certificate of `--client-cert` and its key, or null. Throws `ConfigError`
 * (`usage-invalid`) unless the files hold both, and they fit.
 */
export function clientCertificateOf({ clientCert }: Pick<Settings, 'clientCert'>): ClientCertificate | null {
  if (clientCert.length === 0) return null;
  const refuse = (what: string, todo: string, cause?: unknown) => {
    const subject = phrase`${{ setting: 'clientCert' }} ${clientCert.join(', ')}`;
    return new ConfigError({ code: 'usage-invalid', what, subject, todo, cause });
  };
  let text = '';
  try {
    text = clientCert.map((path) => `${readPlainFileSync(path)}\n`).join('');
  } catch (error) {
    throw refuse(
      `a file of the client certificate cannot be read: ${systemWords(error)}`,
      'name readable files',
      error,
    );
  }
  const cert = (text.match(CERTIFICATE) ?? []).join('\n');
  const key = KEY.exec(text)?.[0] ?? '';
  if (cert === '' || key === '')
    throw refuse(
      cert === '' ? 'there is no certificate in PEM' : 'there is no private key in PEM',
      'name one file that holds both, or repeat the setting for the second file',
    );
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw refuse(
      'the client certificate and its key cannot be used together',
      'name the key that belongs to the certificate, without a passphrase',
      error,
    );
  }
  keepSecret(key);
  return { cert, key };
}

const KEY = /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^-]{1,20000}-----END [A-Z ]{0,20}PRIVATE KEY-----/;

/** One that is cut ends before the next, and then cannot be read. */
const CERTIFICATE =
  /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----(?:(?!-----(?:BEGIN|END) )[\s\S])+(?:-----END [^-]+-----)?/g;

function readCertificates(path: string): string {
  const refuse = (what: string, subject: Phrase, todo: string, cause?: unknown) =>
    new ConfigError({ code: 'usage-invalid', what, subject, todo, cause });
  let text: string;
  try {
    text = readPlainFileSync(path);
  } catch (error) {
    const subject = phrase`${{ setting: 'caFile' }} ${path} (${systemWords(error)})`;
    throw refuse('the file of certificates cannot be read', subject, 'name a readable file', error);
  }
  const found = text.match(CERTIFICATE) ?? [];
  const wrong = found.findIndex((pem) => attempt(() => new X509Certificate(pem), null) === null);
  if (found.length > 0 && wrong === -1) return `${found.join('\n')}\n`;
  const what = found.length === 0 ? 'the file has no certificate in PEM' : 'a certificate cannot be read';
  const subject = phrase`${{ setting: 'caFile' }} ${path}${
    found.length === 0 ? '' : `, number ${wrong + 1}`
  }`;
  const todo =
    'name a text file with BEGIN CERTIFICATE and END CERTIFICATE around each; `openssl x509 ' +
    '-inform der` converts a binary file';
  throw refuse(what, subject, todo);
}

/** What Node has read of NODE_EXTRA_CA_CERTS; if that fails, Node warns and continues. */
function readNodeCertificates(path: string | null): string {
  return path === null ? '' : attempt(() => readCertificates(path), '');
}
