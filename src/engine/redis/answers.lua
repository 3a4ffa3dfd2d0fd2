--- @include "prelude.lua"
-- Stored answers. Each is one string: a byte of flags, fetchedAt in milliseconds, freshUntil if
-- set, then the packed body. Dates are unsigned big-endian integers of 6 bytes.
local MATCHED, BILLED, HAS_BODY, HAS_FRESH_UNTIL = 1, 2, 4, 8
local HEADER_BYTES, LONG_HEADER_BYTES, LATEST = 7, 13, 2 ^ 48 - 1
-- In two parts, because a 32-bit server packs no longer number. Most dates of a call are equal.
local dates = {}
local function date(ms)
  local bounded = math.floor(math.max(0, math.min(ms, LATEST)))
  dates[bounded] = dates[bounded] or struct.pack('>I2I4', math.floor(bounded / 2 ^ 32), bounded % 2 ^ 32)
  return dates[bounded]
end
local function dateAt(value, first)
  local high, low = struct.unpack('>I2I4', value, first)
  return high * 2 ^ 32 + low
end
local function has(flags, flag) return flags % (2 * flag) >= flag end
-- Returns isMatched, fetchedAt, freshUntil or nil, flags, header length; nil for foreign data.
local function readHeader(value)
  local flags = value and string.byte(value)
  if not flags or flags >= 2 * HAS_FRESH_UNTIL then return nil end
  local isLong = has(flags, HAS_FRESH_UNTIL)
  local bytes = isLong and LONG_HEADER_BYTES or HEADER_BYTES
  if #value < bytes then return nil end
  local freshUntil = isLong and dateAt(value, 1 + HEADER_BYTES) or nil
  return has(flags, MATCHED), dateAt(value, 2), freshUntil, flags, bytes
end
local function headerAt(name) return readHeader(redis.call('GETRANGE', name, 0, LONG_HEADER_BYTES - 1)) end

-- given: key, isMatched, billed, first byte of the body in bytes (from 1), its length or nil.
local function store(given, bytes, at, freshUntil, keepMs)
  local flags = (given[2] and MATCHED or 0) + (given[3] and BILLED or 0) + (given[5] and HAS_BODY or 0)
    + (freshUntil and HAS_FRESH_UNTIL or 0)
  local header = string.char(flags) .. date(at) .. (freshUntil and date(freshUntil) or '')
  local body = given[5] and string.sub(bytes, given[4], given[4] + given[5] - 1) or ''
  redis.call('SET', root .. 'o:' .. given[1], header .. body, 'PX', shown(keepMs))
end

-- Stores answers and drops their claims. Each has the fields of `store`, then how many milliseconds
-- it is fresh or nil, and its age. An answer with an age does not replace a later one.
local function recordOutcomes(outcomes, bytes)
  for _, given in ipairs(outcomes) do
    local freshMs, ageMs = given[6], given[7]
    local at = now - ageMs
    local _, storedAt
    if ageMs > 0 then _, storedAt = headerAt(root .. 'o:' .. given[1]) end
    if storedAt == nil or storedAt <= at then
      -- An answer past its time expires at once.
      store(given, bytes, at, freshMs and at + freshMs, math.max(1, rules.answersKeptMs - ageMs))
    end
  end
  local claims = namesOf(pluck(outcomes, 1), 'claim:')
  each(claims, function(from, to) redis.call('DEL', unpack(claims, from, to)) end)
end
