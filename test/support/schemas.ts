/** The published schemas, strict: a field that they do not name is an error. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { schemaText } from '../../src/commands/schema.js';

const ajv = new Ajv2020({ validateFormats: false, allErrors: true });

/** The faults of a document; none: it matches its schema. */
export function faultsOf(name: string, document: unknown): string[] {
  const closed = (_: string, part: unknown) =>
    typeof part === 'object' && part !== null && 'properties' in part
      ? { additionalProperties: false, ...part }
      : part;
  const validate = ajv.getSchema(name) ?? ajv.compile({ $id: name, ...JSON.parse(schemaText(name), closed) });
  if (validate(document)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${name}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
