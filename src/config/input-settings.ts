/**
 * The settings of what is read and what is written: input, columns, output.
 */

import { IDENTIFIER_KINDS } from '../core/identifier.js';
import { RAGGED_CHOICES } from '../core/table.js';
import { columnChoices, delimiterValue, encodingValue, prefixValue } from './column-value.js';
import { choice, count, listOf, path, yesOrNo } from './parse-value.js';
import { type CommandName, optional, setting } from './setting.js';

const READING: readonly CommandName[] = ['run', 'plan', 'watch', 'up', 'config'];
const WRITING: readonly CommandName[] = ['run', 'watch', 'up', 'config'];

export const INPUT_SETTINGS = {
  delimiter: optional({
    flag: '--delimiter',
    kind: delimiterValue,
    group: 'Input',
    commands: READING,
    defaultNote: 'detected',
    description: 'the character between cells, or the word tab',
  }),
  encoding: optional({
    flag: '--encoding',
    kind: encodingValue,
    group: 'Input',
    commands: READING,
    defaultNote: 'detected',
    description: 'the encoding of the input',
  }),
  header: setting({
    flag: '--no-header',
    kind: yesOrNo,
    default: 'true',
    group: 'Input',
    commands: READING,
    description: 'the first record is data; columns are called column_1, column_2 and so on',
  }),
  skipLines: setting({
    flag: '--skip-lines',
    kind: count(0, 1_000_000),
    default: '0',
    group: 'Input',
    commands: READING,
    description: 'lines above the header that do not belong to the table',
  }),
  limit: optional({
    flag: '--limit',
    kind: count(1),
    group: 'Input',
    commands: READING,
    defaultNote: 'all',
    description: 'read only so many records',
  }),
  ragged: optional({
    flag: '--ragged',
    kind: choice(RAGGED_CHOICES),
    group: 'Input',
    commands: READING,
    defaultNote: 'invalid, up to 5 % of the rows',
    description:
      'rows that do not fit the table: take their cells by position, or count them as invalid however many',
  }),
  sample: setting({
    flag: '--sample',
    kind: yesOrNo,
    default: 'false',
    group: 'Input',
    commands: READING,
    description: 'try it out against the built-in service with sample brands: no token, no cost',
  }),
  columns: setting({
    flag: '--column',
    kind: columnChoices,
    default: '',
    group: 'Columns',
    commands: READING,
    defaultNote: 'chosen by header and values',
    description:
      'the column with the identifiers, by name or as position:N; repeat it for columns to fall back on',
  }),
  kind: optional({
    flag: '--kind',
    kind: choice(IDENTIFIER_KINDS, 'KIND'),
    group: 'Columns',
    commands: [...READING, 'outcomes forget'],
    defaultNote: 'judged by the values',
    description: `what the identifiers are, where no column says so: ${IDENTIFIER_KINDS.join(', ')}`,
  }),
  allowMismatch: setting({
    flag: '--allow-mismatch',
    kind: yesOrNo,
    default: 'false',
    group: 'Columns',
    commands: READING,
    description: 'go on where most values cannot be of the kind that was named for their column',
  }),
  waterfall: setting({
    flag: '--waterfall',
    kind: yesOrNo,
    default: 'false',
    group: 'Columns',
    commands: READING,
    description: 'ask for rows that were not found again with their next column (costs requests)',
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
    commands: ['run'],
    defaultNote: '<name>.enriched.<ext>',
    description: 'where the enriched file goes; - is standard output',
  }),
  format: optional({
    flag: '--format',
    kind: choice(['csv', 'jsonl']),
    group: 'Output',
    commands: WRITING,
    defaultNote: 'that of the input',
    description: 'format of the enriched file',
  }),
  fields: optional({
    flag: '--fields',
    kind: listOf('LIST', 'name,company.location.region,links.twitter'),
    group: 'Output',
    commands: WRITING,
    defaultNote: 'the standard columns',
    description:
      'other fields of the brand as columns, by path, separated by commas; +path for one that is not known',
  }),
  sort: setting({
    flag: '--sort',
    kind: choice(['quality', 'none']),
    default: 'quality',
    group: 'Output',
    commands: WRITING,
    description: 'rank by quality score, best first, or keep the order of the input',
  }),
  escapeFormulas: setting({
    flag: '--escape-formulas',
    kind: choice(['all', 'ours', 'none']),
    default: 'ours',
    group: 'Output',
    commands: WRITING,
    description:
      'what is defused where a spreadsheet would see a formula: every cell, only those we add, or none',
  }),
  prefix: setting({
    flag: '--prefix',
    kind: prefixValue,
    default: 'brand_',
    group: 'Output',
    commands: READING,
    description: 'what the names of our columns begin with',
  }),
  errors: optional({
    flag: '--errors',
    env: null,
    isInFile: false,
    kind: path('FILE'),
    group: 'Output',
    commands: ['run'],
    defaultNote: '<name>.errors.<ext>',
    description: 'where rows without an answer go, with their reasons',
  }),
  report: optional({
    flag: '--report',
    env: null,
    isInFile: false,
    kind: path('FILE'),
    group: 'Output',
    commands: ['run'],
    defaultNote: '<name>.report.json',
    description: 'where the report goes; the same as a page lies beside it, ending in .html',
  }),
  embedLogos: setting({
    flag: '--embed-logos',
    kind: yesOrNo,
    default: 'false',
    group: 'Output',
    commands: WRITING,
    description: 'fetch the logos of the brands that the page of the report shows, and put them into it',
  }),
} as const;
