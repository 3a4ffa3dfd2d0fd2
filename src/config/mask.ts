/**
 * What may be shown of values that hold, or by mistake might hold, a secret.
 */

/** What a person may have meant as an address although its scheme is missing; tokens do not look like this. */
const HOST_LIKE = /^(?=.{1,60}$)([a-z]{1,12}|[a-z0-9-]+(\.[a-z0-9-]+)+)(:\d{1,5})?(\/[a-z0-9./-]*)?$/;

/**
 * An address without credentials and query: `redis://***@host:6379/0`. What is no address is shown only when it looks
 * like a host, else as `…`: it may be a token in the wrong place.
 */
export function maskAddress(address: string): string {
  if (HOST_LIKE.test(address)) return address;
  if (!/^[a-z]+:\/\//i.test(address)) return '…';
  if (!URL.canParse(address)) return `${address.slice(0, address.indexOf(':'))}://…`;
  const url = new URL(address);
  const credentials = url.username === '' && url.password === '' ? '' : '***@';
  const path = url.pathname === '/' ? '' : url.pathname;
  return `${url.protocol}//${credentials}${url.host}${path}${url.search === '' ? '' : '?…'}`;
}

/** An address up to its host, where path and query may be a secret of whoever listens there: `https://hooks.example/…`. */
export function maskOrigin(address: string): string {
  if (!URL.canParse(address)) return '…';
  const { protocol, host, pathname, search } = new URL(address);
  return `${protocol}//${host}${pathname === '/' && search === '' ? '' : '/…'}`;
}

/** The path of a token file, or `…` when somebody seems to have written the token itself in its place. */
export function maskTokenPath(path: string): string {
  const looksLikePath = /[\\/]/.test(path) || /\.[a-z]{1,8}$/.test(path) || path.length < 16;
  return looksLikePath ? path : '…';
}
