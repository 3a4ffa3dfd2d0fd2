/**
 * The `NoteStore` on Redis: a hash for each scope. A note is kept behind the time at which it was written.
 */
import type { NoteStore } from '../../stores/notes.js';
import { createReplyReader, texts } from './reply-reader.js';
import { loadScript } from './script.js';
import type { StoreConnection } from './store-connection.js';

const NOTES = loadScript('notes.lua');

export function createRedisNotes(store: StoreConnection): NoteStore {
  return {
    async put(scope, name, text) {
      await store.call(NOTES, 'put', [scope, name, text], 'on-disk');
    },
    async list(scope) {
      const reader = createReplyReader(texts(await store.call(NOTES, 'list', [scope])));
      const notes = [];
      while (reader.hasMore())
        notes.push({ name: reader.text(), text: reader.text(), ageMs: reader.number() });
      return notes.sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    async remove(scope, name, text) {
      return (await store.call(NOTES, 'remove', [scope, name, text], 'on-disk')) === 1;
    },
    async claim(scope, name, text, deadAfterMs) {
      return (await store.call(NOTES, 'claim', [scope, name, text, deadAfterMs], 'on-disk')) === 1;
    },
  };
}
