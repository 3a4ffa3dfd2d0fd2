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
  // Outside of a test nothing can be polled.
  const home = await (await fetch(url, { headers: { cookie } })).text();
  const token = /name="form-token" content="([^"]+)"/.exec(home)?.[1] ?? '';
  return {
    get,
    cookie,
    token,
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
    /** Presses the button whose label begins like this, after filling in `chosen`. */
    async press(page: string, label: string, chosen: Record<string, string> = {}): Promise<Response> {
      const button = new RegExp(`<button([^>]*)>${label}`);
      const forms = [...page.matchAll(/<form([^>]*)>(.*?)<\/form>/gs)];
      const owner = attribute('form', button.exec(page)?.[1]);
      const form = forms.find(([, of = '', inside = '']) =>
        owner === undefined ? button.test(inside) : attribute('id', of) === owner,
      );
      if (form === undefined) throw new Error(`no button "${label}" in: ${page}`);
      const [, formOf = '', within = ''] = form;
      // Fields that stand elsewhere say whose they are.
      const others =
        owner === undefined
          ? []
          : page
              .replace(within, '')
              .split('<')
              .filter((tag) => tag.includes(`form="${owner}"`));
      const inside = `${within}<${others.join('<')}`;
      const body = new URLSearchParams();
      for (const [input] of inside.matchAll(/<input[^>]*>/g)) {
        const name = attribute('name', input);
        const isOff = input.includes('type="checkbox"') && !input.includes('checked');
        if (name !== undefined && !isOff) body.append(name, attribute('value', input) ?? '');
      }
      for (const [select, of, options = ''] of page.matchAll(/<select([^>]*)>(.*?)<\/select>/gs)) {
        const isElsewhere = owner !== undefined && attribute('form', of) === owner;
        if (!isElsewhere && !within.includes(select)) continue;
        const [first = ''] = /<option[^>]*>/.exec(options) ?? [];
        const [picked = first] = /<option[^>]*selected[^>]*>/.exec(options) ?? [];
        body.append(attribute('name', of) ?? '', attribute('value', picked) ?? '');
      }
      const pressed = button.exec(owner === undefined ? within : page)?.[1];
      const action = attribute('formaction', pressed) ?? attribute('action', formOf) ?? '';
      const own = attribute('name', pressed);
      if (own !== undefined) body.append(own, attribute('value', pressed) ?? '');
      for (const [name, value] of Object.entries(chosen)) body.set(name, value);
      const asked = { method: 'POST', headers: { cookie }, body, redirect: 'manual' } as const;
      return fetch(new URL(action, url), asked);
    },
  };
}

/** The value of an attribute in a tag; undefined: it has none. */
function attribute(name: string, tag: string | undefined): string | undefined {
  const value = new RegExp(` ${name}="([^"]*)"`).exec(tag ?? '')?.[1];
  return value === undefined ? undefined : plain(value);
}

/** A text of a page without its references. */
export const plain = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&lt;', '<').replaceAll('&amp;', '&');
