/** Typed arrays that grow: a number for each of a million rows, without an object for each. */

/** The array itself when it has room for `length` numbers, else a copy that has, at least twice as long. */
export function grown<T extends Uint8Array | Uint32Array | Float64Array>(array: T, length: number): T {
  if (length <= array.length) return array;
  const Longer = array.constructor as new (length: number) => T;
  const longer = new Longer(Math.max(length, array.length * 2));
  longer.set(array);
  return longer;
}
