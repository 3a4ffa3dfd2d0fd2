--- @include "prelude.lua"
-- The operations of the run store. A run and its data are kept for 7 days after its last heartbeat.

-- Reads the id of a run. Returns it, the key of its record, and whether there is a record.
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
local function someNumber(value) return orNull(tonumber(value)) end
local function count(value) return tonumber(value) or 0 end
local function tallyOf(fields)
  return {
    matched = count(fields.matched), notFound = count(fields.notFound), failed = count(fields.failed),
    stored = count(fields.stored), requests = count(fields.requests), billed = count(fields.billed),
  }
end

local function pauseOf(owner)
  return stored(redis.call('HGET', root .. 'pauses', owner) or nil)
end
local function orderOf(order)
  local isOurs = order and type(order.by) == 'string' and type(order.at) == 'number'
  return isOurs and { by = order.by, at = order.at } or cjson.null
end
local function cancelOf(job)
  return stored(redis.call('GET', root .. 'cancel:' .. job) or nil)
end
local function pause(owner, label, by, id, at)
  redis.call('HSETNX', root .. 'pauses', owner,
    cjson.encode({ owner = owner, label = label, by = by, at = at or now, run = id }))
end

local function recordOf(fields)
  local canResume = fields and (fields.status == 'running' or fields.status == 'stopped')
  return fields and {
    id = fields.id, key = fields.key, label = fields.label, settings = fields.settings,
    status = fields.status,
    asOf = count(fields.asOf), keyStartedAt = count(fields.keyStartedAt),
    heartbeatAt = count(fields.heartbeatAt),
    stop = fields.stop ~= '' and orNull(fields.stop) or cjson.null,
    rows = someNumber(fields.rows), identifiers = someNumber(fields.identifiers), tally = tallyOf(fields),
    spent = count(fields.spent), overageBilled = count(fields.overageBilled),
    hasEarlierFailures = fields.hasEarlierFailures == '1', job = fields.job, owner = fields.owner,
    paused = orderOf(canResume and pauseOf(fields.owner)),
    cancelled = orderOf(fields.cancelledBy and { by = fields.cancelledBy, at = count(fields.cancelledAt) }),
    endedAt = someNumber(fields.endedAt),
  }
end

-- Adds the counts of a start to the sums of earlier ones.
local SUMS = { 'starts', 'matched', 'notFound', 'billed', 'unreported', 'overage', 'tookMs' }
local function plus(earlier, start)
  local own = {
    starts = 1, matched = count(start.matched), notFound = count(start.notFound),
    billed = count(start.billed), overage = count(start.overageBilled),
    unreported = math.max(0, count(start.spent) - count(start.billed)),
    tookMs = math.max(0, count(start.endedAt) - count(start.asOf)),
  }
  for _, name in ipairs(SUMS) do own[name] = own[name] + count(earlier[name]) end
  return own
end
-- Permits of a killed start may be settled after the next start. So a list adds up the last starts
-- anew, and takes the sums before them from the record of a start.
local STARTS_ADDED = 20
local function earlierOf(fields, most)
  local previous = most > 0 and fields.previous and fieldsOf(root .. 'run:' .. fields.previous)
  if previous then return plus(earlierOf(previous, most - 1), previous) end
  local kept, sums = stored(fields.earlier) or {}, {}
  for _, name in ipairs(SUMS) do sums[name] = count(kept[name]) end
  return sums
end

-- Ends a run as cancelled. Its requests in flight are still counted.
local function endAsCancelled(run, account, id, order)
  redis.call('HSET', run, 'status', 'cancelled', 'cancelledBy', order.by, 'cancelledAt', shown(order.at))
  redis.call('HSETNX', run, 'endedAt', shown(now))
  redis.call('SREM', root .. 'live:' .. account, id)
end

-- Returns ids of live runs, the newest first, and forgets the heartbeats of others.
local function aliveIds()
  local heartbeats, numbers = root .. 'heartbeats', {}
  redis.call('ZREMRANGEBYSCORE', heartbeats, '-inf', shown(now - rules.runDeadAfterMs))
  local ids = redis.call('ZRANGEBYSCORE', heartbeats, '-inf', shown(now + rules.runHeartbeatAheadMs))
  for _, id in ipairs(ids) do numbers[id] = count(redis.call('ZSCORE', root .. 'runs', id)) end
  table.sort(ids, function(one, other) return numbers[one] > numbers[other] end)
  return ids
