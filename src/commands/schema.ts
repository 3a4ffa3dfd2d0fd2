/** `schema`: what this program prints, reads and writes, as JSON schemas (2020-12). Pure. */
import { z } from 'zod';
import { BRAND, isList, type Shape } from '../brand-api/brand.js';
import { ConfigError, usageProblem } from '../core/errors.js';
import { IDENTIFIER_KINDS } from '../core/identifier.js';
import { didYouMean, nearest } from '../core/nearest.js';
import { type AnswerSource, OUTCOME_STATUSES } from '../core/outcome.js';
import { scheduleEntry } from '../jobs/schedules/file-schedules.js';
import { DOCUMENTS } from '../run/documents.js';
import { SCHEDULES_KEY, SCHEMA_KEY } from '../settings/load-settings.js';
import type { Setting } from '../settings/setting.js';
import { SETTING_ENTRIES } from '../settings/settings.js';

const FILES = {
  brand: { description: 'the key brand of a row of JSONL or JSON', make: rowKeySchema },
  profile: {
    description: 'what the service knows of a brand: brand.profile of a row, brand in the library',
    make: () => brandSchema(BRAND),
  },
  'config-file': { description: 'brand-enrich.config.json', make: configSchema },
} as const;

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(DOCUMENTS).map(([name, { description = '' }]) => [name, description] as const),
  ...Object.entries(FILES).map(([name, { description }]) => [name, description] as const),
]);

export const SCHEMA_NAMES: readonly string[] = [...DESCRIPTIONS.keys()];

/** The schema of this name; the list of all for an empty one. */
export function schemaText(name: string): string {
  const width = Math.max(...SCHEMA_NAMES.map((each) => each.length));
  if (name === '')
    return [...DESCRIPTIONS].map(([each, description]) => `${each.padEnd(width)}  ${description}\n`).join('');
  if (!DESCRIPTIONS.has(name)) {
    const todo = didYouMean(nearest(name, SCHEMA_NAMES), `write one of ${SCHEMA_NAMES.join(', ')}`);
    throw new ConfigError(usageProblem('no such DOCUMENT', 'schema', todo));
  }
  return `${JSON.stringify({ title: name, ...schemaOf(name) }, null, 2)}\n`;
}

function schemaOf(name: string): object {
  const shape = Object.entries(DOCUMENTS).find(([each]) => each === name)?.[1];
  // Open to fields that later versions of this program add.
  if (shape !== undefined) return z.toJSONSchema(shape, { io: 'input' });
  const file = Object.entries(FILES).find(([each]) => each === name)?.[1];
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...file?.make() };
}

function rowKeySchema(): object {
  const known = z.object({
    status: z.enum(OUTCOME_STATUSES),
    kind: z.enum(IDENTIFIER_KINDS).nullable(),
    identifier: z.string().nullable(),
    source: z.enum(['api', 'stored'] satisfies AnswerSource[]).nullable(),
    fetchedAt: z.iso.datetime().nullable(),
    error: z.string().nullable(),
    raw: z.string().optional().describe('a record that could not be read, as it stood'),
  });
  const { $schema: _, ...schema } = z.toJSONSchema(known, { io: 'input' });
  const required = [...(schema.required ?? []), 'profile'];
  return { ...schema, properties: { ...schema.properties, profile: brandSchema(BRAND) }, required };
}

/** Every field may be absent or null, and a service may add others. */
function brandSchema(shape: Shape): object {
  if (shape === 'unknown') return {};
  if (typeof shape === 'string') return { type: [shape, 'null'] };
  if (isList(shape)) {
    // More than one: other forms than the first are known.
    const [item = 'unknown', ...others] = shape;
    return { type: ['array', 'null'], items: others.length > 0 ? {} : brandSchema(item) };
  }
  const properties = Object.entries(shape).map(([key, value]) => [key, brandSchema(value)]);
  return { type: ['object', 'null'], properties: Object.fromEntries(properties) };
}

function configSchema(): object {
  const settings = SETTING_ENTRIES.flatMap(([, line]) =>
    line.isInFile && line.key !== null ? [[line.key, settingSchema(line)]] : [],
  );
  const schedules = { type: 'array', items: z.toJSONSchema(scheduleEntry, { io: 'input' }) };
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(settings),
      [SCHEDULES_KEY]: schedules,
      [SCHEMA_KEY]: { type: 'string' },
    },
    additionalProperties: false,
  };
}

const SCALARS = [{ type: 'string' }, { type: 'number' }];

/** null counts as not given. */
function settingSchema({ kind, description, defaultText }: Setting<unknown>): object {
  const about = {
    description: defaultText === '' ? description : `${description} (default: ${defaultText})`,
  };
  const { arity, choices } = kind;
  if (arity === 'switch') return { ...about, type: ['boolean', 'null'] };
  const item = choices.length > 0 ? { enum: choices } : { anyOf: SCALARS };
  if (arity !== 'one') {
    // A text is cut at commas.
    return { ...about, anyOf: [{ type: 'array', items: item }, ...SCALARS, { type: 'null' }] };
  }
  if (kind.placeholder === 'DURATION')
    return { ...about, anyOf: [{ type: 'string', pattern: '^[0-9]+(ms|s|m|h|d)$' }, { type: 'null' }] };
  if (choices.length === 0) return { ...about, anyOf: [...SCALARS, { type: 'null' }] };
  const isYesOrNo = choices.includes('true') || choices.includes('on');
  return { ...about, enum: [...choices, ...(isYesOrNo ? [true, false] : []), null] };
}
