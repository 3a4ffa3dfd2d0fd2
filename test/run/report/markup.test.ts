/** HTML that data cannot break. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { escapeHtml, html, trusted } from '../../../src/run/report/markup.js';

it.each([
  ['<script>alert(1)</script>', '&lt;script&gt;alert(1)&lt;/script&gt;'],
  ['" onload="x', '&quot; onload=&quot;x'],
  ["it's", 'it&#39;s'],
  ['&amp;', '&amp;amp;'],
  ['line\nnext\ttab', 'line\nnext\ttab'],
  ['nul\u0000 bell\u0007 c1\u0085', 'nul\ufffd bell\ufffd c1\ufffd'],
  ['half \ud83d of a pair', 'half \ufffd of a pair'],
  ['whole 🥤 pair', 'whole 🥤 pair'],
])('%j is written as %j', (text, expected) => {
  expect(escapeHtml(text)).toBe(expected);
});

it('escapes every character that could begin or end markup', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(escapeHtml(text)).not.toMatch(/[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
    }),
  );
});

it('escapes values, keeps markup made here, and renders nothing for nothing', () => {
  const inner = html`<b>${'<i>'}</b>`;
  expect(html`<p title="${'"'}">${inner}${null}${false}${3}${[inner, '&']}</p>`.text).toBe(
    '<p title="&quot;"><b>&lt;i&gt;</b>3<b>&lt;i&gt;</b>&amp;</p>',
  );
  expect(html`${trusted('<hr>')}`.text).toBe('<hr>');
});
