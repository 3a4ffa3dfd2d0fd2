/** Requests to a served dashboard, as browsers, programs and hostile pages send them. */
import { request } from 'node:http';
import { PASSWORD, type ServedDashboard } from './served.js';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** As a browser or program would; posts come from the dashboard's own page. No redirects. */
export function ask(
  served: ServedDashboard,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', headers: given = {}, body } = options;
    const own = path.startsWith('/sign-') && method === 'POST' ? { origin: new URL(served.url).origin } : {};
    const headers = { ...own, ...given };
    const asked = request(new URL(path, served.url), { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

export const PAGE = { accept: 'text/html,*/*;q=0.8' };
export const basic = (password: string, user = 'me') => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
});
export const signIn = (password: string, next = '/') => ({
  method: 'POST',
  headers: { ...PAGE, 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams({ password, next }).toString(),
});
export const cookieOf = ({ headers }: Answer) => headers['set-cookie']?.[0] ?? '';

/** The session's cookie alone. */
export const sessionOf = (answer: Answer) => ({ cookie: cookieOf(answer).split(';', 1)[0] ?? '' });

/** A new session of this user: its cookie, and the token of its forms. */
export async function sessionFor(served: ServedDashboard, user: string) {
  const body = new URLSearchParams({ user, password: PASSWORD }).toString();
  const headers = sessionOf(await ask(served, '/sign-in', { ...signIn(PASSWORD), body }));
  const { text } = await ask(served, '/', { headers });
  return { ...headers, token: /name="form-token" content="([^"]+)"/.exec(text)?.[1] ?? '' };
}

/** What the next page says that the last action did. */
export async function noticeOf(served: ServedDashboard, cookie: string): Promise<string | undefined> {
  const { text } = await ask(served, '/', { headers: { cookie } });
  return /<p class="banner calm" role="status">([^<]*)/.exec(text)?.[1];
}
