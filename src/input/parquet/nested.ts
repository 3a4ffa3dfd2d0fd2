/** Reads columns of lists, maps and groups, each row as JSON. */
import { jsonOfCell, NO_FORMATS, textOfCell } from '../../core/typed-cell.js';
import { MAX_RECORD_BYTES } from '../text/record-splitter.js';
import type { SchemaNode } from './footer.js';
import type { ColumnReader } from './pages.js';
import { parquetCell } from './values.js';

interface JsonReader {
  readonly leaves: readonly ColumnReader[];
  read(): string;
}

/** What the only member of a group is: items of a list, groups around items, pairs of a map. */
type Role = 'member' | 'items' | 'holders' | 'pairs';

/** Follows LogicalTypes.md, "Nested Types", with its "Backward-compatibility rules". */
function roleIn({ element, children }: SchemaNode): Role {
  const { name, converted_type: converted, logical_type: logical } = element;
  const [only] = children;
  const [first, second] = only?.children ?? [];
  if (children.length !== 1 || only?.element.repetition_type !== 'REPEATED') return 'member';
  if (converted === 'LIST' || logical?.type === 'LIST') {
    const { name: own } = only.element;
    const isOld = own === 'array' || own === `${name}_tuple` || first?.element.repetition_type === 'REPEATED';
    return isOld || only.children.length !== 1 ? 'items' : 'holders';
  }
  const isMap = converted === 'MAP' || converted === 'MAP_KEY_VALUE' || logical?.type === 'MAP';
  return isMap && second && only.children.length === 2 && !first?.children.length ? 'pairs' : 'member';
}

function jsonReader(node: SchemaNode, readers: Iterator<ColumnReader>, role: Role): JsonReader {
  const { element, children, definition, repetition } = node;
  const inner = roleIn(node);
  const keys = children.map((child) => JSON.stringify(child.element.name));
  const members = children.map((child) => jsonReader(child, readers, inner));
  const leaves = children.length === 0 ? [readers.next().value] : members.flatMap((member) => member.leaves);
  const [first] = members;
  const areAll = (test: (leaf: ColumnReader) => boolean): boolean => {
    const count = leaves.filter(test).length;
    if (count > 0 && count < leaves.length)
      throw new Error('its lists have different lengths in different columns');
    return count > 0;
  };

  function one(): string {
    if (children.length === 0) return jsonOfCell(parquetCell(element, leaves[0]?.next()), NO_FORMATS);
    if (role === 'pairs') {
      const key = parquetCell(children[0]?.element ?? element, leaves[0]?.next());
      return `${JSON.stringify(textOfCell(key, NO_FORMATS))}:${members[1]?.read()}`;
    }
    if (first !== undefined && (role === 'holders' || inner !== 'member')) return first.read();
    return `{${members.map((each, at) => `${keys[at]}:${each.read()}`)}}`;
  }

  function many(): string {
    const items: string[] = [];
    let left = MAX_RECORD_BYTES;
    do {
      const item = one();
      if (left >= 0) items.push(item);
      left -= item.length;
    } while (areAll((leaf) => leaf.repetition() === repetition));
    return role === 'pairs' ? `{${items}}` : `[${items}]`;
  }

  const isRepeated = element.repetition_type === 'REPEATED';
  return {
    leaves,
    read() {
      const isThere = !areAll((leaf) => leaf.definition() < definition);
      if (isThere) return isRepeated ? many() : one();
      for (const leaf of leaves) leaf.next();
      return isRepeated ? (role === 'pairs' ? '{}' : '[]') : 'null';
    },
  };
}

/** Returns a function that reads the next row of a column; null for a row without a value. */
export function rowsAsJson(node: SchemaNode, readers: Iterator<ColumnReader>): () => string | null {
  const { leaves, read } = jsonReader(node, readers, 'member');
  return () => {
    if (leaves.some((leaf) => leaf.repetition() !== 0))
      throw new Error('its rows do not begin where its footer says');
    const json = read();
    return json === 'null' ? null : json;
  };
}
