/** Logos are fetched once, small, without keys, or not at all; their server is on this machine. */
import { createServer, type RequestListener } from 'node:http';
import { Agent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  fetchLogos,
  LOGO_BYTES_AT_MOST,
  logoAddress,
  pictureType,
} from '../../../src/run/report/fetch-logos.js';
import { listenForTest } from '../../support/listen-anew.js';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from('picture')]);
const PNG_URI = `data:image/png;base64,${PNG.toString('base64')}`;

/** Every https address leads to `answer`; `asked` holds what arrived there. */
async function logoServer(answer: RequestListener) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`https://${request.headers.host}${request.url}`);
    expect(request.headers.authorization).toBeUndefined();
    answer(request, response);
  });
  const origin = `http://127.0.0.1:${await listenForTest(server)}`;
  const agent = new Agent();
  const dispatcher = agent.compose((dispatch) => (options, handler) => {
    const { host } = new URL(String(options.origin));
    const headers = { ...(options.headers as Record<string, string>), host };
    return dispatch({ ...options, headers, origin }, handler);
  });
  onTestFinished(() => agent.destroy());
  return { asked, options: { dispatcher, stop: new AbortController().signal, totalMs: 30_000 } };
}

it.each([
  ['https://asset.example/id/a.svg', 'https://asset.example/id/a.svg'],
  ['https://asset.example/a.svg?c=secret', 'https://asset.example/a.svg'],
  ['https://asset.example/a.svg?updated=1&c=secret&w=40', 'https://asset.example/a.svg?updated=1&w=40'],
  ['https://asset.example/a.svg?C=secret&c=again', 'https://asset.example/a.svg'],
  ['https://asset.example/a.svg?api_key=x&token=y&signature=z', 'https://asset.example/a.svg'],
  ['https://asset.example/a.svg#c=secret', 'https://asset.example/a.svg'],
  ['http://asset.example/a.svg', null],
  ['https://user:word@asset.example/a.svg', null],
  ['https://127.0.0.1/a.svg', null],
  ['https://[::1]/a.svg', null],
  ['https://2130706433/a.svg', null],
  ['https://localhost/a.svg', null],
  ['https://logos.localhost/a.svg', null],
  ['https://metadata.internal./a.svg', null],
  ['https://printer.local/a.svg', null],
  ['file:///etc/passwd', null],
  ['data:image/png;base64,AA', null],
  ['//asset.example/a.svg', null],
  ['', null],
])('a logo at %s is requested as %s', (url, address) => {
  expect(logoAddress(url)).toBe(address);
});

it.each([
  [PNG, 'image/png'],
  [Buffer.from('ffd8ffe000', 'hex'), 'image/jpeg'],
  [Buffer.from('RIFF....WEBPVP8 '), 'image/webp'],
  [Buffer.from('GIF89a..'), 'image/gif'],
  [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml'],
  [
    Buffer.from('\ufeff<?xml version="1.0"?>\n<!-- made by -->\n<!DOCTYPE svg PUBLIC "x" "y">\n<SVG >'),
    'image/svg+xml',
  ],
  [Buffer.from('<!DOCTYPE svg [<!ENTITY a "aaaa">]><svg>&a;</svg>'), null],
  [Buffer.from('<html><svg></svg></html>'), null],
  [Buffer.from('<!---->'.repeat(60)), null],
  [Buffer.from('{"message":"no"}'), null],
  [Buffer.from(''), null],
])('the picture %s has the type %s', (bytes, type) => {
  expect(pictureType(bytes)).toBe(type);
});

describe('a logo', () => {
  it('is fetched once for all that refer to it, without its key', async () => {
    const { asked, options } = await logoServer((_, response) => response.end(PNG));
    const url = 'https://asset.example/a.png?c=secret&w=40';
    const logos = await fetchLogos([url, url, 'http://asset.example/b.png'], options);
    expect([...logos]).toEqual([[url, PNG_URI]]);
    expect(asked).toEqual(['https://asset.example/a.png?w=40']);
  });

  it.each<[string, RequestListener]>([
    ['is missing', (_, response) => response.writeHead(404).end(PNG)],
    ['is elsewhere', (_, response) => response.writeHead(302, { location: 'https://other.example/' }).end()],
    ['is no picture', (_, response) => response.setHeader('content-type', 'image/png').end('<html>')],
    [
      'is announced too large',
      (_, response) => response.writeHead(200, { 'content-length': LOGO_BYTES_AT_MOST + 1 }).write(PNG),
    ],
    ['is too large', (_, response) => response.end(Buffer.concat([PNG, Buffer.alloc(LOGO_BYTES_AT_MOST)]))],
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': 1_000 });
        response.write(PNG, () => response.destroy());
      },
    ],
  ])('that %s is omitted, and the next one is fetched', async (_, answer) => {
    const { options, asked } = await logoServer((request, response) => {
      if (request.url === '/good.png') response.end(PNG);
      else answer(request, response);
    });
    const urls = ['https://a.example/bad.png', 'https://a.example/good.png'];
    expect([...(await fetchLogos(urls, options))]).toEqual([[urls[1], PNG_URI]]);
    expect(asked.toSorted()).toEqual(urls);
  });

  it('of exactly the largest size is accepted', async () => {
    const bytes = Buffer.concat([PNG, Buffer.alloc(LOGO_BYTES_AT_MOST - PNG.length)]);
    const { options } = await logoServer((_, response) => response.end(bytes));
    expect((await fetchLogos(['https://a.example/a.png'], options)).size).toBe(1);
  });
});

describe('slow logos', () => {
  const urls = Array.from({ length: 12 }, (_, at) => `https://a.example/${at}.png`);

  it('are not waited for after the total time limit', async () => {
    const { options, asked } = await logoServer((request, response) => {
      if (request.url === '/0.png') response.end(PNG);
    });
    const logos = await fetchLogos(urls, { ...options, totalMs: 300 });
    expect([...logos.keys()]).toEqual([urls[0]]);
    expect(asked.length).toBeLessThan(urls.length);
  });

  it('are not waited for when the run is stopped', async () => {
    const stop = new AbortController();
    const { options } = await logoServer(() => stop.abort());
    expect((await fetchLogos(urls, { ...options, stop: stop.signal })).size).toBe(0);
  });

  it('are not requested by a run that was stopped before', async () => {
    const { options, asked } = await logoServer((_, response) => response.end(PNG));
    expect((await fetchLogos(urls, { ...options, stop: AbortSignal.abort() })).size).toBe(0);
    expect(asked).toEqual([]);
  });
});
