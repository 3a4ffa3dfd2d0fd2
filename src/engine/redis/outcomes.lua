--- @include "answers.lua"
-- The operations of the outcome store. Batches are one call each; bodies pass through as bytes.

-- Answers the place of each answer, is matched, billed, fetched at, fresh until or null, length of
-- the body or null; then all bodies in a row. placeOf gives nil for one that is left out.
local function describe(names, placeOf)
  local found, bodies = {}, {}
  for i, value in ipairs(fetch(names)) do
    local place = value and placeOf(i, value)
    if place then
      local matched, fetchedAt, freshUntil, flags, before = readHeader(value)
      if matched == nil then error('not a stored outcome: ' .. names[i]) end
      local body = has(flags, HAS_BODY) and string.sub(value, before + 1) or nil
      found[#found + 1] = {
        place, matched, has(flags, BILLED), fetchedAt, orNull(freshUntil), body and #body or cjson.null,
      }
      bodies[#bodies + 1] = body
    end
  end
  return listed(found), table.concat(bodies)
end

-- The next arguments: since when matched answers and others are fresh, and the run's start.
local function freshnessRule()
  local matchedSince, missingSince, asOf = number(), number(), number()
  return function(value)
    local matched, fetchedAt, freshUntil = readHeader(value)
    if matched == nil or (freshUntil and freshUntil <= asOf) then return false end
    return fetchedAt >= (matched and matchedSince or missingSince)
  end
end

-- Arguments: worker, the keys, the rule of freshness. Answers one letter per key.
function operations.claim_keys()
  local worker, keys, isFresh = text(), object(), freshnessRule()
  local values, claims = fetch(namesOf(keys, 'o:')), fetch(namesOf(keys, 'claim:'))
  noteHeartbeat(worker)

  -- Permits that are out, by key; read where a claim of a dead worker is taken over.
  local out
  local function countPermitOf(dead, key)
    if out == nil then
      out = {}
      local all = redis.call('HGETALL', root .. 'permits')
      for i = 1, #all, 2 do
        local permit = unpackPermit(all[i + 1])
        out[permit.key] = out[permit.key] or {}
        table.insert(out[permit.key], { id = all[i], permit = permit })
      end
    end
    for _, held in ipairs(out[key] or {}) do
      local permit = held.permit
      if permit.worker == dead and permit.run ~= '' then
        -- It is counted once, however the permit ends.
        permit.worker = ''
        redis.call('HSET', root .. 'permits', held.id, packPermit(permit))
        local name = root .. 'unusable:' .. permit.run
        redis.call('HINCRBY', name, key, 1)
        redis.call('PEXPIRE', name, rules.unusableKeptMs)
      end
    end
  end

  local answers, decided = {}, {}
  for i, key in ipairs(keys) do
    local answer = decided[key]
    if answer == nil then
      local claimer = claims[i]
      if isFresh(values[i]) then answer = 'f'
      elseif claimer == worker then answer = 'o'
      elseif claimer and isWorkerAlive(claimer) then answer = 'b'
      else
        if claimer then countPermitOf(claimer, key) end
        redis.call('SET', root .. 'claim:' .. key, worker, 'PX', shown(rules.claimKeptMs))
        answer = 'o'
      end
      decided[key] = answer
    end
    answers[i] = answer
  end
  return table.concat(answers)
end

-- Arguments: as `recordOutcomes` asks for. Answers the date of those without an age.
function operations.record_outcomes()
  local outcomes = object()
  recordOutcomes(outcomes, text())
  return now
end

-- Arguments: as `recordOutcomes`, with fresh until and fetched at for the last two. No date is
-- later than now, and an answer that is as late as the given one stays.
function operations.restore_outcomes()
  local outcomes, bytes, taken, expired = object(), text(), 0, 0
  for _, given in ipairs(outcomes) do
    local freshUntil, fetchedAt = given[6], given[7]
    local at = math.min(fetchedAt, now)
    local leftMs = rules.answersKeptMs - (now - at)
    local _, storedAt = headerAt(root .. 'o:' .. given[1])
    if leftMs <= 0 then expired = expired + 1
    elseif storedAt == nil or storedAt < at then
      store(given, bytes, at, freshUntil and freshUntil - (fetchedAt - at), leftMs)
      taken = taken + 1
    end
  end
  return { taken = taken, expired = expired }
end

-- Arguments: worker, the keys.
function operations.release_keys()
  local worker = text()
  for _, name in ipairs(namesOf(object(), 'claim:')) do
    if redis.call('GET', name) == worker then redis.call('DEL', name) end
  end
end

-- Renews one heartbeat, and forgets those of long ago.
function operations.heartbeat_worker()
  noteHeartbeat(text())
  redis.call('ZREMRANGEBYSCORE', root .. 'workers', '-inf', shown(now - rules.workerKeptMs))
end

function operations.deregister_worker()
  redis.call('ZREM', root .. 'workers', text())
end

-- Arguments: the keys, the rule of freshness. Answers what is fresh, its place in the list first.
function operations.read_outcomes()
  local names, isFresh = namesOf(object(), 'o:'), freshnessRule()
  return describe(names, function(i, value) return (readHeader(value) == nil or isFresh(value)) and i end)
end

-- The names on the next page of a walk, and its cursor. Arguments: cursor, how many to look at.
local function scan()
  local page = redis.call('SCAN', some() or '0', 'MATCH', root .. 'o:*', 'COUNT', text())
  return page[2], page[1]
end

-- Answers the page after the cursor, the key of each answer first.
function operations.page_outcomes()
  local names, cursor = scan()
  local answers, bytes = describe(names, function(i) return string.sub(names[i], #root + 3) end)
  return { next = cursor ~= '0' and cursor or cjson.null, answers = answers }, bytes
end

function operations.outcome_stats()
  local names, cursor = scan()
  local counts, oldest, newest = { [true] = 0, [false] = 0 }, nil, nil
  for _, name in ipairs(names) do
    local matched, fetchedAt = headerAt(name)
    if matched ~= nil then
      counts[matched] = counts[matched] + 1
      oldest = math.min(oldest or fetchedAt, fetchedAt)
      newest = math.max(newest or fetchedAt, fetchedAt)
    end
  end
  return { cursor, {
    matched = counts[true], notFound = counts[false], oldestFetchedAt = orNull(oldest),
    newestFetchedAt = orNull(newest),
  } }
end

local function unlink(names)
  local count = 0
  each(names, function(from, to) count = count + redis.call('UNLINK', unpack(names, from, to)) end)
  return count
end

-- Arguments also: the age beyond which an answer goes. Answers how many went.
function operations.purge_outcomes()
  local names, cursor = scan()
  local before, gone = now - number(), {}
  for _, name in ipairs(names) do
    local matched, fetchedAt = headerAt(name)
    if matched ~= nil and fetchedAt < before then gone[#gone + 1] = name end
  end
  return { cursor, unlink(gone) }
end

-- Arguments: the keys. Answers how many there were.
function operations.forget_outcomes()
  return unlink(namesOf(object(), 'o:'))
end

return answer(operations[text()]())
