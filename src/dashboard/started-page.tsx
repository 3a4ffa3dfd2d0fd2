/** From the start of a file to its run: nothing is known of that yet. Pure. */
import { readFileSync } from 'node:fs';
import type { RunRecord } from '../engine/stores/run-store.js';
import { Title } from '../run/report/kit/parts.js';
import { type Page, page, Top } from './plain-pages.js';

/**
 * The page that becomes that of the job's run once there is one. A string: the id of the job; a
 * run: an earlier one of it, after which another begins.
 */
export function startedPath(after: string | Pick<RunRecord, 'id' | 'job'>): string {
  const job = typeof after === 'string' ? after : after.job;
  const query = typeof after === 'string' ? '' : `?${new URLSearchParams({ after: after.id })}`;
  return `/started/${encodeURIComponent(job)}${query}`;
}

/** Of a page that goes on by itself, with and without script: once its headline is another one. */
export const FOLLOWING = {
  head: (
    <noscript>
      <meta http-equiv="refresh" content="2" />
    </noscript>
  ),
  scripts: [readFileSync(new URL('follow.js', import.meta.url), 'utf8')],
};

/** `line`: what it waits for. The notice of the start is left to the page of the run. */
export function renderStarted(file: string, line: string): Page {
  const body = (
    <>
      <header>
        <Top>A file of the inbox</Top>
        <Title mark={['Starting', 'calm']}>
          <bdi>{file}</bdi>
        </Title>
        <p class="headline">{line}</p>
      </header>
      <main id="main" tabindex={-1}>
        <p class="note">This page goes on to the run by itself. Nothing is spent before that begins.</p>
      </main>
    </>
  );
  return page(`${file}: brand-enrich`, body, FOLLOWING);
}
