/**
 * The `KeyValueStore` over SQL.
 */
import type { Entry, KeyValueStore } from '../../stores/key-value-store.js';
import type { StoreCalls } from './database.js';
import { storableText } from './database.js';

export function createSqlKeyValues(calls: StoreCalls): KeyValueStore {
  return {
    async put(scope, name, text) {
      await calls.value('put_note', scope, name, storableText(text));
    },
    async list(scope) {
      return (await calls.value('list_notes', scope)) as Entry[];
    },
    async remove(scope, name, text) {
      const said = text === null ? null : storableText(text);
      return (await calls.value('remove_note', scope, name, said)) === true;
    },
    async claim(scope, name, text, deadAfterMs) {
      return (await calls.value('claim_note', scope, name, storableText(text), deadAfterMs)) === true;
    },
  };
}
