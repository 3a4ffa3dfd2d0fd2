/** `schema`: the documents that this program prints, and their JSON schemas (2020-12). Pure. */
import { z } from 'zod';
import { DOCUMENTS } from '../core/documents.js';
import { NeverStartError, usageProblem } from '../core/errors.js';
import { didYouMean, nearest } from '../core/nearest.js';

/** The schema of the document of this name; the list of all for an empty one. */
export function schemaText(name: string): string {
  const documents: [string, z.ZodType][] = Object.entries(DOCUMENTS);
  const names = documents.map(([each]) => each);
  const width = Math.max(...names.map((each) => each.length));
  if (name === '')
    return documents
      .map(([each, { description = '' }]) => `${each.padEnd(width)}  ${description}\n`)
      .join('');
  const shape = documents.find(([each]) => each === name)?.[1];
  if (shape === undefined) {
    const todo = didYouMean(nearest(name, names), `write one of ${names.join(', ')}`);
    throw new NeverStartError(usageProblem('no such DOCUMENT', 'schema', todo));
  }
  // Open to fields that later versions of this program add.
  const schema = { title: name, ...z.toJSONSchema(shape, { io: 'input' }) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
