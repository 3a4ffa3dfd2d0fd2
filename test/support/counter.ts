import { Counter } from '../../src/core/counter.js';

export function counterOf<Value>(counted: Iterable<readonly [value: Value, count: number]>): Counter<Value> {
  const counter = new Counter<Value>();
  for (const [value, count] of counted) for (let nth = 0; nth < count; nth += 1) counter.add(value);
  return counter;
}
