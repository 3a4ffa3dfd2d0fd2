import fc from 'fast-check';
import { expect, it } from 'vitest';
import { htmlOf } from '../../../../src/run/report/kit/page.js';
import { Card } from '../../../../src/run/report/kit/parts.js';
import { anyText } from '../../../support/properties.js';

/** A text as a component writes it, in an attribute and between tags. */
function written(text: string): [attribute: string, content: string] {
  const card = htmlOf(Card({ id: text, title: '', children: text }));
  const [, id = '', content = ''] =
    /^<section class="card" aria-labelledby="([^"]*)"><h2 id="[^"]*"><\/h2>([^<]*)<\/section>$/.exec(card) ??
    [];
  return [id, content];
}

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
  expect(written(text)).toEqual([expected, expected]);
});

it('every character that could begin or end markup is escaped', () => {
  fc.assert(
    fc.property(anyText({ minLength: 1 }), (text) => {
      const [attribute, content] = written(text);
      expect(content).not.toMatch(/^$|[<>"']|&(?!(?:amp|lt|gt|quot|#39);)/);
      expect(attribute).toBe(content);
    }),
  );
});
