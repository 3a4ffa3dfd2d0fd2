/** The schema of a Parquet file as a tree, with the levels of its values. Pure. */
import type { SchemaElement } from 'hyparquet';
import { uniqueNames } from '../../core/table.js';

/** The key of GeoParquet's metadata (https://geoparquet.org/releases/v1.1.0). */
export const GEO_KEY = 'geo';

export interface SchemaNode {
  readonly element: SchemaElement;
  readonly children: readonly SchemaNode[];
  /** From the column down to it. */
  readonly path: readonly SchemaElement[];
  /** The levels of a value that is there, with all lists and groups around it. */
  readonly repetition: number;
  readonly definition: number;
}

/** The columns of a schema that `assertSchema` accepts. */
export function columnsOf(schema: readonly SchemaElement[]): SchemaNode[] {
  let at = 0;
  function next(above: Omit<SchemaNode, 'element' | 'children'>): SchemaNode {
    const element = schema[at] as SchemaElement;
    at += 1;
    const { repetition_type } = element;
    const levels = {
      path: [...above.path, element],
      repetition: above.repetition + Number(repetition_type === 'REPEATED'),
      definition: above.definition + Number(isOptional(element) || repetition_type === 'REPEATED'),
    };
    const children = Array.from({ length: element.num_children ?? 0 }, () => next(levels));
    return { element, children, ...levels };
  }
  at = 1;
  const root = { path: [], repetition: 0, definition: 0 };
  return Array.from({ length: schema[0]?.num_children ?? 0 }, () => next(root));
}

/** The columns as they are stored, in order. */
export function leavesOf(nodes: readonly SchemaNode[]): SchemaNode[] {
  return nodes.flatMap((node) => (node.children.length === 0 ? [node] : leavesOf(node.children)));
}

export function elementsOf({ element, children }: SchemaNode): SchemaElement[] {
  return [element, ...children.flatMap(elementsOf)];
}

/** Without groups that hold nothing; a name that is taken gets a number. */
export function tidied(nodes: readonly SchemaNode[]): SchemaElement[][] {
  const kept = nodes.filter((node) => leavesOf([node]).some(({ element }) => element.type !== undefined));
  const names = kept.map(({ element }) => element.name);
  const unique = uniqueNames(names, [...names.keys()]);
  return kept.map(({ element: { num_children, ...element }, children }, at) => {
    const isTaken = names.indexOf(element.name) < at;
    const named = isTaken ? { ...element, name: unique[at] ?? '' } : element;
    const members = tidied(children);
    return members.length === 0 ? [named] : [{ ...named, num_children: members.length }, ...members.flat()];
  });
}

export function withRoot(columns: readonly (readonly SchemaElement[])[]): SchemaElement[] {
  return [{ name: 'root', num_children: columns.length }, ...columns.flat()];
}

export function isOptional({ repetition_type }: SchemaElement): boolean {
  return repetition_type === 'OPTIONAL';
}

export function namesOf({ path }: SchemaNode): string[] {
  return path.map(({ name }) => name);
}

/** A column without lists and groups. */
export function isFlat({ children, repetition }: SchemaNode): boolean {
  return children.length === 0 && repetition === 0;
}

/** The repeated part of a list or map. */
function repeatedIn({ children }: SchemaNode): SchemaNode | undefined {
  const [only] = children;
  return children.length === 1 && only?.element.repetition_type === 'REPEATED' ? only : undefined;
}

/**
 * The repeated part of a list and what is an element of it: the part itself or its only member
 * (LogicalTypes.md, "Backward-compatibility rules").
 */
export function listOf(
  node: SchemaNode,
): { readonly repeated: SchemaNode; readonly item: SchemaNode } | null {
  const { element } = node;
  const repeated = repeatedIn(node);
  if (repeated === undefined || !(element.converted_type === 'LIST' || element.logical_type?.type === 'LIST'))
    return null;
  const [item] = repeated.children;
  const { name } = repeated.element;
  const isItem =
    item === undefined ||
    repeated.children.length > 1 ||
    item.element.repetition_type === 'REPEATED' ||
    name === 'array' ||
    name === `${element.name}_tuple`;
  return { repeated, item: isItem ? repeated : item };
}

/** The repeated pairs of a map. */
export function mapOf(node: SchemaNode): SchemaNode | null {
  const { converted_type, logical_type } = node.element;
  const isMap =
    converted_type === 'MAP' || converted_type === 'MAP_KEY_VALUE' || logical_type?.type === 'MAP';
  const repeated = repeatedIn(node);
  return isMap && repeated?.children.length === 2 ? repeated : null;
}
