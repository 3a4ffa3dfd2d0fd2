/**
 * What stores take and give as JSON: bytes travel as base64.
 */

interface PackedBytes {
  readonly bytes64: string;
}

/** A value that `JSON.stringify` takes without loss, for {@link unpackValue} on the other side. */
export function packValue(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return { bytes64: value.toString('base64') } satisfies PackedBytes;
  if (Array.isArray(value)) return value.map(packValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, packValue(each)]));
}

export function unpackValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unpackValue);
  if (typeof value !== 'object' || value === null) return value;
  const { bytes64 } = value as Partial<PackedBytes>;
  if (typeof bytes64 === 'string') return Buffer.from(bytes64, 'base64');
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unpackValue(each)]));
}
