/** A person at the dashboard, without a browser: pages are got, and buttons pressed. */
import { expect } from 'vitest';
import { PASSWORD } from './start-up.js';

/** Signs in as Ada. What a browser does, by its requests. */
export async function signIn(url: string) {
  const body = new URLSearchParams({ user: 'Ada', password: PASSWORD });
  const entered = await fetch(`${url}sign-in`, {
    method: 'POST',
    headers: { origin: new URL(url).origin },
    body,
    redirect: 'manual',
  });
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  /** A page; that of a file once it is read. */
  const get = async (path: string) => {
    let page = '';
    const look = async () => {
      page = await (await fetch(new URL(path, url), { headers: { cookie } })).text();
      return page;
    };
    await expect.poll(look).not.toContain('The file is being read.');
    return page;
  };
  const token = /name="form-token" content="([^"]+)"/.exec(await get('/'))?.[1] ?? '';
  return {
    get,
    /** The answer itself, without following it. */
    ask: (path: string) => fetch(new URL(path, url), { headers: { cookie }, redirect: 'manual' }),
    async send(name: string, content: string | Buffer): Promise<string> {
      const answer = await fetch(`${url}uploads?${new URLSearchParams({ name })}`, {
        method: 'POST',
        headers: { cookie, 'x-form-token': token },
        body: content,
      });
      expect(answer.status).toBe(201);
      return ((await answer.json()) as { path: string }).path;
    },
    /**
     * Presses the button of the form on this page whose label begins like this, after filling in
     * `chosen`.
     */
    async press(page: string, label: string, chosen: Record<string, string> = {}): Promise<Response> {
      const button = new RegExp(`<button type="submit"[^>]*>${label}`);
      const form = [...page.matchAll(/<form[^>]*action="([^"]+)"[^>]*>(.*?)<\/form>/gs)].find(
        ([, , inside = '']) => button.test(inside),
      );
      if (form === undefined) throw new Error(`no button "${label}" in: ${page}`);
      const [, action = '', inside = ''] = form;
      const inputs = [...inside.matchAll(/<input[^>]*>/g)].map(([input]) => input);
      const body = new URLSearchParams();
      for (const input of inputs) {
        const name = /name="([^"]+)"/.exec(input)?.[1];
        const isOff = input.includes('type="checkbox"') && !input.includes('checked');
        if (name !== undefined && !isOff) body.append(name, plain(/value="([^"]*)"/.exec(input)?.[1] ?? ''));
      }
      for (const [name, value] of Object.entries(chosen)) body.set(name, value);
      const asked = { method: 'POST', headers: { cookie }, body, redirect: 'manual' } as const;
      return fetch(new URL(action, url), asked);
    },
  };
}

/** A text of a page without its references. */
export const plain = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');
