/** The sections of the page: outcomes, scores, causes and files. */
import type { QualityTier } from '../../brand-api/brand.js';
import { countOf, countText, momentText, shareText } from '../../core/figures.js';
import { OUTCOME_STATUSES, type OutcomeStatus } from '../../core/outcome.js';
import type { RunStop } from '../../engine/stores/run-reasons.js';
import { sayStop } from '../words/say-reason.js';
import { fillText, namesText } from './headline.js';
import { Histogram } from './kit/chart.js';
import { Bar, Card, Dot, type Fact, Facts, Table } from './kit/parts.js';
import type { PageData } from './portable-report.js';
import type { RunReport } from './report.js';
import { listId } from './rows-section.js';

const MEANINGS: Readonly<Record<OutcomeStatus, readonly [name: string, meaning: string]>> = {
  matched: ['Matched', 'The service knows the brand; its data is in the row.'],
  not_found: ['Not found', 'The service has no such brand, or withholds it.'],
  failed: ['Failed', 'There was no usable answer. Run again to retry.'],
  invalid: ['Invalid', 'No usable identifier. No request was sent.'],
  skipped: ['Skipped', 'Blank, not selected, or an address at a free e-mail provider. No request was sent.'],
  deferred: ['Deferred', 'Not looked up, because the run stopped first. Run again to continue.'],
};

export function OutcomesSection({ report: { rows, input, listed } }: { report: RunReport }) {
  const isListed = (status: string) =>
    Object.entries(listed).some(([each, { length }]) => each === status && length > 0);
  return (
    <Card id="outcomes" title="Rows by outcome">
      <Table
        name="outcomes"
        columns={[['Outcome'], ['Rows', 'number'], ['Share', 'number']]}
        foot={
          <tr>
            <th scope="row">All rows of the file</th>
            <td class="number">{countText(input.records)}</td>
            <td />
          </tr>
        }
      >
        {OUTCOME_STATUSES.map((status) => (
          <OutcomeRow
            status={status}
            count={rows[status]}
            records={input.records}
            isListed={isListed(status)}
          />
        ))}
      </Table>
    </Card>
  );
}

function OutcomeRow(row: { status: OutcomeStatus; count: number; records: number; isListed: boolean }) {
  const { status, count, records, isListed } = row;
  const [word, meaning] = MEANINGS[status];
  const isNone = count === 0;
  return (
    <tr class={isNone ? 'none' : undefined}>
      <th scope="row">
        <Dot tone={status}>{isListed && !isNone ? <a href={`#${listId(status)}`}>{word}</a> : word}</Dot>
        <span class="meaning">{meaning}</span>
        {!isNone && <Bar parts={[[status, records === 0 ? 0 : count / records]]} />}
      </th>
      <td class="number">{countText(count)}</td>
      <td class="number share">{isNone ? '' : shareText(count, records)}</td>
    </tr>
  );
}

const THIRDS: [tier: QualityTier, range: string][] = [
  ['poor', '0 to 0.33'],
  ['acceptable', '0.33 to 0.67'],
  ['high', '0.67 to 1'],
];

export function hasBrands({ quality }: Pick<RunReport, 'quality'>): boolean {
  return Object.values(quality).some((count) => typeof count === 'number' && count > 0);
}

export function ScoresSection({ report: { quality } }: { report: RunReport }) {
  const { high, acceptable, poor, unscored } = quality;
  const scored = high + acceptable + poor;
  const total = scored + unscored;
  const none = `None of the ${countOf(unscored, 'brand')} has a score.`;
  const tiers: [tone: QualityTier | 'unscored', range: string][] = THIRDS.toReversed();
  if (unscored > 0) tiers.push(['unscored', 'no score sent']);
  return (
    <Card id="scores" title="Quality of the brands" more="scores">
      {scored === 0 ? <p class="muted">{none}</p> : <ScoreChart quality={quality} />}
      <ul class="tiers">
        {tiers.map(([tone, range]) => (
          <li>
            <Dot tone={tone}>
              <span class="tier-name">{tone.charAt(0).toUpperCase() + tone.slice(1)}</span>
            </Dot>{' '}
            <span class="muted">{range}</span>
            <span class="tier-count">
              {countText(quality[tone])} <span class="muted">{shareText(quality[tone], total)}</span>
            </span>
          </li>
        ))}
      </ul>
      <p class="note">
        Distinct brands by <code>qualityScore</code>. A low score means that the brand is less likely to be
        real; a personal blog is at about 0.3 to 0.4.
      </p>
    </Card>
  );
}

function ScoreChart({ quality }: Pick<RunReport, 'quality'>) {
  const { high, acceptable, poor, histogram } = quality;
  const edge = (at: number) => (at / histogram.length).toFixed(2);
  const bins = histogram.map((count, at) => {
    const [tone = 'poor'] = THIRDS[Math.floor((at * THIRDS.length) / histogram.length)] ?? [];
    return { tone, range: `${edge(at)} to ${edge(at + 1)}`, count };
  });
  const below = (
    <>
      {THIRDS.map(([tier, range]) => (
        <span>
          {tier}
          <br />
          {range}
        </span>
      ))}
      <span>quality score</span>
    </>
  );
  const label =
    `Histogram of quality scores: ${countText(high)} high, ${countText(acceptable)} acceptable, ` +
    `${countText(poor)} poor.`;
  return <Histogram label={label} unit="brand" measure="Score" bins={bins} below={below} />;
}

const CAUSES_AT_MOST = 12;

