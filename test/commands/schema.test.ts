import { expect, it } from 'vitest';
import { schemaText } from '../../src/commands/schema.js';
import { DOCUMENTS } from '../../src/core/documents.js';
import { faultsOf } from '../support/schemas.js';

const names = Object.keys(DOCUMENTS);

it('lists the documents, and names the nearest for one that is not there', () => {
  expect(() => schemaText('reprot')).toThrow('no such DOCUMENT: schema; did you mean report?');
  expect(schemaText('').match(/^\S+ {2,}\S.*$/gm)).toHaveLength(names.length);
});

it('finds wrong fields in a document', () => {
  expect(faultsOf('cancel', { version: 1, cancelled: 'r-1' })).toEqual([]);
  expect(faultsOf('cancel', { version: 1, cancelled: 'r-1', epoch: 'x' })).toEqual([
    expect.stringMatching(/epoch/),
  ]);
  expect(faultsOf('cancel', { version: 2, cancelled: 7 })).toHaveLength(2);
});

it.each(names)('the schema of %s requires a version and allows fields of later versions', (name) => {
  expect(faultsOf(name, {})).toContainEqual(expect.stringContaining('"version"'));
  const text = schemaText(name);
  expect(JSON.parse(text)).toMatchObject({ title: name, properties: { version: { const: 1 } } });
  expect(text).not.toContain('"additionalProperties": false');
});
