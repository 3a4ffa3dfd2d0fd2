/** `schema`: the documents that this program prints, and their JSON schemas (2020-12). Pure. */
import { z } from 'zod';
import { DOCUMENTS } from '../core/documents.js';

/** The schema of the document of this name; the list of all for an empty one. */
export function schemaText(name: string): string {
  const found = Object.entries(DOCUMENTS).find(([each]) => each === name)?.[1];
  if (found !== undefined) return `${JSON.stringify(schemaOf(name, found), null, 2)}\n`;
  const names = Object.keys(DOCUMENTS);
  const width = Math.max(...names.map((each) => each.length));
  const lines = Object.entries(DOCUMENTS).map(
    ([each, { description = '' }]) => `${each.padEnd(width)}  ${description}\n`,
  );
  return lines.join('');
}

/** Open to fields that later versions of this program add. */
function schemaOf(title: string, shape: z.ZodType) {
  return { title, ...z.toJSONSchema(shape, { io: 'input' }) };
}
