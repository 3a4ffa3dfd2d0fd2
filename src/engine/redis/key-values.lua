--- @include "prelude.lua"
-- The operations of the key-value store: a hash for each scope, a value behind the time at which it
-- was written.

local function split(packed)
  local blank = string.find(packed, ' ', 1, true)
  return tonumber(string.sub(packed, 1, blank - 1)), string.sub(packed, blank + 1)
end

function operations.put_note()
  local notes = root .. 'notes:' .. text()
  redis.call('HSET', notes, text(), shown(now) .. ' ' .. text())
end

function operations.list_notes()
  local packed, found = redis.call('HGETALL', root .. 'notes:' .. text()), {}
  for i = 1, #packed, 2 do
    local at, note = split(packed[i + 1])
    found[#found + 1] = { name = packed[i], text = note, ageMs = math.max(0, now - at) }
  end
  return listed(found)
end

-- Arguments: scope, name, the text that it must have or nothing.
function operations.remove_note()
  local notes = root .. 'notes:' .. text()
  local name, expected = text(), some()
  local packed = redis.call('HGET', notes, name)
  if not packed then return false end
  local _, note = split(packed)
  if expected and expected ~= note then return false end
  return redis.call('HDEL', notes, name) == 1
end

-- Arguments: scope, name, text, age at which an earlier note is dead or nothing.
function operations.claim_note()
  local notes = root .. 'notes:' .. text()
  local name, wanted, deadAfter = text(), text(), some()
  local packed = redis.call('HGET', notes, name)
  if packed then
    local at, note = split(packed)
    if note ~= wanted and (not deadAfter or now - at <= tonumber(deadAfter)) then return false end
  end
  redis.call('HSET', notes, name, shown(now) .. ' ' .. wanted)
  return true
end

return answer(operations[text()]())
