/** `schema`: JSON schemas (2020-12) of what this program prints, reads and writes. Pure. */
import { z } from 'zod';
import { BRAND, isList, type Shape } from '../brand-api/brand.js';
import { ConfigError, usageProblem } from '../core/errors.js';
import { IDENTIFIER_KINDS } from '../core/identifier.js';
import { didYouMean, nearest } from '../core/nearest.js';
import { type AnswerSource, OUTCOME_STATUSES } from '../core/outcome.js';
import { DOCUMENT_VERSION } from '../core/terminal-text.js';
import { scheduleEntry } from '../jobs/schedules/file-schedules.js';
import { DOCUMENTS } from '../run/documents.js';
import { SCHEDULES_KEY, SCHEMA_KEY } from '../settings/load-settings.js';
import { quote } from '../settings/parse-value.js';
import type { Setting } from '../settings/setting.js';
import { SETTING_ENTRIES } from '../settings/settings.js';

const FILES = {
  brand: { description: 'the key brand of a row in JSONL or JSON', make: rowKeySchema },
  profile: {
    description: 'a brand as the service returns it: brand.profile of a row, brand in the library',
    make: () => brandSchema(BRAND),
  },
  'config-file': { description: 'brand-enrich.config.json', make: configSchema },
} as const;
const OPENAPI = 'openapi';

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(DOCUMENTS).map(([name, { description = '' }]) => [name, description] as const),
  ...Object.entries(FILES).map(([name, { description }]) => [name, description] as const),
  [OPENAPI, 'the HTTP routes of the dashboard for programs, as OpenAPI 3.1'],
]);

export const SCHEMA_NAMES: readonly string[] = [...DESCRIPTIONS.keys()];

