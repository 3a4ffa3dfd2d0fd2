--- @include "prelude.lua"
-- Stored answers, which an exchange and the operations of the outcome store write.

-- A stored answer is one string: 17 bytes, then the packed body as it came. The first byte holds
-- the flags, then come fetchedAt and freshUntil (0: none) in milliseconds, each an IEEE double,
-- big-endian.
local MATCHED, BILLED, HAS_BODY, HEADER_BYTES = 1, 2, 4, 17
local function readHeader(value)
  if not value or #value < HEADER_BYTES then return nil end
  local flags = string.byte(value)
  local fetchedAt, freshUntil = struct.unpack('>dd', value, 2)
  return flags % (2 * MATCHED) >= MATCHED, fetchedAt, freshUntil, flags
end
local function headerAt(name) return readHeader(redis.call('GETRANGE', name, 0, HEADER_BYTES - 1)) end

-- given: key, is matched, billed, first byte of its body in bytes (from 1), length of it or
-- nothing.
local function store(given, bytes, at, freshUntil, keepMs)
  local flags = (given[2] and MATCHED or 0) + (given[3] and BILLED or 0) + (given[5] and HAS_BODY or 0)
  local body = given[5] and string.sub(bytes, given[4], given[4] + given[5] - 1) or ''
  redis.call('SET', root .. 'o:' .. given[1], struct.pack('>Bdd', flags, at, freshUntil or 0) .. body, 'PX', shown(keepMs))
end

local function namesOf(keys, kind)
  local names = {}
  for i, key in ipairs(keys) do names[i] = root .. kind .. key end
  return names
end

-- Keeps answers and drops the claims on them. Of each: what `store` asks for, then how long it is
-- fresh in milliseconds or nothing, and its age. One with an age leaves a later one alone.
local function keep(outcomes, bytes)
  for _, given in ipairs(outcomes) do
    local freshMs, ageMs = given[6], given[7]
    local at = now - ageMs
    local _, storedAt
    if ageMs > 0 then _, storedAt = headerAt(root .. 'o:' .. given[1]) end
    if storedAt == nil or storedAt <= at then
      -- One that is too old to be kept is gone at once.
      store(given, bytes, at, freshMs and at + freshMs, math.max(1, rules.answersKeptMs - ageMs))
    end
  end
  local claims = namesOf(pluck(outcomes, 1), 'claim:')
  each(claims, function(from, to) redis.call('DEL', unpack(claims, from, to)) end)
end
