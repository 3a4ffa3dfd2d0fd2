/** The schema of a Parquet file as a tree, with the levels of its values. Pure. */
import type { SchemaElement } from 'hyparquet';
import { shortName } from '../../core/terminal-text.js';
import { OverBounds } from '../binary-table.js';
import { MAX_COLUMNS } from '../text/record-splitter.js';

/** The key of GeoParquet's metadata (https://geoparquet.org/releases/v1.1.0). */
export const GEO_KEY = 'geo';

interface Levels {
  /** The names in the file from the column down to it. */
  readonly path: readonly string[];
  /** The levels of a value that has all lists and groups around it. */
  readonly repetition: number;
  readonly definition: number;
}

export interface SchemaNode extends Levels {
  readonly element: SchemaElement;
  readonly children: readonly SchemaNode[];
}

const DEEPEST = 64;

/** The columns, without groups that hold nothing. Throws Error for a damaged schema. */
export function columnsOf(schema: readonly SchemaElement[]): SchemaNode[] {
  if (schema.length > MAX_COLUMNS)
    throw new OverBounds(`it has more than ${MAX_COLUMNS} columns`, 'write it with fewer columns');
  let at = 1;
  function members({ num_children = 0 }: Partial<SchemaElement>, above: Levels): SchemaNode[] {
    if (above.path.length > DEEPEST)
      throw new OverBounds(`it nests more than ${DEEPEST} levels`, 'write it with flatter columns');
    const nodes = Array.from({ length: num_children }, () => {
      const element = schema[at++];
      if (element === undefined) throw new Error('its schema ends too soon');
      const { name, repetition_type: how } = element;
      const levels = {
        path: [...above.path, name],
        repetition: above.repetition + Number(how === 'REPEATED'),
        definition: above.definition + Number(how === 'REPEATED' || how === 'OPTIONAL'),
      };
      return { element, children: members(element, levels), ...levels };
    }).filter(({ element, children }) => element.type !== undefined || children.length > 0);
    const names = nodes.map(({ element }) => element.name);
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if (twice !== undefined) throw new Error(`it has two columns of the name '${shortName(twice)}'`);
    return nodes;
  }
  return members(schema[0] ?? {}, { path: [], repetition: 0, definition: 0 });
}

/** The columns as they are stored, in order. */
export function leavesOf(nodes: readonly SchemaNode[]): SchemaNode[] {
  return nodes.flatMap((node) => (node.children.length === 0 ? [node] : leavesOf(node.children)));
}

/** A column without lists and groups. */
export function isFlat({ children, repetition }: SchemaNode): boolean {
  return children.length === 0 && repetition === 0;
}

/** A column of text, as lists and groups come back. */
export const TEXT_ELEMENT = {
  type: 'BYTE_ARRAY',
  repetition_type: 'OPTIONAL',
  converted_type: 'UTF8',
  logical_type: { type: 'STRING' },
} as const;
