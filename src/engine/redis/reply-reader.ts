/**
 * Reads a script's reply, a flat list of texts, in order. The empty text stands for null.
 */

export interface ReplyReader {
  text(): string;
  someText(): string | null;
  number(): number;
  someNumber(): number | null;
  flag(): boolean;
  hasMore(): boolean;
}

/** The reply as texts; throws when it is anything else, which would be a bug in a script. */
export function texts(reply: unknown): readonly string[] {
  if (!Array.isArray(reply) || !reply.every((item) => typeof item === 'string'))
    throw new Error('a script of the Redis engine answered in a shape that it should not');
  return reply;
}

export function list(reply: unknown): readonly unknown[] {
  if (!Array.isArray(reply)) throw new Error('a script of the Redis engine answered without a list');
  return reply;
}

export function createReplyReader(items: readonly string[]): ReplyReader {
  let position = 0;
  const text = () => items[position++] ?? '';
  const someText = () => text() || null;
  return {
    text,
    someText,
    number: () => Number(text()),
    someNumber: () => {
      const value = someText();
      return value === null ? null : Number(value);
    },
    flag: () => text() === '1',
    hasMore: () => position < items.length,
  };
}
