/** System errors in words, by the code that Node gives them. */
import { errorText } from './errors.js';

interface SystemFault {
  /** Without a full stop; with host and port where the system names them. Never a secret. */
  readonly words: string;
  readonly kind: FaultKind;
}

/**
 * How long a fault lasts.
 *
 *   lasting   until someone corrects it: a wrong address or certificate
 *   barred    until someone corrects it: a proxy refuses the connection
 *   no_http   until someone corrects it: the port belongs to no web server
 *   refused   nothing listens on the port
 *   passing   any other
 */
export type FaultKind = 'lasting' | 'barred' | 'no_http' | 'refused' | 'passing';

/** A connection that failed for a known reason. */
export class ConnectionFault extends Error implements SystemFault {
  constructor(
    readonly words: string,
    readonly kind: FaultKind,
  ) {
    super(words);
  }
}

/** What Node adds to system errors; nodemailer keeps the code in `originalCode`. */
type SystemDetail = Readonly<
  Partial<Record<'code' | 'originalCode' | 'hostname' | 'address' | 'port' | 'path', unknown>>
>;

/** True for an error of the system with one of these codes. */
export function isErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}

const MOVE = 'move it out of the way';
const FREE = 'free some space there';

/** By code: the reason, and the advice where it is not about the user's permissions. */
const FILES: Readonly<Record<string, readonly [words: string, advice?: string]>> = {
  ENOENT: ['it does not exist', 'put it back'],
  EEXIST: ['something else has this name', MOVE],
  ENOTEMPTY: ['it is not empty', MOVE],
  EBUSY: ['another program is using it', 'close that program'],
  EFBIG: ['it would be too large', 'raise the limit of file sizes (ulimit -f)'],
  ENOTDIR: ['a part of the path is a file, not a folder', MOVE],
  EISDIR: ['it is a folder', MOVE],
  ENXIO: ['it is a socket, not a file', MOVE],
  EACCES: ['permission denied'],
  EPERM: ['permission denied'],
  EROFS: ['the file system is read-only', 'make the file system writable'],
  ELOOP: ['its symbolic links form a loop', MOVE],
  ENAMETOOLONG: ['the name is too long', 'use a shorter path'],
  ENOSPC: ['the disk is full', FREE],
  EDQUOT: ['the disk quota is exceeded', FREE],
  EIO: ['the disk reports an error', 'check the disk'],
  EMFILE: ['too many files are open'],
  ENFILE: ['too many files are open'],
};

/** Returns path, reason and advice for an error of the file system; null for any other. */
export function fileFault(error: unknown): { readonly subject: string; readonly advice: string } | null {
  const { code, syscall, path, dest } = (error instanceof Error ? error : {}) as NodeJS.ErrnoException & {
    readonly dest?: string;
  };
  const [words, advice = 'give this user access to it'] = FILES[code ?? ''] ?? [];
  if (syscall === undefined || words === undefined) return null;
  const subject = `${path ?? syscall}${dest === undefined ? '' : ` to ${dest}`} (${words})`;
  return { subject, advice };
}

const CONNECTIONS: Readonly<Record<string, string>> = {
  ECONNRESET: 'the other side closed the connection',
  EPIPE: 'the other side closed the connection',
  UND_ERR_SOCKET: 'the connection was closed without an answer',
  EHOSTUNREACH: 'the host cannot be reached from this network',
  ENETUNREACH: 'the host cannot be reached from this network',
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  EADDRINUSE: 'another program uses the port',
  EADDRNOTAVAIL: 'this machine does not have that address',
};

const UNTRUSTED =
  'is from an authority that this machine does not trust; pass its certificate as caFile or --ca-file';
const SELF_SIGNED = 'is self-signed; pass it, or the certificate of its authority, as caFile or --ca-file';

const CERTIFICATES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: SELF_SIGNED,
  SELF_SIGNED_CERT_IN_CHAIN: SELF_SIGNED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_UNTRUSTED: UNTRUSTED,
  CERT_REVOKED: 'was revoked',
  CERT_HAS_EXPIRED: "has expired, or this machine's clock is wrong",
  CERT_NOT_YET_VALID: "is not valid yet, or this machine's clock is wrong",
  ERR_TLS_CERT_ALTNAME_INVALID: 'belongs to another host',
};

const CLIENT_CERTIFICATES: readonly (readonly [RegExp, string])[] = [
  [
    /CERTIFICATE_REQUIRED|alert certificate required/i,
    'the server asks for a client certificate; pass it as clientCert or --client-cert',
  ],
  [
    /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)|alert (unknown ca|bad certificate)/i,
    'the server does not accept the client certificate; pass one that its authority has signed',
  ],
];

/** How OpenSSL reports an answer that is not TLS. */
const NO_TLS = /WRONG_VERSION_NUMBER|wrong version number|packet length too long/;
const NO_HTTP = /^HPE_|does not match the HTTP/;

/** Says in words what went wrong. An error without a known code keeps its own message. */
export function systemFault(error: unknown): SystemFault {
  // The host has several addresses, and each failed.
  if (error instanceof AggregateError && error.errors.length > 0) {
    const faults = error.errors.map(systemFault);
    const words = [...new Set(faults.map((fault) => fault.words))].join(', ');
    const kinds = new Set(faults.map((fault) => fault.kind));
    const [kind = 'passing'] = kinds;
    return { words, kind: kinds.size === 1 ? kind : 'passing' };
  }
  if (error instanceof ConnectionFault) return error;
  if (!(error instanceof Error)) return { words: errorText(error), kind: 'passing' };
  const detail = error as SystemDetail;
  const code = String(detail.originalCode ?? detail.code ?? '');
  if (NO_TLS.test(code) || NO_TLS.test(error.message))
    return { words: 'that port does not speak TLS', kind: 'lasting' };
  const [, asked] = CLIENT_CERTIFICATES.find(([form]) => form.test(code) || form.test(error.message)) ?? [];
  if (asked !== undefined) return { words: asked, kind: 'lasting' };
  const certificate = CERTIFICATES[code];
  if (certificate !== undefined) return { words: `the certificate ${certificate}`, kind: 'lasting' };
  if (NO_HTTP.test(code) || NO_HTTP.test(error.message))
    return { words: 'that port does not speak HTTP', kind: 'no_http' };
  return { words: wordsOf(error, detail, code), kind: KINDS[code] ?? 'passing' };
}

export function systemWords(error: unknown): string {
  return systemFault(error).words;
}

const KINDS: Readonly<Record<string, FaultKind>> = { ENOTFOUND: 'lasting', ECONNREFUSED: 'refused' };

function wordsOf(error: Error, detail: SystemDetail, code: string): string {
  const hostName = detail.hostname ?? detail.address;
  const host = hostName === undefined ? '' : ` ${hostName}`;
  const port = detail.port === undefined ? '' : `:${detail.port}`;
  if (code === 'ENOTFOUND') return `the host${host} does not exist`;
  if (code === 'EAI_AGAIN') return `the name${host} cannot be resolved now`;
  if (code === 'ECONNREFUSED')
    return host === '' ? 'the connection was refused' : `nothing listens at${host}${port}`;
  // An error that names a path is about a file or a socket file, not about the network.
  const words = (detail.path === undefined && CONNECTIONS[code]) || FILES[code]?.[0];
  if (words !== undefined) return words;
  const cause = error.cause instanceof Error ? ` (${systemWords(error.cause)})` : '';
  return `${error.message || code}${cause}`;
}
