/**
 * Lists of Parquet files with three levels, as they are written today. Older software writes
 * fewer (LogicalTypes.md, "Backward-compatibility rules"): `repeated int32 n`. Their data are the
 * same byte for byte, and with three levels an empty list can be told from none, and be written.
 */
import { type FileMetaData, parquetSchema, type SchemaElement, type SchemaTree } from 'hyparquet';

/** The same file, in whose schema all that repeats is a list of three levels, or a map. */
export function withLists(metadata: FileMetaData): FileMetaData {
  const [root] = metadata.schema;
  if (root === undefined) return metadata;
  const schema = [root, ...parquetSchema(metadata).children.flatMap(elementsOf)];
  if (schema.length === metadata.schema.length) return metadata;
  // Chunks have the order of the leaves.
  const paths = leavesOf(parquetSchema({ schema })).map(({ path }) => path);
  const row_groups = metadata.row_groups.map((group) => ({
    ...group,
    columns: group.columns.map((column, at) => {
      const { meta_data } = column;
      const path_in_schema = paths[at];
      if (meta_data === undefined || path_in_schema === undefined) return column;
      return { ...column, meta_data: { ...meta_data, path_in_schema } };
    }),
  }));
  return { ...metadata, schema, row_groups };
}

const LIST = { converted_type: 'LIST', logical_type: { type: 'LIST' } } as const;

function elementsOf({ element, children }: SchemaTree): SchemaElement[] {
  const [only] = children;
  const isWrapper = only?.element.repetition_type === 'REPEATED' && children.length === 1;
  if (isWrapper && (isMap(element) || isList(element))) {
    const inner = only.children.flatMap(elementsOf);
    // With one member it is the middle of three levels.
    const isMiddle = isMap(element) || only.children.length === 1;
    return [element, ...(isMiddle ? [only.element] : repeatedBelow(only.element)), ...inner];
  }
  const inner = children.flatMap(elementsOf);
  if (element.repetition_type !== 'REPEATED') return [element, ...inner];
  const list = { name: element.name, repetition_type: 'REQUIRED', num_children: 1, ...LIST } as const;
  return [list, ...repeatedBelow(element), ...inner];
}

/** What repeats, as the lower two levels of a list. */
function repeatedBelow(element: SchemaElement): SchemaElement[] {
  return [
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { ...element, name: 'element', repetition_type: 'REQUIRED' },
  ];
}

/** The columns as they are stored, in order. */
export function leavesOf(tree: SchemaTree): SchemaTree[] {
  return tree.children.length === 0 ? [tree] : tree.children.flatMap(leavesOf);
}

export function isList({ converted_type, logical_type }: SchemaElement): boolean {
  return converted_type === 'LIST' || logical_type?.type === 'LIST';
}

/** Whether a group has pairs of keys and values. */
export function isMap({ converted_type, logical_type }: SchemaElement): boolean {
  return converted_type === 'MAP' || converted_type === 'MAP_KEY_VALUE' || logical_type?.type === 'MAP';
}
