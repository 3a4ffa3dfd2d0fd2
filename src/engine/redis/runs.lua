--- @include "prelude.lua"
-- The operations of the run store. The record of a run is kept for 7 days after its last heartbeat, and so is all that belongs to it.

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

-- Arguments: id, key, account, then name and value of each other field. Starting a known run again changes nothing.
function operations.start()
  local id, run, isKnown = theRun()
  local key, account = text(), text()
  if not isKnown then
    local started = root .. 'key:' .. key
    if redis.call('HSETNX', started, 'startedAt', shown(now)) == 1 then redis.call('HSETNX', started, 'generation', id) end
    redis.call('PEXPIRE', started, rules.runKeyKeptMs)
    redis.call('HSET', run, 'id', id, 'key', key, 'account', account, 'status', 'running', 'asOf', shown(now),
      'beatAt', shown(now), 'keyStartedAt', redis.call('HGET', started, 'startedAt'))
    while position < #ARGV do redis.call('HSET', run, text(), text()) end
    redis.call('SADD', root .. 'live:' .. account, id)
    redis.call('ZADD', root .. 'runs', redis.call('INCR', root .. 'run-number'), id)
    keep(id)
  end
  return redis.call('HGETALL', run)
end

function operations.get()
  local _, run = theRun()
  return redis.call('HGETALL', run)
end

-- Arguments: how many. Answers the records, newest first, and forgets the names of expired ones on the way.
function operations.list()
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
end

-- Answers nothing for an unknown run, else chunks, the tally, the halt, status and pause.
function operations.heartbeat()
  local id, run, isKnown = theRun()
  if not isKnown then return {} end
  local fields = redis.call('HMGET', run, 'chunks', 'matched', 'notFound', 'failed', 'stored', 'requests', 'billed',
    'haltWhy', 'haltSentence', 'status', 'account')
  if fields[10] == 'running' then
    redis.call('HSET', run, 'beatAt', shown(now))
    redis.call('SADD', root .. 'live:' .. fields[11], id)
    keep(id)
  end
  local reply = {}
  for i = 1, 9 do reply[i] = fields[i] or '' end
  reply[10] = shown(fields[10] == 'cancelled')
  reply[11] = shown(redis.call('EXISTS', root .. 'paused') == 1)
  return reply
end

-- Arguments: id, then name and value of fields to set.
function operations.setFields()
  local _, run, isKnown = theRun()
  if isKnown then
    while position < #ARGV do redis.call('HSET', run, text(), text()) end
  end
end

-- Arguments: id, who reports, then name and sum of each counter. What was reported before is not counted again.
function operations.addTally()
  local id, run, isKnown = theRun()
  if isKnown then
    local tallies, part = root .. 'tallies:' .. id, text()
    local known = cjson.decode(redis.call('HGET', tallies, part) or '{}')
    while position < #ARGV do
      local name, sum = text(), number()
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

function operations.finishChunk()
  local id, run, isKnown = theRun()
  if isKnown and redis.call('SETBIT', root .. 'chunks:' .. id, text(), 1) == 0 then
    redis.call('HINCRBY', run, 'chunks', 1)
    redis.call('PEXPIRE', root .. 'chunks:' .. id, rules.runKeptMs)
  end
end

-- Arguments: id, then key and packed failure. Each key is counted once, however often it is reported.
function operations.fail()
  local id, run, isKnown = theRun()
  if isKnown then
    local failures, new = root .. 'failures:' .. id, 0
    while position < #ARGV do
      local key, failure = text(), text()
      local isNew = redis.call('HSET', failures, key, failure)
      if string.sub(failure, 1, 1) ~= 'd' then new = new + isNew end
    end
    redis.call('HINCRBY', run, 'failed', new)
    redis.call('PEXPIRE', failures, rules.runKeptMs)
  end
end

-- Arguments: id, then the keys. Answers the packed failure of each, or the empty text.
function operations.failures()
  local id = theRun()
  local keys, found = {}, {}
  for i = position + 1, #ARGV do keys[#keys + 1] = ARGV[i] end
  each(keys, function(from, to)
    local part = redis.call('HMGET', root .. 'failures:' .. id, unpack(keys, from, to))
    for i = from, to do found[i] = part[i - from + 1] or '' end
  end)
  return found
end

-- Arguments: id, why, sentence. The first one stays.
function operations.halt()
  local _, run, isKnown = theRun()
  if isKnown and redis.call('HSETNX', run, 'haltWhy', text()) == 1 then
    redis.call('HSET', run, 'haltSentence', text())
  end
end

function operations.clearHalt()
  local _, run = theRun()
  redis.call('HDEL', run, 'haltWhy', 'haltSentence')
end

-- Arguments: id, status, reason. Only a running run ends; a cancelled one stays cancelled and learns why it stopped.
function operations.finish()
  local id, run, isKnown = theRun()
  if isKnown then
    local status, reason = text(), text()
    local fields = redis.call('HMGET', run, 'status', 'key', 'account')
    if fields[1] == 'running' then
      redis.call('HSET', run, 'status', status, 'reason', reason)
      redis.call('SREM', root .. 'live:' .. fields[3], id)
      if status == 'completed' then redis.call('DEL', root .. 'key:' .. fields[2]) end
    elseif fields[1] == 'cancelled' then redis.call('HSET', run, 'reason', reason) end
    keep(id)
  end
end

function operations.cancel()
  local id, run, isKnown = theRun()
  if isKnown and redis.call('HGET', run, 'status') == 'running' then
    redis.call('HSET', run, 'status', 'cancelled')
    redis.call('SREM', root .. 'live:' .. redis.call('HGET', run, 'account'), id)
  end
  return { shown(isKnown) }
end

return operations[text()]()
