/** The cookies of the dashboard, each signed by this process for its own purpose. */
import { createHmac } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getSignedCookie, setSignedCookie } from 'hono/cookie';

/**
 * `session`: who is signed in. `notice`: what the last action did; others choose words of it, such
 * as the names of files.
 */
export type CookiePurpose = 'session' | 'notice';

export type Cookies = ReturnType<typeof createCookies>;

/** `isSecure`: browsers send them over TLS alone. */
export function createCookies({ key, isSecure }: { readonly key: Buffer; readonly isSecure: boolean }) {
  /** What was signed for one purpose is worth nothing for another. */
  const keyFor = (purpose: string) => createHmac('sha256', key).update(purpose).digest();
  const common = { httpOnly: true, sameSite: 'Strict', path: '/', secure: isSecure } as const;
  return {
    keyFor,
    async set(context: Context, purpose: CookiePurpose, text: string, keptMs: number): Promise<void> {
      const options = { ...common, maxAge: Math.floor(keptMs / 1_000) };
      await setSignedCookie(context, nameOf(context, purpose), text, keyFor(purpose), options);
    },
    /** null: there is none, or its signature is not our own. */
    async read(context: Context, purpose: CookiePurpose): Promise<string | null> {
      return (await getSignedCookie(context, keyFor(purpose), nameOf(context, purpose))) || null;
    },
    clear(context: Context, purpose: CookiePurpose): void {
      deleteCookie(context, nameOf(context, purpose), common);
    },
  };
}

/** Browsers share the cookies of a host among its ports. */
function nameOf(context: Context, purpose: CookiePurpose): string {
  return `brand-enrich-${purpose}-${new URL(context.req.url).port || '80'}`;
}
