/**
 * Bearer credentials: reading the header, hashing the token, and finding the account it belongs to without the time
 * of the comparison telling how close a guess was. What an account is, is not this file's.
 */
import { createHash, timingSafeEqual } from 'node:crypto';

/** SHA-256 of a token: the only form in which the service keeps one. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token, 'utf8').digest();
}

/** The token of `Bearer <token>`; the scheme in any case (RFC 9110, 11.1). null: not such a header. */
export function bearerToken(authorization: string | undefined): string | null {
  const match = /^bearer +([^\s]+) *$/i.exec(authorization ?? '');
  return match?.[1] ?? null;
}

/**
 * The holder of the token. Every hash is compared, in constant time and to the end, whether or not an earlier one
 * was equal.
 */
export function findHolder<T extends { readonly tokenHash: Buffer }>(
  holders: readonly T[],
  token: string,
): T | undefined {
  const hash = hashToken(token);
  let found: T | undefined;
  for (const holder of holders) {
    if (timingSafeEqual(holder.tokenHash, hash)) found = holder;
  }
  return found;
}
