/**
 * The settings of what is read and what is written: input, columns, output.
 */

import { IDENTIFIER_KINDS } from '../core/identifier.js';
import { RAGGED_CHOICES } from '../core/table.js';
import { columnChoices, delimiterValue, encodingValue, prefixValue } from './column-value.js';
import { choice, count, listOf, path, yesOrNo } from './parse-value.js';
import { type CommandName, optional, setting } from './setting.js';

const READING: readonly CommandName[] = ['run', 'plan', 'watch', 'up', 'config'];
const INPUT = { group: 'Input', commands: READING } as const;
const COLUMNS = { group: 'Columns', commands: READING } as const;
const WRITING = { group: 'Output', commands: ['run', 'watch', 'up', 'config'] } as const;

export const INPUT_SETTINGS = {
  delimiter: optional({
    flag: '--delimiter',
    kind: delimiterValue,
    ...INPUT,
    defaultNote: 'detected',
    description: 'the character between cells, or the word tab',
  }),
  encoding: optional({
    flag: '--encoding',
    kind: encodingValue,
    ...INPUT,
    defaultNote: 'detected',
    description: 'the encoding of the input',
  }),
  header: setting({
    flag: '--no-header',
    kind: yesOrNo,
    default: 'true',
    ...INPUT,
    description: 'the first record is data; columns are called column_1, column_2 and so on',
  }),
  skipLines: setting({
    flag: '--skip-lines',
    kind: count(0, 1_000_000),
    default: '0',
    ...INPUT,
    description: 'lines above the header that do not belong to the table',
  }),
  limit: optional({
    flag: '--limit',
    kind: count(1),
    ...INPUT,
    defaultNote: 'all',
    description: 'read at most this many records',
  }),
  ragged: optional({
    flag: '--ragged',
    kind: choice(RAGGED_CHOICES),
    ...INPUT,
    defaultNote: 'invalid, up to 5 % of the rows',
    description: 'rows that do not fit the table: take their cells by position, or mark all of them invalid',
  }),
  sample: setting({
    flag: '--sample',
    kind: yesOrNo,
    default: 'false',
    ...INPUT,
    description: 'try it out against the built-in service with sample brands: no token, no cost',
  }),
  columns: setting({
    flag: '--column',
    kind: columnChoices,
    default: '',
    ...COLUMNS,
    defaultNote: 'chosen by header and values',
    description:
      'the column with the identifiers, by name or as position:N; repeat it for columns to fall back on',
  }),
  kind: optional({
    flag: '--kind',
    kind: choice(IDENTIFIER_KINDS, 'KIND'),
    group: 'Columns',
    commands: [...READING, 'outcomes forget'],
    defaultNote: 'judged from the values',
    description: `the kind of identifiers in columns named without one: ${IDENTIFIER_KINDS.join(', ')}`,
  }),
  allowMismatch: setting({
    flag: '--allow-mismatch',
    kind: yesOrNo,
    default: 'false',
    ...COLUMNS,
    description: 'go on although most values cannot be of the kind given for their column',
  }),
  waterfall: setting({
    flag: '--waterfall',
    kind: yesOrNo,
    default: 'false',
    ...COLUMNS,
    description: 'where a row was not found, ask again with its next column (costs requests)',
  }),
} as const;

export const OUTPUT_SETTINGS = {
  output: optional({
    flag: '--output',
    short: '-o',
    env: null,
    isInFile: false,
    kind: path('FILE'),
    group: 'Output',
    commands: ['run', 'engine export'],
    defaultNote: '<name>.enriched.<ext>',
    description: 'where the result goes; - is standard output, where an export goes by default',
  }),
  format: optional({
    flag: '--format',
    kind: choice(['csv', 'jsonl']),
    ...WRITING,
    defaultNote: 'that of the input',
    description: 'format of the enriched file',
  }),
  fields: optional({
    flag: '--fields',
    kind: listOf('LIST', 'name,company.location.region,links.twitter'),
    ...WRITING,
    defaultNote: 'the standard columns',
    description:
      'other fields of the brand as columns, by path, separated by commas; +path for one that is not known',
  }),
  sort: setting({
    flag: '--sort',
    kind: choice(['quality', 'none']),
    default: 'quality',
    ...WRITING,
    description: 'rank by quality score, best first, or keep the order of the input',
  }),
  escapeFormulas: setting({
    flag: '--escape-formulas',
    kind: choice(['all', 'ours', 'none']),
    default: 'ours',
    ...WRITING,
    description: 'cells to escape where a spreadsheet would see a formula: all, only ours, or none',
  }),
  prefix: setting({
    flag: '--prefix',
    kind: prefixValue,
    default: 'brand_',
    group: 'Output',
    commands: READING,
    description: 'prefix of the columns that are added',
  }),
  errors: optional({
    flag: '--errors',
    env: null,
    isInFile: false,
    kind: path('FILE'),
    group: 'Output',
    commands: ['run'],
    defaultNote: '<name>.errors.<ext>',
    description: 'where rows without an answer go, with the reason',
  }),
  report: optional({
    flag: '--report',
    env: null,
    isInFile: false,
    kind: path('FILE'),
    group: 'Output',
    commands: ['run'],
    defaultNote: '<name>.report.json',
    description: 'where the report goes; the page for people is written beside it, ending in .html',
  }),
  embedLogos: setting({
    flag: '--embed-logos',
    kind: yesOrNo,
    default: 'false',
    ...WRITING,
    description: 'fetch the logos shown on the report page and embed them in it',
  }),
} as const;
