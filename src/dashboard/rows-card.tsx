/** The rows of a result as a table: the user's own beside its brand. Pure. */
import { qualityTier } from '../brand-api/brand.js';
import { countOf, countText, scoreText } from '../core/figures.js';
import { OUTCOME_STATUSES, type OutcomeStatus, type StatusCounts } from '../core/outcome.js';
import { sumOf } from '../run/output/write-output.js';
import { Badge } from '../run/report/brands-section.js';
import { Card, Table } from '../run/report/kit/parts.js';
import { type ResultRow, ROWS_ON_PAGE, type RowsAsked } from './result-rows.js';

export interface ShownRows {
  /** Those with the status asked for, at most 1,000, in their order on the page. */
  readonly rows: readonly ResultRow[];
  readonly asked: RowsAsked;
  /** All rows by status, or null without a report. */
  readonly counts: StatusCounts | null;
}

/** The query of a page of rows; empty for the first one of all. */
function rowsQuery({ status, page }: RowsAsked): string {
  const fields = { ...(status !== null && { status }), ...(page > 1 && { page: `${page}` }) };
  const text = `${new URLSearchParams(fields)}`;
  return text && `?${text}`;
}

const WORDS: Readonly<Record<OutcomeStatus, string>> = {
  matched: 'with a brand',
  not_found: 'not found',
  failed: 'failed',
  invalid: 'invalid',
  skipped: 'skipped',
  deferred: 'not looked up yet',
};

export function RowsCard(shown: ShownRows & { path: string }) {
  const { rows, asked, counts, path } = shown;
  const from = (asked.page - 1) * ROWS_ON_PAGE;
  const page = rows.slice(from, from + ROWS_ON_PAGE);
  const link = (words: string, to: RowsAsked, isCurrent = false) => (
    <a href={`${path}${rowsQuery(to)}#result`} aria-current={isCurrent ? 'true' : undefined}>
      {words}
    </a>
  );
  const filter = (words: string, status: RowsAsked['status']) =>
    link(words, { status, page: 1 }, asked.status === status);
  const filters = OUTCOME_STATUSES.filter((status) => counts !== null && counts[status] > 0);
  const all = counts && (asked.status === null ? sumOf(counts) : counts[asked.status]);
  return (
    <Card id="result" title="Rows" isPart>
      {filters.length > 1 && (
        <p class="ways">
          {filter('All', null)}
          {filters.map((status) => filter(`${countText(counts?.[status] ?? 0)} ${WORDS[status]}`, status))}
        </p>
      )}
      {page.length === 0 ? (
        <p class="empty">There are no rows here.</p>
      ) : (
        <section class="grid" tabindex={0} aria-label="Rows of the result">
          <Table
            name="result"
            columns={[['Your row'], ['Looked up'], ['Brand'], ['Score', 'number'], ['Fits?']]}
          >
            {page.map((row) => (
              <RowLine row={row} />
            ))}
          </Table>
        </section>
      )}
      <p class="ways">
        {asked.page > 1 && link('Previous', { ...asked, page: asked.page - 1 })}
        {from + page.length < rows.length && link('Next', { ...asked, page: asked.page + 1 })}
        <span class="note">
          {page.length > 0 && `${countText(from + 1)} to ${countText(from + page.length)}`}
          {page.length > 0 && all !== null && ` of ${countOf(all, 'row')}`}
          {all !== null && all > rows.length && `; the first ${countText(rows.length)} are shown here`}
        </span>
      </p>
    </Card>
  );
}

function RowLine({ row }: { row: ResultRow }) {
  const { own, identifier, status, brand, domain, score, color, fits, error } = row;
  return (
    <tr>
      <td>
        <bdi>{own}</bdi>
      </td>
      <td>
        <bdi>{identifier}</bdi>
      </td>
      <td>
        {status === 'matched' ? (
          <>
            <Badge brand={{ name: brand || domain, color, logo: null }} />
            <bdi>{brand || domain}</bdi> <bdi class="muted">{domain}</bdi>
          </>
        ) : (
          <span class="muted">
            {[WORDS[status], status !== 'deferred' && error].filter(Boolean).join(': ')}
          </span>
        )}
      </td>
      <td class="number">
        {score === null ? '–' : <span class={`score ${qualityTier(score)}`}>{scoreText(score)}</span>}
      </td>
      <td>{fits === null ? '–' : fits ? 'yes' : <strong>perhaps not</strong>}</td>
    </tr>
  );
}
