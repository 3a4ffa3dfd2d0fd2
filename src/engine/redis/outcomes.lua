--- @include "prelude.lua"
-- The operations of the outcome store. Batches are one call each; bodies pass through as bytes.

-- The layout of a stored answer is described in `outcome-value.ts`.
local HEADER_BYTES, MATCHED = 17, 1
local function readHeader(value)
  if not value or #value < HEADER_BYTES then return nil end
  local flags = string.byte(value)
  local fetchedAt, freshUntil = struct.unpack('>dd', value, 2)
  return flags % (2 * MATCHED) >= MATCHED, fetchedAt, freshUntil
end

-- Arguments: worker, asOf, oldest matched, oldest missing, then the keys. Answers one letter per key.
function operations.claim()
  local worker, asOf, oldestMatched, oldestMissing = text(), number(), number(), number()
  local keys, values, names = {}, {}, {}
  for i = position + 1, #ARGV do keys[#keys + 1] = ARGV[i] end
  local function readAll(kind)
    local found = {}
    for i, key in ipairs(keys) do names[i] = root .. kind .. key end
    each(names, function(from, to)
      local part = redis.call('MGET', unpack(names, from, to))
      for i = from, to do found[i] = part[i - from + 1] end
    end)
    return found
  end
  local values, claims = readAll('o:'), readAll('claim:')
  noteHeartbeat(worker)

  local function isFresh(value)
    local matched, fetchedAt, freshUntil = readHeader(value)
    if matched == nil then return false end
    if freshUntil ~= 0 and freshUntil <= asOf then return false end
    return fetchedAt >= (matched and oldestMatched or oldestMissing)
  end
  local function doubtPermit(id)
    local packed = redis.call('HGET', root .. 'permits', id)
    if not packed then return end
    local permit = cmsgpack.unpack(packed)
    if permit[9] == '' then return end
    -- The doubt is counted once, however the permit ends.
    permit[9] = ''
    redis.call('HSET', root .. 'permits', id, cmsgpack.pack(permit))
    local name = root .. 'doubts:' .. permit[2]
    redis.call('HINCRBY', name, permit[4], 1)
    redis.call('PEXPIRE', name, rules.doubtsKeptMs)
  end

  local answers, decided = {}, {}
  for i, key in ipairs(keys) do
    local answer = decided[key]
    if answer == nil then
      local claim = claims[i] and cmsgpack.unpack(claims[i])
      if isFresh(values[i]) then answer = 'f'
      elseif claim and claim[1] == worker then answer = 'o'
      elseif claim and isWorkerAlive(claim[1]) then answer = 'b'
      else
        if claim and claim[2] then doubtPermit(claim[2]) end
        redis.call('SET', root .. 'claim:' .. key, cmsgpack.pack({ worker, false }), 'PX', rules.claimKeptMs)
        answer = 'o'
      end
      decided[key] = answer
    end
    answers[i] = answer
  end
  return table.concat(answers)
end

-- Arguments: for each outcome its key, flags, freshness in milliseconds or nothing, and the body. Answers their date.
function operations.record()
  local claims = {}
  while position < #ARGV do
    local key, flags, freshMs, ageMs = text(), number(), number(), number()
    local at, name = now - ageMs, root .. 'o:' .. key
    local value = struct.pack('>Bdd', flags, at, freshMs and at + freshMs or 0) .. text()
    local _, storedAt = readHeader(ageMs > 0 and redis.call('GETRANGE', name, 0, HEADER_BYTES - 1) or '')
    if storedAt == nil or storedAt <= at then
      -- One that is too old to be kept is gone at once.
      redis.call('SET', name, value, 'PX', math.max(1, rules.keepAnswersMs - ageMs))
    end
    claims[#claims + 1] = root .. 'claim:' .. key
  end
  each(claims, function(from, to) redis.call('DEL', unpack(claims, from, to)) end)
  return { shown(now) }
end

-- Arguments: worker, then the keys.
function operations.release()
  local worker = text()
  while position < #ARGV do
    local name = root .. 'claim:' .. text()
    local packed = redis.call('GET', name)
    if packed and cmsgpack.unpack(packed)[1] == worker then redis.call('DEL', name) end
  end
end

-- Renews one heartbeat, and forgets those that are dead anyway.
function operations.heartbeat()
  redis.call('ZREMRANGEBYSCORE', root .. 'workers', '-inf', shown(now - rules.workerDeadAfterMs))
  noteHeartbeat(text())
end

function operations.deregister()
  redis.call('ZREM', root .. 'workers', text())
end

-- Arguments: cursor, how many keys to look at. Answers the next cursor, then matched, missing, oldest, newest.
function operations.statsPage()
  local page = redis.call('SCAN', text(), 'MATCH', root .. 'o:*', 'COUNT', text())
  local counts, oldest, newest = { [true] = 0, [false] = 0 }, nil, nil
  for _, name in ipairs(page[2]) do
    local matched, fetchedAt = readHeader(redis.call('GETRANGE', name, 0, HEADER_BYTES - 1))
    if matched ~= nil then
      counts[matched] = counts[matched] + 1
      oldest = math.min(oldest or fetchedAt, fetchedAt)
      newest = math.max(newest or fetchedAt, fetchedAt)
    end
  end
  return { page[1], shown(counts[true]), shown(counts[false]), shown(oldest), shown(newest) }
end

-- Arguments: cursor, how many keys to look at, the time before which an answer goes. Answers next cursor and how many went.
function operations.purgePage()
  local page = redis.call('SCAN', text(), 'MATCH', root .. 'o:*', 'COUNT', text())
  local before, gone = number(), {}
  for _, name in ipairs(page[2]) do
    local matched, fetchedAt = readHeader(redis.call('GETRANGE', name, 0, HEADER_BYTES - 1))
    if matched ~= nil and fetchedAt < before then gone[#gone + 1] = name end
  end
  local count = 0
  each(gone, function(from, to) count = count + redis.call('UNLINK', unpack(gone, from, to)) end)
  return { page[1], shown(count) }
end

-- Arguments: cursor, how many keys to look at. Answers the next cursor and the names of answers.
function operations.namesPage()
  local page = redis.call('SCAN', text(), 'MATCH', root .. 'o:*', 'COUNT', text())
  table.insert(page[2], 1, page[1])
  return page[2]
end

-- Arguments: for each outcome its key, flags, when it was fetched, until when it is fresh or nothing, and the body. No date is
-- later than now, and an answer that is as late as the given one stays. Answers how many were taken and how many were too old.
function operations.restore()
  local taken, expired = 0, 0
  while position < #ARGV do
    local name, flags, fetchedAt, freshUntil, body = root .. 'o:' .. text(), number(), number(), number(), text()
    local at = math.min(fetchedAt, now)
    local leftMs = rules.keepAnswersMs - (now - at)
    local _, storedAt = readHeader(redis.call('GETRANGE', name, 0, HEADER_BYTES - 1))
    if leftMs <= 0 then expired = expired + 1
    elseif storedAt == nil or storedAt < at then
      local value = struct.pack('>Bdd', flags, at, freshUntil and freshUntil - (fetchedAt - at) or 0) .. body
      redis.call('SET', name, value, 'PX', shown(leftMs))
      taken = taken + 1
    end
  end
  return { shown(taken), shown(expired) }
end

-- Arguments: the keys. Answers how many there were.
function operations.forget()
  local names = {}
  while position < #ARGV do names[#names + 1] = root .. 'o:' .. text() end
  local count = 0
  each(names, function(from, to) count = count + redis.call('UNLINK', unpack(names, from, to)) end)
  return { shown(count) }
end

return operations[text()]()
