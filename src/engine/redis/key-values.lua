--- @include "prelude.lua"
-- The key-value store: a hash for each scope. A value is the time of writing, a blank, the text.

local function split(packed)
  local blank = string.find(packed, ' ', 1, true) or 0
  local at = tonumber(string.sub(packed, 1, blank - 1))
  -- A value of another program counts as very old.
  if not at or not (at >= 0 and at < 1e16) then at = 0 end
  return at, string.sub(packed, blank + 1)
end

function operations.put_value()
  local values = root .. 'values:' .. text()
  redis.call('HSET', values, text(), shown(now) .. ' ' .. text())
end

function operations.list_values()
  local packed, found = redis.call('HGETALL', root .. 'values:' .. text()), {}
  for i = 1, #packed, 2 do
    local at, value = split(packed[i + 1])
    found[#found + 1] = { name = packed[i], text = value, ageMs = math.max(0, now - at) }
  end
  return listed(found)
end

-- Arguments: scope, name, expected text or nothing.
function operations.remove_value()
  local values = root .. 'values:' .. text()
  local name, expected = text(), some()
  local packed = redis.call('HGET', values, name)
  if not packed then return false end
  local _, value = split(packed)
  if expected and expected ~= value then return false end
  return redis.call('HDEL', values, name) == 1
end

-- Arguments: scope, name, text, and the age in milliseconds at which another text is dead, if any.
function operations.claim_value()
  local values = root .. 'values:' .. text()
  local name, wanted, deadAfter = text(), text(), some()
  local packed = redis.call('HGET', values, name)
  if packed then
    local at, value = split(packed)
    if value ~= wanted and (not deadAfter or now - at <= tonumber(deadAfter)) then return false end
  end
  redis.call('HSET', values, name, shown(now) .. ' ' .. wanted)
  return true
end

return answer(operations[text()]())