/** Shows nothing if every row has an answer. */
export function CausesSection({ report }: { report: RunReport }) {
  const { failures, reasons, rows, reason, run } = report;
  const failed = Object.entries(failures);
  const excluded = Object.entries(reasons);
  if (failed.length + excluded.length + rows.deferred === 0) return null;
  return (
    <div class="pair">
      {failed.length > 0 && (
        <Card id="failures" title="Failed lookups by cause">
          <CauseTable counted="Identifiers" causes={failed} unit="lookup" />
        </Card>
      )}
      {rows.deferred > 0 && (
        <Card id="deferred" title="Not looked up yet">
          <p>
            {countOf(rows.deferred, 'row')}: <bdi>{reason ?? sayStop(stopOf(run.status), 'page')}</bdi>.
          </p>
        </Card>
      )}
      {excluded.length > 0 && (
        <Card id="excluded" title="Invalid and skipped rows by cause">
          <CauseTable counted="Rows" causes={excluded} unit="row" />
        </Card>
      )}
    </div>
  );
}

/** Returns the stop of a run without a reason; a halted one has its reason. */
function stopOf(status: RunReport['run']['status']): RunStop {
  return { type: status === 'halted' || status === 'finished' ? 'stopped' : status };
}

function CauseTable(table: { counted: string; causes: [string, number][]; unit: string }) {
  const { counted, causes, unit } = table;
  const sorted = [...causes].sort((a, b) => b[1] - a[1]);
  const others = sorted.slice(CAUSES_AT_MOST);
  const hidden = others.reduce((sum, [, count]) => sum + count, 0);
  return (
    <>
      <Table name="causes" columns={[['Cause'], [counted, 'number']]}>
        {sorted.slice(0, CAUSES_AT_MOST).map(([cause, count]) => (
          <tr>
            <td>
              <bdi>{cause}</bdi>
            </td>
            <td class="number">{countText(count)}</td>
          </tr>
        ))}
      </Table>
      {others.length > 0 && (
        <p class="note">
          and {countOf(others.length, 'more cause')} with {countOf(hidden, unit)}
        </p>
      )}
    </>
  );
}

export function FilesSection({ data: { report, files } }: { data: PageData }) {
  const { accounting, input, run } = report;
  const { where } = input;
  const columns = input.columns.map(({ name, kind }) => (kind === null ? name : `${name} (${kind})`));
  const { recordsRead, rowsByStatus, recordsWritten } = accounting;
  const written =
    recordsWritten === null ? 'not counted after writing' : `${countText(recordsWritten)} written`;
  const text = (value: string) => <bdi>{value}</bdi>;
  const rows: Fact[] = [
    ['Input', text(input.name)],
    ['Read as', text(input.detected)],
    ...files.map(
      ({ label, name, href }): Fact => [label, href === null ? text(name) : <a href={href}>{text(name)}</a>],
    ),
    ['Identifiers from', text(columns.join(', '))],
    ...(where === null
      ? []
      : [['Rows selected', text(`${countText(where.rows)} with ${where.conditions.join(' and ')}`)] as Fact]),
    ['Service', text(run.service)],
    ['Rows counted', `${countText(recordsRead)} read, ${countText(rowsByStatus)} by outcome, ${written}`],
  ];
  return (
    <Card id="files" title="Files">
      <Facts rows={rows} name="files" />
      {input.warnings.length > 0 && (
        <>
          <p class="note">Warnings about the input:</p>
          <ul class="note">
            {input.warnings.map((warning) => (
              <li>{text(warning)}</li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}

/** Compares brands with the earlier output; shows nothing without `--changes`. */
export function ChangesSection({ report: { changes } }: { report: RunReport }) {
  if (changes === null) return null;
  const { since, new: added, changed, unchanged, vanished, failed, file } = changes;
  const fields = Object.entries(changes.fields);
  const rows: Fact[] = [
    ['Since', since === null ? 'no earlier output: every brand is new' : momentText(since)],
    ['New', countText(added)],
    since !== null && ['Changed', countText(changed)],
    since !== null && ['Unchanged', countText(unchanged)],
    since !== null && ['Vanished', countText(vanished)],
    failed > 0 && ['Unknown, lookup failed', countText(failed)],
    fields.length > 0 && ['Fields', fields.map(([name, count]) => `${name} ${countText(count)}`).join(', ')],
  ];
  return (
    <Card id="changes" title="Changes since the last complete run">
      <Facts rows={rows} name="files" />
      <p class="note">
        Each brand is in <bdi>{file}</bdi>.
      </p>
    </Card>
  );
}

/** Shows the results of the user's own columns; nothing without `--fill`. */
export function FillsSection({ report: { fills } }: { report: RunReport }) {
  if (fills === null) return null;
  const rows: Fact[] = fills.columns.map((column) => [column.column, fillText(column)]);
  if (fills.misfits > 0)
    rows.push(['Rows that do not fit the table', `${countText(fills.misfits)} not filled`]);
  return (
    <Card id="fills" title="Your columns">
      <Facts rows={rows} name="files" />
      {fills.file !== null && (
        <p class="note">
          The cells that differ are in <bdi>{fills.file}</bdi>.
        </p>
      )}
    </Card>
  );
}

/** Compares names of input and brands; shows nothing without `--name-column`. */
export function NamesSection({ report: { nameMatch, files } }: { report: RunReport }) {
  if (nameMatch === null) return null;
  return (
    <Card id="names" title="Names">
      <p>
        Names in <bdi>{nameMatch.column}</bdi>: {namesText(nameMatch)}.
      </p>
      {nameMatch.low > 0 && (
        <p class="note">
          These brands may be other companies. Their rows are in <bdi>{files.errors}</bdi>, with the name of
          the brand.
        </p>
      )}
    </Card>
  );
}
