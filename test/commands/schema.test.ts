import { expect, it } from 'vitest';
import { schemaText } from '../../src/commands/schema.js';
import { COMMANDS } from '../../src/config/commands.js';
import { DOCUMENTS } from '../../src/core/documents.js';
import { faultsOf } from '../support/schemas.js';

const names = Object.keys(DOCUMENTS);

it('knows the same documents as the command line, and lists them', () => {
  expect([...(COMMANDS.schema.argument?.choices ?? [])].sort()).toEqual([...names].sort());
  expect(schemaText('').match(/^\S+ {2,}\S.*$/gm)).toHaveLength(names.length);
});

it.each(names)(
  'the schema of %s is one, which asks for a version and takes fields of later versions',
  (name) => {
    expect(faultsOf(name, {})).toContainEqual(expect.stringContaining('"version"'));
    const text = schemaText(name);
    expect(JSON.parse(text)).toMatchObject({ title: name, properties: { version: { const: 1 } } });
    expect(text).not.toContain('"additionalProperties": false');
  },
);
