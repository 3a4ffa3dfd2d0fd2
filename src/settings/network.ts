/** How to reach other hosts: through proxies of the environment, trusting `--ca-file`. */
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

/** Returns the network of some settings. Throws `usage-invalid` if a file has no certificates. */
export function networkOf(settings: ProxySettings & Pick<Settings, 'caFile' | 'nodeCaFile'>): Network {
  const { caFile, nodeCaFile } = settings;
  for (const address of [settings.httpsProxy, settings.httpProxy])
    if (address !== null) keepSecret(decodedPart(new URL(address).password));
  return {
    proxyFor: (address) => proxyFor(address, settings),
    extraCa: caFile === null ? null : readCertificates(caFile) + readNodeCertificates(nodeCaFile),
  };
}

/** Returns the proxy for an address; null without one, for this machine, and by NO_PROXY. Pure. */
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
 * True if an entry of NO_PROXY names a host, as for curl: `*`, a name with all names below it, an
 * address or a network (`10.0.0.0/8`); all but networks may have a `:port`.
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

/** Reads `--client-cert`, or null. Throws `usage-invalid` unless certificate and key fit. */
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

/** A certificate cut short ends before the next one, and then cannot be read. */
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
    throw refuse('the certificate file cannot be read', subject, 'name a readable file', error);
  }
  const certificates = text.match(CERTIFICATE) ?? [];
  const isEmpty = certificates.length === 0;
  const wrong = certificates.findIndex((pem) => attempt(() => new X509Certificate(pem), null) === null);
  if (!isEmpty && wrong === -1) return `${certificates.join('\n')}\n`;
  const what = isEmpty ? 'the file has no certificate in PEM' : 'a certificate cannot be read';
  const place = isEmpty ? path : `${path}, number ${wrong + 1}`;
  const subject = phrase`${{ setting: 'caFile' }} ${place}`;
  const todo =
    'name a text file with BEGIN CERTIFICATE and END CERTIFICATE around each; `openssl x509 ' +
    '-inform der` converts a binary file';
  throw refuse(what, subject, todo);
}

/** The certificates of NODE_EXTRA_CA_CERTS; Node warns of a bad file and continues. */
function readNodeCertificates(path: string | null): string {
  return path === null ? '' : attempt(() => readCertificates(path), '');
}
