--- @include "prelude.lua"
-- The operations of the run store. The record of a run is kept for 7 days after its last heartbeat,
-- and so is all that belongs to it.

-- The first argument of most operations: a run, its record, and whether there is one.
local function theRun()
  local id = text()
  local run = root .. 'run:' .. id
  return id, run, redis.call('EXISTS', run) == 1
end
local function keep(id)
  for _, kind in ipairs({ 'run:', 'failures:', 'chunks:', 'tallies:' }) do
    redis.call('PEXPIRE', root .. kind .. id, rules.runKeptMs)
  end
end

local function fieldsOf(run)
  local flat, fields = redis.call('HGETALL', run), {}
  for i = 1, #flat, 2 do fields[flat[i]] = flat[i + 1] end
  return #flat > 0 and fields or nil
end
-- A number that may be unknown, and a counter.
local function someNumber(value) return orNull(tonumber(value)) end
local function count(value) return tonumber(value) or 0 end
local function tallyOf(fields)
  return {
    matched = count(fields.matched), notFound = count(fields.notFound), failed = count(fields.failed),
    stored = count(fields.stored), requests = count(fields.requests), billed = count(fields.billed),
  }
end

-- The record of a run; nil where there is none.
local function recordOf(run)
  local fields = fieldsOf(run)
  return fields and {
    id = fields.id, key = fields.key, label = fields.label, settings = fields.settings, status = fields.status,
    asOf = count(fields.asOf), keyStartedAt = count(fields.keyStartedAt), beatAt = count(fields.beatAt),
    reason = fields.reason ~= '' and orNull(fields.reason) or cjson.null,
    rows = someNumber(fields.rows), identifiers = someNumber(fields.identifiers), tally = tallyOf(fields),
    spent = count(fields.spent), overageBilled = count(fields.overageBilled),
    hasEarlierFailures = fields.hasEarlierFailures == '1', isPaused = fields.isPaused ~= nil,
  }
end

-- Permits of a killed start are settled after the next one has begun, so the last starts before a
-- run are added up when it is listed; sums of those before them are stored with each start.
local STARTS_ADDED = 20
local function earlierOf(run)
  local names = { 'previous', 'earlierStarts', 'earlierBilled', 'earlierUnreported', 'earlierOverage',
    'billed', 'spent', 'overageBilled' }
  local at = redis.call('HMGET', run, unpack(names))
  local starts, billed, unreported, overage = count(at[2]), 0, 0, 0
  for _ = 1, STARTS_ADDED do
    local previous = at[1] and root .. 'run:' .. at[1]
    if not previous or redis.call('EXISTS', previous) == 0 then break end
    local before = redis.call('HMGET', previous, unpack(names))
    billed = billed + count(before[6])
    unreported = unreported + math.max(0, count(before[7]) - count(before[6]))
    overage = overage + count(before[8])
    at = before
  end
  return {
    starts = starts, billed = billed + count(at[3]), unreported = unreported + count(at[4]),
    overage = overage + count(at[5]),
  }
end

-- Arguments: id, key, label, settings. Starting a known run again changes nothing. What the ledger
-- judges by stands beside the settings.
function operations.start_run()
  local id, run, isKnown = theRun()
  if not isKnown then
    local key, label, settings = text(), text(), text()
    local chosen, started = object(settings), root .. 'key:' .. key
    if redis.call('HSETNX', started, 'startedAt', shown(now)) == 1 then redis.call('HSETNX', started, 'generation', id) end
    redis.call('PEXPIRE', started, rules.runKeyKeptMs)
    -- This run continues a start that stopped, and represents both in the list.
    local before = redis.call('HGET', started, 'last')
    local last = before and fieldsOf(root .. 'run:' .. before)
    if last and last.status == 'stopped' and last.label == label then
      redis.call('ZREM', root .. 'runs', before)
      local earlier = earlierOf(root .. 'run:' .. before)
      redis.call('HSET', run, 'previous', before, 'earlierStarts', shown(earlier.starts + 1),
        'earlierBilled', shown(earlier.billed + count(last.billed)),
        'earlierUnreported', shown(earlier.unreported + math.max(0, count(last.spent) - count(last.billed))),
        'earlierOverage', shown(earlier.overage + count(last.overageBilled)))
    end
    redis.call('HSET', started, 'last', id)
    redis.call('HSET', run, 'id', id, 'key', key, 'label', label, 'settings', settings, 'status', 'running',
      'asOf', shown(now), 'beatAt', shown(now), 'keyStartedAt', redis.call('HGET', started, 'startedAt'),
      'hasEarlierFailures', shown(redis.call('EXISTS', root .. 'final:' .. key) == 1))
    for _, name in ipairs({ 'account', 'plan', 'overage', 'quotaCap', 'maxRequests', 'maxOverageRequests' }) do
      redis.call('HSET', run, name, shown(chosen[name]))
    end
    redis.call('SADD', root .. 'live:' .. chosen.account, id)
    redis.call('ZADD', root .. 'runs', redis.call('INCR', root .. 'run-number'), id)
    keep(id)
  end
  return recordOf(run)
end

function operations.get_run()
  local _, run = theRun()
  return recordOf(run)
end

