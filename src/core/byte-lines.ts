const LINE_FEED = 10;

/** Numbers lines, without empty ones; null for one over `mostBytes`. Valid until the next. */
export async function* byteLines(chunks: AsyncIterable<Buffer | string>, mostBytes: number) {
  let number = 1;
  let parts: Buffer[] = [];
  let length = 0;
  const add = (bytes: Buffer) => {
    length += bytes.length;
    if (length > mostBytes) parts = [];
    else parts.push(bytes);
  };
  const line = () => {
    const [first, ...others] = parts;
    const whole = first !== undefined && others.length === 0 ? first : Buffer.concat(parts);
    return [number, length > mostBytes ? null : whole] as const;
  };
  for await (const chunk of chunks) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    let from = 0;
    for (let to = bytes.indexOf(LINE_FEED); to >= 0; to = bytes.indexOf(LINE_FEED, from)) {
      add(bytes.subarray(from, to));
      if (length > 0) yield line();
      number += 1;
      parts = [];
      length = 0;
      from = to + 1;
    }
    // Its memory may hold the next chunk when the line ends.
    add(Buffer.from(bytes.subarray(from)));
  }
  if (length > 0) yield line();
}
