/**
 * Lua that every script of the stores begins with: reading the arguments one after the other, the store's clock,
 * numbers as text that loses nothing. Arguments arrive as text; the empty text stands for null.
 */

/** A worker is dead when its last heartbeat is older than this (`OutcomeStore.claim`). */
export const WORKER_DEAD_AFTER_MS = 15_000;
/** A clock that goes back by more than this was set back. */
export const CLOCK_BACK_MS = 1_000;

/** The first argument is what tests add to the clock, in milliseconds. */
export const LUA_PRELUDE = `
local root = KEYS[1]
local position = 0
local function text()
  position = position + 1
  return ARGV[position]
end
local function some()
  local value = text()
  if value == '' then return nil end
  return value
end
local function number() return tonumber(text()) end
local function flag() return text() == '1' end
local function shown(value)
  local kind = type(value)
  if kind == 'nil' then return '' end
  if kind == 'boolean' then return value and '1' or '0' end
  if kind == 'number' then return string.format('%.17g', value) end
  return value
end
-- Lua hands a function some thousands of arguments at most.
local function each(list, visit)
  local from = 1
  while from <= #list do
    visit(from, math.min(from + 999, #list))
    from = from + 1000
  end
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + number()
-- A heartbeat. When the clock was set back all others go back with it: none is from the future.
local function noteBeat(worker)
  local workers = root .. 'workers'
  local latest = redis.call('ZREVRANGE', workers, 0, 0, 'WITHSCORES')
  local ahead = (tonumber(latest[2]) or 0) - now
  if ahead > ${CLOCK_BACK_MS} then
    local all = redis.call('ZRANGE', workers, 0, -1)
    for _, name in ipairs(all) do redis.call('ZINCRBY', workers, shown(-ahead), name) end
  end
  redis.call('ZADD', workers, shown(now), worker)
end
local alive = {}
local function isWorkerAlive(worker)
  if alive[worker] == nil then
    local beatAt = redis.call('ZSCORE', root .. 'workers', worker)
    alive[worker] = beatAt and now - tonumber(beatAt) < ${WORKER_DEAD_AFTER_MS} or false
  end
  return alive[worker]
end
`;
