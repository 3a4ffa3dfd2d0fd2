/**
 * The files of the run, where its rows came from, and the three counts that agree.
 */
import { countText } from '../../core/figures.js';
import { html, type Markup } from './markup.js';
import type { PageData, ShownFile } from './page-data.js';

export function filesSection({ report, files }: PageData): Markup {
  const { accounting, input, run } = report;
  const columns = input.columns.map(({ name, kind }) => (kind === null ? name : `${name} (${kind})`));
  return html`<section class="card" aria-labelledby="files">
<h2 id="files">Files</h2>
<dl class="files">
<div><dt>Input</dt><dd><bdi>${input.name}</bdi></dd></div>
${files.map(fileLine)}
<div><dt>Identifiers from</dt><dd><bdi>${columns.join(', ')}</bdi></dd></div>
<div><dt>Service</dt><dd><bdi>${run.service}</bdi></dd></div>
<div><dt>Rows counted</dt><dd>${countText(accounting.recordsRead)} read, ${countText(accounting.rowsByStatus)} by outcome, ${accounting.recordsWritten === null ? 'not counted after writing' : `${countText(accounting.recordsWritten)} written`}</dd></div>
</dl>
${
  input.warnings.length > 0 &&
  html`<p class="note">Said of the input:</p><ul class="note">${input.warnings.map((warning) => html`<li><bdi>${warning}</bdi></li>`)}</ul>`
}
</section>`;
}

function fileLine({ label, path, href }: ShownFile): Markup {
  const name = href === null ? html`<bdi>${path}</bdi>` : html`<a href="${href}"><bdi>${path}</bdi></a>`;
  return html`<div><dt>${label}</dt><dd>${name}</dd></div>
`;
}
