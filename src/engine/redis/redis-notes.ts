/**
 * The `NoteStore` on Redis: a hash for each scope. A note is kept behind the time at which it was written.
 */
import type { NoteStore } from '../../stores/notes.js';
import { LUA_PRELUDE } from './lua-prelude.js';
import { createReplyReader, texts } from './reply-reader.js';
import { script } from './script.js';
import type { StoreConnection } from './store-connection.js';

const LUA_NOTES = `
local notes = root .. 'notes:' .. text()
local function split(packed)
  local blank = string.find(packed, ' ', 1, true)
  return tonumber(string.sub(packed, 1, blank - 1)), string.sub(packed, blank + 1)
end
`;

const PUT_SCRIPT = script(
  LUA_PRELUDE,
  LUA_NOTES,
  `redis.call('HSET', notes, text(), shown(now) .. ' ' .. text())`,
);

const LIST_SCRIPT = script(
  LUA_PRELUDE,
  LUA_NOTES,
  `
local packed, found = redis.call('HGETALL', notes), {}
for i = 1, #packed, 2 do
  local at, note = split(packed[i + 1])
  found[#found + 1] = packed[i]
  found[#found + 1] = note
  found[#found + 1] = shown(math.max(0, now - at))
end
return found
`,
);

/** Arguments: scope, name, the text that it must have or nothing. */
const REMOVE_SCRIPT = script(
  LUA_PRELUDE,
  LUA_NOTES,
  `
local name, expected = text(), some()
local packed = redis.call('HGET', notes, name)
if not packed then return 0 end
local _, note = split(packed)
if expected and expected ~= note then return 0 end
return redis.call('HDEL', notes, name)
`,
);

/** Arguments: scope, name, text, age at which an earlier note is dead or nothing. */
const CLAIM_SCRIPT = script(
  LUA_PRELUDE,
  LUA_NOTES,
  `
local name, wanted, deadAfter = text(), text(), some()
local packed = redis.call('HGET', notes, name)
if packed then
  local at, note = split(packed)
  if note ~= wanted and (not deadAfter or now - at <= tonumber(deadAfter)) then return 0 end
end
redis.call('HSET', notes, name, shown(now) .. ' ' .. wanted)
return 1
`,
);

export function createRedisNotes(store: StoreConnection): NoteStore {
  return {
    async put(scope, name, text) {
      await store.call(PUT_SCRIPT, [scope, name, text], 'on-disk');
    },
    async list(scope) {
      const reader = createReplyReader(texts(await store.call(LIST_SCRIPT, [scope])));
      const notes = [];
      while (reader.hasMore())
        notes.push({ name: reader.text(), text: reader.text(), ageMs: reader.number() });
      return notes.sort((one, other) => (one.name < other.name ? -1 : 1));
    },
    async remove(scope, name, text) {
      return (await store.call(REMOVE_SCRIPT, [scope, name, text], 'on-disk')) === 1;
    },
    async claim(scope, name, text, deadAfterMs) {
      return (await store.call(CLAIM_SCRIPT, [scope, name, text, deadAfterMs], 'on-disk')) === 1;
    },
  };
}