-- Arguments: how many. Answers the records, newest first, and forgets the names of expired ones on
-- the way.
function operations.list_runs()
  local limit, found = number(), {}
  while #found < limit do
    local ids = redis.call('ZREVRANGE', root .. 'runs', #found, limit - 1)
    if #ids == 0 then break end
    for _, id in ipairs(ids) do
      local record = recordOf(root .. 'run:' .. id)
      if record then
        record.earlier = earlierOf(root .. 'run:' .. id)
        found[#found + 1] = record
      else
        redis.call('ZREM', root .. 'runs', id)
      end
    end
  end
  return listed(found)
end

-- Answers how far the workers are; nil for an unknown run.
function operations.beat_run()
  local id, run = theRun()
  local fields = fieldsOf(run)
  if not fields then return nil end
  if fields.status == 'running' then
    redis.call('HSET', run, 'beatAt', shown(now))
    redis.call('SADD', root .. 'live:' .. fields.account, id)
    keep(id)
  end
  return {
    chunks = count(fields.chunks), tally = tallyOf(fields),
    halt = fields.haltWhy and { why = fields.haltWhy, sentence = fields.haltSentence } or cjson.null,
    isCancelled = fields.status == 'cancelled', isPausedAlone = fields.isPaused ~= nil,
    isPaused = fields.isPaused ~= nil or redis.call('EXISTS', root .. 'paused') == 1,
  }
end

function operations.set_run_size()
  local _, run, isKnown = theRun()
  if isKnown then redis.call('HSET', run, 'rows', text(), 'identifiers', text()) end
end

-- Arguments: id, who reports, the sum of each counter. What was reported before is not counted
-- again.
function operations.add_tally()
  local id, run, isKnown = theRun()
  if isKnown then
    local tallies, part, sums = root .. 'tallies:' .. id, text(), object()
    local known = cjson.decode(redis.call('HGET', tallies, part) or '{}')
    for name, sum in pairs(sums) do
      local more = sum - (known[name] or 0)
      if more > 0 then
        redis.call('HINCRBY', run, name, shown(more))
        known[name] = sum
      end
    end
    redis.call('HSET', tallies, part, cjson.encode(known))
    redis.call('PEXPIRE', tallies, rules.runKeptMs)
  end
end

function operations.finish_chunk()
  local id, run, isKnown = theRun()
  if isKnown and redis.call('SETBIT', root .. 'chunks:' .. id, text(), 1) == 0 then
    redis.call('HINCRBY', run, 'chunks', 1)
    redis.call('PEXPIRE', root .. 'chunks:' .. id, rules.runKeptMs)
  end
end

-- Arguments: id, the failures. Each key is counted once, however often it is reported. A failure is
-- kept as its reason behind `d` for deferred, `b` for billed or `f` for free.
function operations.add_failures()
  local id, run, isKnown = theRun()
  if isKnown then
    local failures, new = root .. 'failures:' .. id, 0
    local final = root .. 'final:' .. redis.call('HGET', run, 'key')
    for _, failure in ipairs(object()) do
      local kind = failure.isDeferred and 'd' or failure.billed and 'b' or 'f'
      local isNew = redis.call('HSET', failures, failure.key, kind .. failure.reason)
      if kind ~= 'd' then new = new + isNew end
      if failure.isFinal then redis.call('HSET', final, failure.key, kind .. failure.reason) end
    end
    redis.call('PEXPIRE', final, rules.runKeptMs)
    redis.call('HINCRBY', run, 'failed', new)
    redis.call('PEXPIRE', failures, rules.runKeptMs)
  end
end

-- Arguments: id, the keys. Answers those that failed, with their places in the list.
function operations.get_failures()
  local id, run = theRun()
  local keys, found = object(), {}
  local final = redis.call('HGET', run, 'hasEarlierFailures') == '1'
    and fetch(keys, root .. 'final:' .. redis.call('HGET', run, 'key')) or {}
  for i, own in ipairs(fetch(keys, root .. 'failures:' .. id)) do
    local packed = own or final[i]
    if packed then
      local kind = string.sub(packed, 1, 1)
      found[#found + 1] = {
        position = i, reason = string.sub(packed, 2), billed = kind ~= 'f', isDeferred = kind == 'd',
      }
    end
  end
  return listed(found)
end

-- Arguments: id, why, sentence. The first one stays.
function operations.halt_run()
  local _, run, isKnown = theRun()
  if isKnown and redis.call('HSETNX', run, 'haltWhy', text()) == 1 then
    redis.call('HSET', run, 'haltSentence', text())
  end
end

function operations.clear_halt()
  local _, run = theRun()
  redis.call('HDEL', run, 'haltWhy', 'haltSentence')
end

-- Arguments: id, status, reason. Only a running run ends; a cancelled one stays cancelled and
-- learns why it stopped.
function operations.end_run()
  local id, run, isKnown = theRun()
  if isKnown then
    local status, reason = text(), text()
    local fields = redis.call('HMGET', run, 'status', 'key', 'account')
    if fields[1] == 'running' then
      redis.call('HSET', run, 'status', status, 'reason', reason)
      redis.call('HDEL', run, 'isPaused')
      redis.call('SREM', root .. 'live:' .. fields[3], id)
      if status == 'completed' then redis.call('DEL', root .. 'key:' .. fields[2], root .. 'final:' .. fields[2]) end
    elseif fields[1] == 'cancelled' then redis.call('HSET', run, 'reason', reason) end
    keep(id)
  end
end

function operations.cancel_run()
  local id, run, isKnown = theRun()
  if isKnown and redis.call('HGET', run, 'status') == 'running' then
    redis.call('HSET', run, 'status', 'cancelled')
    redis.call('HDEL', run, 'isPaused')
    redis.call('SREM', root .. 'live:' .. redis.call('HGET', run, 'account'), id)
  end
  return isKnown
end

-- Arguments: id, whether it is paused.
function operations.set_run_paused()
  local _, run = theRun()
  if redis.call('HGET', run, 'status') ~= 'running' then return false end
  if flag() then redis.call('HSET', run, 'isPaused', '1') else redis.call('HDEL', run, 'isPaused') end
  return true
end

return answer(operations[text()]())
