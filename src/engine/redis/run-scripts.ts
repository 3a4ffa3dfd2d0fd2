/**
 * The scripts of the run store. A run's record lives for 7 days after its last sign of life, and what belongs to it goes
 * with it; a running one says so with every heartbeat.
 */
import { RUN_KEY_KEPT_MS } from './lua-permits.js';
import { LUA_PRELUDE } from './lua-prelude.js';
import { script } from './script.js';

const RUN_KEPT_MS = 7 * 86_400_000;

const LUA_RUN = `
local id = text()
local run = root .. 'run:' .. id
local isKnown = redis.call('EXISTS', run) == 1
local function keep()
  for _, kind in ipairs({ 'run:', 'failures:', 'chunks:', 'tallies:' }) do
    redis.call('PEXPIRE', root .. kind .. id, ${RUN_KEPT_MS})
  end
end
`;

/** Arguments: id, key, account, then name and value of each other field. Starting a known run again changes nothing. */
export const START_SCRIPT = script(
  LUA_PRELUDE,
  LUA_RUN,
  `
local key, account = text(), text()
if not isKnown then
  local started = root .. 'key:' .. key
  if redis.call('HSETNX', started, 'startedAt', shown(now)) == 1 then redis.call('HSETNX', started, 'generation', id) end
  redis.call('PEXPIRE', started, ${RUN_KEY_KEPT_MS})
  redis.call('HSET', run, 'id', id, 'key', key, 'account', account, 'status', 'running', 'asOf', shown(now),
    'beatAt', shown(now), 'keyStartedAt', redis.call('HGET', started, 'startedAt'))
  while position < #ARGV do redis.call('HSET', run, text(), text()) end
  redis.call('SADD', root .. 'live:' .. account, id)
  redis.call('ZADD', root .. 'runs', redis.call('INCR', root .. 'run-number'), id)
  keep()
end
return redis.call('HGETALL', run)
`,
);

export const GET_SCRIPT = script(LUA_PRELUDE, LUA_RUN, `return redis.call('HGETALL', run)`);

/** Arguments: how many. Answers the records, newest first, and forgets the names of expired ones on the way. */
export const LIST_SCRIPT = script(
  LUA_PRELUDE,
  `
local limit, found, from = number(), {}, 0
while #found < limit do
  local ids = redis.call('ZREVRANGE', root .. 'runs', from, from + limit - 1)
  if #ids == 0 then break end
  for _, id in ipairs(ids) do
    local record = redis.call('HGETALL', root .. 'run:' .. id)
    if #record == 0 then redis.call('ZREM', root .. 'runs', id)
    elseif #found < limit then
      found[#found + 1] = record
      from = from + 1
    end
  end
end
return found
`,
);

/** Answers nothing for an unknown run, else chunks, the tally, the halt, status and pause. */
export const BEAT_RUN_SCRIPT = script(
  LUA_PRELUDE,
  LUA_RUN,
  `
if not isKnown then return {} end
local fields = redis.call('HMGET', run, 'chunks', 'matched', 'notFound', 'failed', 'stored', 'requests', 'billed',
  'haltWhy', 'haltSentence', 'status', 'account')
if fields[10] == 'running' then
  redis.call('HSET', run, 'beatAt', shown(now))
  redis.call('SADD', root .. 'live:' .. fields[11], id)
  keep()
end
local reply = {}
for i = 1, 9 do reply[i] = fields[i] or '' end
reply[10] = shown(fields[10] == 'cancelled')
reply[11] = shown(redis.call('EXISTS', root .. 'paused') == 1)
return reply
`,
);

/** Arguments: id, then name and value of fields to set. */
export const SET_FIELDS_SCRIPT = script(
  LUA_PRELUDE,
  LUA_RUN,
  `
if isKnown then
  while position < #ARGV do redis.call('HSET', run, text(), text()) end
end
`,
);

