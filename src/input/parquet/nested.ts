/** Columns of lists, maps and groups: the cell of a row, from the levels of its values. Pure. */
import { jsonOfCell, NO_FORMATS, type TypedCell, textOfCell } from '../../core/typed-cell.js';
import { isFlat, isOptional, leavesOf, listOf, mapOf, type SchemaNode } from './schema.js';
import { packStored, parquetCell } from './values.js';

/** Of one column as it is stored: repetition level, definition level and value of each entry. */
type Entries = readonly unknown[];
const PER_ENTRY = 3;

const definitionOf = (entries: Entries | undefined): number => Number(entries?.[1]);

/** The cell of a column in one row: its value, or the entries of all its leaves. */
export function cellOf(node: SchemaNode, stored: unknown): TypedCell {
  if (isFlat(node)) return parquetCell(node.element, stored);
  const entries = stored as readonly Entries[];
  if (isOptional(node.element) && definitionOf(entries[0]) === 0) return null;
  return { p: packStored(entries), c: { j: textOf(node, entries) } };
}

const DIFFERENT = 'its lists have different lengths in different columns';

/** JSON; `entries`: of each of its leaves. */
function textOf(node: SchemaNode, entries: readonly Entries[]): string {
  if (node.element.repetition_type !== 'REPEATED') return oneOf(node, entries);
  return `[${itemsOf(node, entries)
    .map((item) => oneOf(node, item))
    .join(',')}]`;
}

/** JSON of one element of what repeats, and of all else. */
function oneOf(node: SchemaNode, entries: readonly Entries[]): string {
  if (isOptional(node.element) && definitionOf(entries[0]) < node.definition) return 'null';
  const { children, element } = node;
  if (children.length === 0) return jsonOfCell(parquetCell(element, entries[0]?.[2] ?? null), NO_FORMATS);
  const list = listOf(node);
  if (list !== null) {
    const { repeated, item } = list;
    return `[${itemsOf(repeated, entries)
      .map((each) => (item === repeated ? oneOf(item, each) : textOf(item, each)))
      .join(',')}]`;
  }
  const map = mapOf(node);
  const [key, value] = map?.children ?? [];
  if (map !== null && key !== undefined && value !== undefined && key.children.length === 0) {
    const pairs = itemsOf(map, entries).map(([name, ...rest]) => {
      const cell = parquetCell(key.element, name?.[2] ?? null);
      return `${JSON.stringify(textOfCell(cell, NO_FORMATS))}:${textOf(value, rest)}`;
    });
    return `{${pairs.join(',')}}`;
  }
  let at = 0;
  const members = children.map((child) => {
    const own = entries.slice(at, at + leavesOf([child]).length);
    at += own.length;
    return `${JSON.stringify(child.element.name)}:${textOf(child, own)}`;
  });
  return `{${members.join(',')}}`;
}

/** The entries of each element of what repeats, of each leaf. */
function itemsOf({ repetition, definition }: SchemaNode, entries: readonly Entries[]): Entries[][] {
  const isEmpty = entries.map((each) => definitionOf(each) < definition);
  if (isEmpty.every(Boolean)) return [];
  const split = entries.map((each) => {
    const starts: number[] = [];
    for (let at = 0; at < each.length; at += PER_ENTRY)
      if (at === 0 || Number(each[at]) <= repetition) starts.push(at);
    return starts.map((start, at) => each.slice(start, starts[at + 1]));
  });
  const count = split[0]?.length ?? 0;
  if (isEmpty.some(Boolean) || split.some(({ length }) => length !== count)) throw new Error(DIFFERENT);
  return Array.from({ length: count }, (_, at) => split.map((items) => items[at] ?? []));
}
