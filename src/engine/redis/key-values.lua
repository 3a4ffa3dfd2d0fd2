--- @include "prelude.lua"
-- The operations of the key-value store: a hash for each scope, a value behind the time at which it was written.

local function split(packed)
  local blank = string.find(packed, ' ', 1, true)
  return tonumber(string.sub(packed, 1, blank - 1)), string.sub(packed, blank + 1)
end

function operations.put()
  local notes = root .. 'notes:' .. text()
  redis.call('HSET', notes, text(), shown(now) .. ' ' .. text())
end

function operations.list()
  local notes = root .. 'notes:' .. text()
  local packed, found = redis.call('HGETALL', notes), {}
  for i = 1, #packed, 2 do
    local at, note = split(packed[i + 1])
    found[#found + 1] = packed[i]
    found[#found + 1] = note
    found[#found + 1] = shown(math.max(0, now - at))
  end
  return found
end

-- Arguments: scope, name, the text that it must have or nothing.
function operations.remove()
  local notes = root .. 'notes:' .. text()
  local name, expected = text(), some()
  local packed = redis.call('HGET', notes, name)
  if not packed then return 0 end
  local _, note = split(packed)
  if expected and expected ~= note then return 0 end
  return redis.call('HDEL', notes, name)
end

-- Arguments: scope, name, text, age at which an earlier note is dead or nothing.
function operations.claim()
  local notes = root .. 'notes:' .. text()
  local name, wanted, deadAfter = text(), text(), some()
  local packed = redis.call('HGET', notes, name)
  if packed then
    local at, note = split(packed)
    if note ~= wanted and (not deadAfter or now - at <= tonumber(deadAfter)) then return 0 end
  end
  redis.call('HSET', notes, name, shown(now) .. ' ' .. wanted)
  return 1
end

return operations[text()]()