/** Arguments: id, who reports, then name and sum of each counter. What was told before is not counted again. */
export const TALLY_SCRIPT = script(
  LUA_PRELUDE,
  LUA_RUN,
  `
if isKnown then
  local tallies, part = root .. 'tallies:' .. id, text()
  local told = cjson.decode(redis.call('HGET', tallies, part) or '{}')
  while position < #ARGV do
    local name, sum = text(), number()
    local more = sum - (told[name] or 0)
    if more > 0 then
      redis.call('HINCRBY', run, name, shown(more))
      told[name] = sum
    end
  end
  redis.call('HSET', tallies, part, cjson.encode(told))
  redis.call('PEXPIRE', tallies, ${RUN_KEPT_MS})
end
`,
);

export const FINISH_CHUNK_SCRIPT = script(
  LUA_PRELUDE,
  LUA_RUN,
  `
if isKnown and redis.call('SETBIT', root .. 'chunks:' .. id, text(), 1) == 0 then
  redis.call('HINCRBY', run, 'chunks', 1)
  redis.call('PEXPIRE', root .. 'chunks:' .. id, ${RUN_KEPT_MS})
end
`,
);

/** Arguments: id, then key and packed failure. Each key is counted once, however often it is told. */
export const FAIL_SCRIPT = script(
  LUA_PRELUDE,
  LUA_RUN,
  `
if isKnown then
  local failures, new = root .. 'failures:' .. id, 0
  while position < #ARGV do
    local key, failure = text(), text()
    local isNew = redis.call('HSET', failures, key, failure)
    if string.sub(failure, 1, 1) ~= 'd' then new = new + isNew end
  end
  redis.call('HINCRBY', run, 'failed', new)
  redis.call('PEXPIRE', failures, ${RUN_KEPT_MS})
end
`,
);

/** Arguments: id, then the keys. Answers the packed failure of each, or the empty text. */
export const FAILURES_SCRIPT = script(
  LUA_PRELUDE,
  LUA_RUN,
  `
local keys, found = {}, {}
for i = position + 1, #ARGV do keys[#keys + 1] = ARGV[i] end
each(keys, function(from, to)
  local part = redis.call('HMGET', root .. 'failures:' .. id, unpack(keys, from, to))
  for i = from, to do found[i] = part[i - from + 1] or '' end
end)
return found
`,
);

/** Arguments: id, why, sentence. The first one stays. */
export const HALT_SCRIPT = script(
  LUA_PRELUDE,
  LUA_RUN,
  `
if isKnown and redis.call('HSETNX', run, 'haltWhy', text()) == 1 then
  redis.call('HSET', run, 'haltSentence', text())
end
`,
);

export const CLEAR_HALT_SCRIPT = script(
  LUA_PRELUDE,
  LUA_RUN,
  `redis.call('HDEL', run, 'haltWhy', 'haltSentence')`,
);

/** Arguments: id, status, reason. Only a running run ends; a cancelled one stays cancelled and learns why it stopped. */
export const END_SCRIPT = script(
  LUA_PRELUDE,
  LUA_RUN,
  `
if isKnown then
  local status, reason = text(), text()
  local fields = redis.call('HMGET', run, 'status', 'key', 'account')
  if fields[1] == 'running' then
    redis.call('HSET', run, 'status', status, 'reason', reason)
    redis.call('SREM', root .. 'live:' .. fields[3], id)
    if status == 'completed' then redis.call('DEL', root .. 'key:' .. fields[2]) end
  elseif fields[1] == 'cancelled' then redis.call('HSET', run, 'reason', reason) end
  keep()
end
`,
);

export const CANCEL_SCRIPT = script(
  LUA_PRELUDE,
  LUA_RUN,
  `
if isKnown and redis.call('HGET', run, 'status') == 'running' then
  redis.call('HSET', run, 'status', 'cancelled')
  redis.call('SREM', root .. 'live:' .. redis.call('HGET', run, 'account'), id)
end
return { shown(isKnown) }
`,
);