end

-- Keeps the generation of a live run (`README.md`) as its key's, also after another run completed.
local function rejoin(key, generation)
  redis.call('SET', root .. 'key:' .. key, generation, 'NX', 'PX', rules.runKeyKeptMs)
  redis.call('PEXPIRE', root .. 'generation:' .. generation, rules.runKeyKeptMs)
end

-- Arguments: id, key, label, settings, job, owner. A known run stays as it is.
function operations.start_run()
  local id, run, isKnown = theRun()
  if not isKnown then
    local key, label, settings, job, owner = text(), text(), text(), text(), text()
    local chosen, generation = object(settings), redis.call('GET', root .. 'key:' .. key) or id
    local started = root .. 'generation:' .. generation
    redis.call('SET', root .. 'key:' .. key, generation, 'PX', rules.runKeyKeptMs)
    redis.call('HSETNX', started, 'startedAt', shown(now))
    redis.call('PEXPIRE', started, rules.runKeyKeptMs)
    -- The run continues a start that stopped or was cancelled, and replaces it in the list.
    local before = redis.call('HGET', started, 'last')
    local last = before and fieldsOf(root .. 'run:' .. before)
    if last and (last.status == 'stopped' or last.status == 'cancelled') and last.label == label then
      redis.call('ZREM', root .. 'runs', before)
      local earlier = plus(earlierOf(last, STARTS_ADDED), last)
      redis.call('HSET', run, 'previous', before, 'earlier', cjson.encode(earlier))
    end
    redis.call('HSET', started, 'last', id)
    redis.call('SET', root .. 'owner:' .. owner, id, 'PX', rules.runKeptMs)
    redis.call('HSET', run, 'id', id, 'key', key, 'generation', generation, 'label', label, 'settings',
      settings, 'status', 'running',
      'job', job, 'owner', owner,
      'asOf', shown(now), 'heartbeatAt', shown(now), 'keyStartedAt', redis.call('HGET', started, 'startedAt'),
      'hasEarlierFailures', shown(redis.call('EXISTS', root .. 'final:' .. generation) == 1))
    for _, name in ipairs({ 'account', 'plan', 'overage', 'quotaCap', 'maxRequests',
      'maxOverageRequests' }) do
      redis.call('HSET', run, name, shown(chosen[name]))
    end
    redis.call('SADD', root .. 'live:' .. chosen.account, id)
    -- Names of expired runs go here, since a list does not look so far back.
    for _, oldest in ipairs(redis.call('ZRANGE', root .. 'runs', 0, 9)) do
      if redis.call('EXISTS', root .. 'run:' .. oldest) == 0 then
        redis.call('ZREM', root .. 'runs', oldest)
      end
    end
    redis.call('ZADD', root .. 'runs', redis.call('INCR', root .. 'run-number'), id)
    redis.call('ZADD', root .. 'heartbeats', shown(now), id)
    local cancel = cancelOf(job)
    if cancel then endAsCancelled(run, chosen.account, id, cancel) end
    keep(id)
  end
  return recordOf(fieldsOf(run))
end

function operations.get_run()
  return recordOf(fieldsOf(root .. 'run:' .. text()))
end

