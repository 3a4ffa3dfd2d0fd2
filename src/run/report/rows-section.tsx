/** The section of the page on the first rows without a brand. */
import { countOf, countText } from '../../core/figures.js';
import { Card, Table } from './kit/parts.js';
import type { RunReport } from './report.js';

const LISTS = [
  ['not_found', 'Rows not found', 'Identifier'],
  ['failed', 'Rows that failed', 'Identifier'],
  ['invalid', 'Invalid rows', 'Cell'],
] as const;

type ListName = (typeof LISTS)[number][0];

export function listId(status: string): string {
  return `rows-${status}`;
}

export function RowsSection({ report }: { report: RunReport }) {
  return (
    <>
      {LISTS.filter(([status]) => report.listed[status].length > 0).map(([status, title, value]) => (
        <Card id={listId(status)} title={title} more="rows">
          <RowList status={status} value={value} report={report} />
        </Card>
      ))}
    </>
  );
}

function RowList({ status, value, report }: { status: ListName; value: string; report: RunReport }) {
  const shown = report.listed[status];
  const all = report.rows[status];
  const counted =
    shown.length < all ? `The first ${shown.length} of ${countOf(all, 'row')}` : countOf(all, 'row');
  const [reason, ...others] = new Set(shown.map((row) => row.reason));
  const isShared = others.length === 0;
  return (
    <>
      <details open>
        <summary>
          {counted}
          {isShared && (
            <>
              : <bdi>{reason}</bdi>
            </>
          )}
        </summary>
        <Table name="listed" columns={[['Line', 'line'], [value], !isShared && ['Reason']]}>
          {shown.map((row) => (
            <tr>
              <td>{countText(row.line)}</td>
              <td>{row.value}</td>
              {!isShared && <td>{row.reason}</td>}
            </tr>
          ))}
        </Table>
      </details>
      <p class="note">
        <WhereAll status={status} hidden={all - shown.length} report={report} />
      </p>
    </>
  );
}

function WhereAll({ status, hidden, report }: { status: ListName; hidden: number; report: RunReport }) {
  const { files, rows } = report;
  const more = hidden > 0 && `${countText(hidden)} more are not shown. `;
  const all = rows[status] === 1 ? 'It is' : 'All are';
  if (status !== 'not_found' && files.errors !== null)
    return (
      <>
        {more}
        {all} in <bdi>{files.errors}</bdi>.
      </>
    );
  return (
    <>
      {more}
      {all} in the enriched file, with the status <code>{status}</code>.
      {status === 'not_found' && (
        <>
          {' '}
          With <code>errorsInclude: 'not_found'</code> the errors file has them too.
        </>
      )}
    </>
  );
}
