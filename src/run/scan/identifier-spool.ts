/**
 * The distinct identifiers of the file on disk, in the order of their numbers: written once, read in order in
 * batches. Which of them are wanted and answered is `answers.ts`'s.
 */
import { grown } from '../../core/growable.js';
import type { SpoolFile } from './spool-file.js';

export interface IdentifierSpool {
  readonly count: number;
  /** Adds the text of the next number. */
  add(text: string): void;
  /** The text of one number. */
  at(index: number): string;
  /** Texts in order, in batches; `first` is the number of the first of the batch. */
  batches(): Generator<{ readonly first: number; readonly texts: readonly string[] }>;
}

const READ_BYTES = 65_536;

export function createIdentifierSpool(file: SpoolFile): IdentifierSpool {
  let count = 0;
  let starts = new Float64Array(1_024);
  return {
    get count() {
      return count;
    },
    add(text) {
      // Values never hold a line break: control characters make a cell invalid.
      const line = `${text}\n`;
      const { buffer, at } = file.room(line.length * 3);
      starts = grown(starts, count + 2);
      file.advance(buffer.write(line, at));
      count += 1;
      starts[count] = file.length;
    },
    at(index) {
      file.flush();
      const from = starts[index] ?? 0;
      return file.read(from, (starts[index + 1] ?? 0) - from - 1).toString('utf8');
    },
    *batches() {
      file.flush();
      let position = 0;
      let first = 0;
      let size = READ_BYTES;
      while (position < file.length) {
        const chunk = file.read(position, Math.min(size, file.length - position));
        const end = chunk.lastIndexOf(0x0a) + 1;
        if (end === 0) {
          size *= 2;
          continue;
        }
        const texts = chunk.toString('utf8', 0, end - 1).split('\n');
        yield { first, texts };
        first += texts.length;
        position += end;
        size = READ_BYTES;
      }
    },
  };
}
