--- @include "answers.lua"
-- The operations of the outcome store.

-- Returns for each answer its place, isMatched, billed, fetchedAt, freshUntil or null, body's
-- length or null; then all bodies in a row. placeOf returns nil to leave an answer out.
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

-- Reads from when on matched and other answers are fresh, and the run's start. Returns the rule.
local function freshnessRule()
  local matchedSince, missingSince, asOf = number(), number(), number()
  return function(value)
    local matched, fetchedAt, freshUntil = readHeader(value)
    if matched == nil or (freshUntil and freshUntil <= asOf) then return false end
    return fetchedAt >= (matched and matchedSince or missingSince)
  end
end

-- Arguments: worker, keys, rule of freshness. Answers a letter per key: fresh, busy, ours.
function operations.claim_keys()
  local worker, keys, isFresh = text(), object(), freshnessRule()
  local values, claims = fetch(namesOf(keys, 'o:')), fetch(namesOf(keys, 'claim:'))
  noteHeartbeat(worker)

  -- Permits by key, read only if a dead worker's claim is taken over.
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
        -- Without its worker the permit is not counted again when it is closed.
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

-- Arguments: as for `recordOutcomes`. Answers the date of answers without an age.
function operations.record_outcomes()
  local outcomes = object()
  recordOutcomes(outcomes, text())
  return now
end

-- Arguments: as for `recordOutcomes`, with freshUntil and fetchedAt as the last two fields. Future
-- dates become now. A stored answer stays unless it is older.
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

-- Arguments: worker, keys.
function operations.release_keys()
  local worker = text()
  for _, name in ipairs(namesOf(object(), 'claim:')) do
    if redis.call('GET', name) == worker then redis.call('DEL', name) end
  end
end

-- Renews one heartbeat, and removes very old ones.
function operations.heartbeat_worker()
  noteHeartbeat(text())
  redis.call('ZREMRANGEBYSCORE', root .. 'workers', '-inf', shown(now - rules.workerKeptMs))
end

function operations.deregister_worker()
  redis.call('ZREM', root .. 'workers', text())
end

-- Arguments: keys, rule of freshness. Answers fresh answers; the place is that of the key.
function operations.read_outcomes()
  local names, isFresh = namesOf(object(), 'o:'), freshnessRule()
  return describe(names, function(i, value) return (readHeader(value) == nil or isFresh(value)) and i end)
end

-- Returns the names on a page of a walk, and the next cursor. Arguments: cursor, page size.
local function scan()
  local page = redis.call('SCAN', some() or '0', 'MATCH', root .. 'o:*', 'COUNT', text())
  return page[2], page[1]
end

-- Answers the page after the cursor; the place of an answer is its key.
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

-- Arguments: cursor, page size, greatest age in milliseconds. Answers the next cursor and a count.
function operations.purge_outcomes()
  local names, cursor = scan()
  local before, gone = now - number(), {}
  for _, name in ipairs(names) do
    local matched, fetchedAt = headerAt(name)
    if matched ~= nil and fetchedAt < before then gone[#gone + 1] = name end
  end
  return { cursor, unlink(gone) }
end

-- Arguments: keys. Answers the number of deleted answers.
function operations.forget_outcomes()
  return unlink(namesOf(object(), 'o:'))
end

return answer(operations[text()]())