-- Arguments: limit. Answers all live runs, then the newest others.
function operations.list_runs()
  local limit, found, isListed, from = number(), {}, {}, 0
  local function add(id, fields)
    local record = recordOf(fields)
    record.earlier = earlierOf(fields, STARTS_ADDED)
    found[#found + 1], isListed[id] = record, true
  end
  for _, id in ipairs(aliveIds()) do
    local fields = fieldsOf(root .. 'run:' .. id)
    if fields and fields.status == 'running' then add(id, fields) end
  end
  while #found < limit do
    local ids = redis.call('ZREVRANGE', root .. 'runs', from, from + limit - 1)
    if #ids == 0 then break end
    for _, id in ipairs(ids) do
      local fields = not isListed[id] and fieldsOf(root .. 'run:' .. id)
      if not fields and not isListed[id] then redis.call('ZREM', root .. 'runs', id) else from = from + 1 end
      if fields and #found < limit then add(id, fields) end
    end
  end
  return listed(found)
end

function operations.heartbeat_run()
  local id, run = theRun()
  local fields = fieldsOf(run)
  if not fields then return nil end
  if fields.status == 'running' then
    redis.call('HSET', run, 'heartbeatAt', shown(now))
    rejoin(fields.key, fields.generation)
    redis.call('SADD', root .. 'live:' .. fields.account, id)
    redis.call('ZADD', root .. 'heartbeats', shown(now), id)
    keep(id)
  end
  local isPausedAlone = fields.status == 'running' and isPaused(fields.owner)
  return {
    chunks = count(fields.chunks), tally = tallyOf(fields),
    halt = orNull(fields.halt),
    isCancelled = fields.status == 'cancelled', isPausedAlone = isPausedAlone,
    isPaused = isPausedAlone or isPaused(allSpending),
  }
end

function operations.set_run_size()
  local _, run, isKnown = theRun()
  if isKnown then redis.call('HSET', run, 'rows', text(), 'identifiers', text()) end
end

-- Arguments: id, reporter, its totals so far by counter.
function operations.add_tally()
  local id, run, isKnown = theRun()
  if isKnown then
    local tallies, part, sums = root .. 'tallies:' .. id, text(), object()
    local known = stored(redis.call('HGET', tallies, part) or nil) or {}
    for name, sum in pairs(sums) do
      local more = sum - (tonumber(known[name] or 0) or 0)
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

-- Arguments: id, failures. Each key counts once, however often it is reported. Stored as `d` for
-- deferred, `b` for billed or `f` for free, then the reason.
function operations.add_failures()
  local id, run, isKnown = theRun()
  if isKnown then
    local failures, new = root .. 'failures:' .. id, 0
    local final = root .. 'final:' .. redis.call('HGET', run, 'generation')
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

-- Arguments: id, keys. Answers the failures among them, with their places in the list.
function operations.get_failures()
  local id, run = theRun()
  local keys, found = object(), {}
  local final = redis.call('HGET', run, 'hasEarlierFailures') == '1'
    and fetch(keys, root .. 'final:' .. redis.call('HGET', run, 'generation')) or {}
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

-- Arguments: id, halt. An earlier halt stays.
function operations.halt_run()
  local _, run, isKnown = theRun()
  if isKnown then redis.call('HSETNX', run, 'halt', text()) end
end

function operations.clear_halt()
  local _, run = theRun()
  redis.call('HDEL', run, 'halt')
end

-- Arguments: id, status, why it stopped. A cancelled run only takes the reason.
function operations.end_run()
  local id, run, isKnown = theRun()
  if isKnown then
    local status, stop = text(), text()
    local fields = fieldsOf(run)
    if fields.status == 'running' then
      redis.call('HSET', run, 'status', status, 'stop', stop, 'endedAt', shown(now))
      redis.call('SREM', root .. 'live:' .. fields.account, id)
      if status == 'completed' then
        local key = root .. 'key:' .. fields.key
        local isOfDay = string.sub(fields.key, 1, 4) == 'day:'
        if not isOfDay and redis.call('GET', key) == fields.generation then redis.call('DEL', key) end
        redis.call('PEXPIRE', root .. 'generation:' .. fields.generation, rules.runKeptMs)
        -- A file's job has ended; a command or a schedule runs again, and stays paused.
        if fields.owner == fields.job then redis.call('HDEL', root .. 'pauses', fields.owner) end
      -- A killed run kept its generation only as long as it sent heartbeats.
      elseif (stored(stop) or {}).type ~= 'killed' then rejoin(fields.key, fields.generation) end
    elseif fields.status == 'cancelled' then redis.call('HSET', run, 'stop', stop) end
    keep(id)
  end
end

local function latestOf(owner)
  local id = redis.call('GET', root .. 'owner:' .. owner)
  return id and fieldsOf(root .. 'run:' .. id)
end

-- Returns the run that an order is for: the named one or, if that is not alive, its owner's latest.
local function orderedRun(id)
  local fields = fieldsOf(root .. 'run:' .. id)
  local isOver = fields and (fields.status == 'completed' or fields.status == 'cancelled')
  if not fields or isOver or fields.status == 'running' and hasHeartbeat(fields.heartbeatAt) then
    return fields
  end
  return latestOf(fields.owner) or fields
end

-- Cancels a job and its running starts. `fields`: the owner's latest known run, or nil.
local function cancel(job, order, fields)
  local leftMs = order.at + rules.runKeyKeptMs - now
  redis.call('SET', root .. 'cancel:' .. job, cjson.encode(order), 'NX', 'PX', shown(leftMs))
  redis.call('ZADD', root .. 'cancels', 'NX', shown(order.at), job)
  redis.call('ZREMRANGEBYSCORE', root .. 'cancels', '-inf', shown(now - rules.runKeyKeptMs))
  if not fields then return end
  local starts = { fields, latestOf(fields.owner) }
  for _, id in ipairs(redis.call('SMEMBERS', root .. 'live:' .. fields.account)) do
    starts[#starts + 1] = fieldsOf(root .. 'run:' .. id)
  end
  for _, each in ipairs(starts) do
    if each.owner == fields.owner and each.job == job and each.status == 'running' then
      endAsCancelled(root .. 'run:' .. each.id, each.account, each.id, order)
    end
  end
end

-- Arguments: id, by whom. Also ends other starts of the job that still run.
function operations.cancel_run()
  local fields = orderedRun(text())
  if not fields then return 'unknown' end
  if fields.status == 'completed' then return 'ended' end
  if fields.status ~= 'cancelled' then
    local order = { by = text(), at = now }
    cancel(fields.job, order, fields)
    endAsCancelled(root .. 'run:' .. fields.id, fields.account, fields.id, order)
    -- The pause of a schedule stays for its next runs.
    if fields.owner == fields.job or fields.owner == fields.key then
      redis.call('HDEL', root .. 'pauses', fields.owner)
    end
  end
  return 'done'
end

-- Arguments: job, by whom, when. An order older than 90 days does nothing.
function operations.cancel_job()
  local job, by, at = text(), text(), some()
  local order = { by = by, at = tonumber(at) or now }
  if order.at <= now - rules.runKeyKeptMs then return end
  cancel(job, order, latestOf(job))
  redis.call('HDEL', root .. 'pauses', job)
end

function operations.uncancel_job()
  local job = text()
  redis.call('DEL', root .. 'cancel:' .. job)
  redis.call('ZREM', root .. 'cancels', job)
end

function operations.list_cancels()
  local found = {}
  for _, job in ipairs(redis.call('ZRANGE', root .. 'cancels', 0, -1)) do
    local order = cancelOf(job)
    if order then found[#found + 1] = { job = job, by = order.by, at = order.at } end
  end
  return listed(found)
end

-- Arguments: id, by whom.
function operations.pause_run()
  local fields = orderedRun(text())
  if not fields then return 'unknown' end
  if fields.status ~= 'running' and fields.status ~= 'stopped' then return 'ended' end
  pause(fields.owner, fields.label, text(), fields.id)
  return 'done'
end

-- Arguments: owner, label, by whom, named run, when.
function operations.pause_owner()
  local owner, label, by, run, at = text(), text(), text(), some(), some()
  pause(owner, label, by, orNull(run), tonumber(at))
end

function operations.resume_owner()
  return redis.call('HDEL', root .. 'pauses', text()) == 1
end

function operations.list_pauses()
  local found = {}
  for _, each in ipairs(redis.call('HVALS', root .. 'pauses')) do found[#found + 1] = stored(each) end
  return listed(found)
end

-- Arguments: jobs, each with its owner.
function operations.get_orders()
  local found = {}
  for i, each in ipairs(object()) do
    found[i] = { cancelled = orderOf(cancelOf(each.job)), paused = orderOf(pauseOf(each.owner)) }
  end
  return listed(found)
end

return answer(operations[text()]())