/** Returns a schema as JSON; for an empty name, the list of schemas. */
export function schemaText(name: string): string {
  const width = Math.max(...SCHEMA_NAMES.map((each) => each.length));
  if (name === '')
    return [...DESCRIPTIONS].map(([each, description]) => `${each.padEnd(width)}  ${description}\n`).join('');
  if (!DESCRIPTIONS.has(name)) {
    const todo = didYouMean(nearest(name, SCHEMA_NAMES), `write one of ${SCHEMA_NAMES.join(', ')}`);
    throw new ConfigError(usageProblem('no such document', quote(name), todo));
  }
  const schema = name === OPENAPI ? openApi() : { title: name, ...schemaOf(name) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

const BINARY = { 'application/octet-stream': {} };
const CONFIRMATION = {
  required: true,
  content: {
    'application/x-www-form-urlencoded': {
      schema: { type: 'object', properties: { confirmed: { const: 'yes' } }, required: ['confirmed'] },
    },
  },
};
const UPLOAD_FIELDS = [
  { name: 'start', in: 'query', required: true, schema: { const: '1' } },
  { name: 'name', in: 'query', required: true, schema: { type: 'string', examples: ['customers.csv'] } },
  { name: 'inbox', in: 'query', description: 'number, from 0', schema: { type: 'integer', default: 0 } },
  {
    name: 'settings',
    in: 'query',
    description: 'settings as in customers.csv.json, such as column, maxRequests or priority',
    explode: true,
    schema: { type: 'object', additionalProperties: { type: 'string' } },
  },
];

/** Describes a route: which document each status returns. Any other status is an error. */
function operation(summary: string, answers: Record<number, keyof typeof DOCUMENTS>, more: object = {}) {
  const described = Object.entries({ ...answers, default: 'http-error' }).map(([status, name]) => {
    const schema = { $ref: `#/components/schemas/${name}` };
    const description = status === 'default' ? 'an error' : summary;
    return [status, { description, content: { 'application/json': { schema } } }];
  });
  return { summary, responses: Object.fromEntries(described), ...more };
}

const DOWNLOAD = {
  summary: 'Download a file of a run',
  responses: {
    200: { description: 'the file', content: BINARY },
    default: { description: 'an error, as a page', content: { 'text/html': {} } },
  },
};

function openApi(): object {
  const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
  const idsIn = (path: string) =>
    ['id', 'name'].flatMap((name) => (path.includes(`{${name}}`) ? [{ ...id, name }] : []));
  const order = { 200: 'run', 202: 'http-done' } as const;
  const routes = {
    '/uploads': {
      post: operation(
        'Send a file and start it',
        { 201: 'upload' },
        { parameters: UPLOAD_FIELDS, requestBody: { required: true, content: BINARY } },
      ),
    },
    '/runs/{id}.json': { get: operation('Read a run and the links to its files', { 200: 'run' }) },
    '/files/{id}/{name}': { get: DOWNLOAD },
    '/runs/{id}/pause': { post: operation('Pause a run', order) },
    '/runs/{id}/resume': { post: operation('Resume a run', order, { requestBody: CONFIRMATION }) },
    '/runs/{id}/cancel': { post: operation('Cancel a run', order, { requestBody: CONFIRMATION }) },
    '/pause': { post: operation('Pause all spending', { 200: 'http-done' }) },
    '/resume': { post: operation('Resume spending', { 200: 'http-done' }, { requestBody: CONFIRMATION }) },
    '/status.json': { get: operation('Read the data of the dashboard', { 200: 'dashboard' }) },
  };
  const used = ['upload', 'run', 'http-done', 'http-error', 'dashboard'] as const;
  const described = Object.entries(routes).map(([path, item]) => [
    path,
    { parameters: idsIn(path), ...item },
  ]);
  return {
    openapi: '3.1.1',
    info: { title: 'brand-enrich', version: String(DOCUMENT_VERSION) },
    servers: [{ url: 'http://127.0.0.1:8787' }],
    security: [{ basic: [] }],
    paths: Object.fromEntries(described),
    components: {
      securitySchemes: { basic: { type: 'http', scheme: 'basic' } },
      schemas: Object.fromEntries(used.map((name) => [name, schemaOf(name)])),
    },
  };
}

function schemaOf(name: string): object {
  const shape = Object.entries(DOCUMENTS).find(([each]) => each === name)?.[1];
  // With `input`, a schema allows fields that later versions of this program add.
  if (shape !== undefined) return z.toJSONSchema(shape, { io: 'input' });
  const file = Object.entries(FILES).find(([each]) => each === name)?.[1];
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...file?.make() };
}

function rowKeySchema(): object {
  const rowKey = z.object({
    status: z.enum(OUTCOME_STATUSES),
    kind: z.enum(IDENTIFIER_KINDS).nullable(),
    identifier: z.string().nullable(),
    source: z.enum(['api', 'stored'] satisfies AnswerSource[]).nullable(),
    fetchedAt: z.iso.datetime().nullable(),
    error: z.string().nullable(),
    raw: z.string().optional().describe('a record that could not be read, as it stood'),
  });
  const { $schema: _, ...schema } = z.toJSONSchema(rowKey, { io: 'input' });
  const required = [...(schema.required ?? []), 'profile'];
  return { ...schema, properties: { ...schema.properties, profile: brandSchema(BRAND) }, required };
}

/** Returns the schema of a brand, whose fields may be absent or null; a service may add others. */
function brandSchema(shape: Shape): object {
  if (shape === 'unknown') return {};
  if (typeof shape === 'string') return { type: [shape, 'null'] };
  if (isList(shape)) {
    // Items that have several forms may have any other form, too.
    const [item = 'unknown', ...others] = shape;
    return { type: ['array', 'null'], items: others.length > 0 ? {} : brandSchema(item) };
  }
  const properties = Object.entries(shape).map(([key, value]) => [key, brandSchema(value)]);
  return { type: ['object', 'null'], properties: Object.fromEntries(properties) };
}

function configSchema(): object {
  const settings = SETTING_ENTRIES.flatMap(([, setting]) =>
    setting.isInFile && setting.key !== null ? [[setting.key, settingSchema(setting)]] : [],
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

/** Returns the schema of a setting; null counts as not set. */
function settingSchema({ kind, description, defaultText }: Setting<unknown>): object {
  const about = {
    description: defaultText === '' ? description : `${description} (default: ${defaultText})`,
  };
  const { arity, choices } = kind;
  if (arity === 'switch') return { ...about, type: ['boolean', 'null'] };
  const item = choices.length > 0 ? { enum: choices } : { anyOf: SCALARS };
  // A list may also be one text with commas.
  if (arity !== 'one')
    return { ...about, anyOf: [{ type: 'array', items: item }, ...SCALARS, { type: 'null' }] };
  if (kind.placeholder === 'DURATION')
    return { ...about, anyOf: [{ type: 'string', pattern: '^[0-9]+(ms|s|m|h|d)$' }, { type: 'null' }] };
  if (choices.length === 0) return { ...about, anyOf: [...SCALARS, { type: 'null' }] };
  const isYesOrNo = choices.includes('true') || choices.includes('on');
  return { ...about, enum: [...choices, ...(isYesOrNo ? [true, false] : []), null] };
}
