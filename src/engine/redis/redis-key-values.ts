/**
 * The `KeyValueStore` on Redis: a hash for each scope. A value is kept behind the time at which it was written.
 */
import type { KeyValueStore } from '../../stores/key-value-store.js';
import { createReplyReader, texts } from './reply-reader.js';
import { loadScript } from './script.js';
import type { StoreConnection } from './store-connection.js';

const KEY_VALUES = loadScript('key-values.lua');

export function createRedisKeyValues(store: StoreConnection): KeyValueStore {
  return {
    async put(scope, name, text) {
      await store.call(KEY_VALUES, 'put', [scope, name, text], 'on-disk');
    },
    async list(scope) {
      const reader = createReplyReader(texts(await store.call(KEY_VALUES, 'list', [scope])));
      const entries = [];
      while (reader.hasMore())
        entries.push({ name: reader.text(), text: reader.text(), ageMs: reader.number() });
      return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    async remove(scope, name, text) {
      return (await store.call(KEY_VALUES, 'remove', [scope, name, text], 'on-disk')) === 1;
    },
    async claim(scope, name, text, deadAfterMs) {
      return (await store.call(KEY_VALUES, 'claim', [scope, name, text, deadAfterMs], 'on-disk')) === 1;
    },
  };
}
