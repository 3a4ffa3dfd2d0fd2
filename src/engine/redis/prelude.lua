-- The start of every script: arguments, clock, heartbeats. The arguments are texts, empty for null:
-- the rules of `src/ledger/rules.ts` as JSON, milliseconds that tests add to the clock, the
-- operation, and its arguments. An operation answers JSON, and may add bytes.
local root = KEYS[1]
-- Stored values may be another program's. Infinity and NaN, which JSON lacks, count as missing.
local parsed = tonumber
local function tonumber(value)
  local found = parsed(value)
  return found and found - found == 0 and found or nil
end
local function stored(json)
  local isJson, value = pcall(cjson.decode, json or '')
  return isJson and type(value) == 'table' and value or nil
end
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
-- The owner in `pauses` that stands for all spending.
local allSpending = '*'
local function isPaused(owner) return redis.call('HEXISTS', root .. 'pauses', owner) == 1 end
local function number() return tonumber(text()) end
local function flag() return text() == '1' end
-- Parses `json`, by default the next argument, with nil for null.
local function object(json)
  local function clean(value)
    for key, item in pairs(value) do
      if item == cjson.null then value[key] = nil
      elseif type(item) == 'table' then clean(item) end
    end
    return value
  end
  return clean(cjson.decode(json or text()))
end
local function orNull(value)
  if value == nil then return cjson.null end
  return value
end
local function pluck(list, name)
  local found = {}
  for i, item in ipairs(list) do found[i] = item[name] end
  return found
end
local function namesOf(keys, kind)
  local names = {}
  for i, key in ipairs(keys) do names[i] = root .. kind .. key end
  return names
end
-- Returns null for an empty list, which would become an object in JSON.
local function listed(list) return #list > 0 and list or cjson.null end
-- Writes a value as an argument of Redis. Numbers are cached, since few of them occur often.
local digits = {}
local function shown(value)
  local kind = type(value)
  if kind == 'nil' then return '' end
  if kind == 'boolean' then return value and '1' or '0' end
  if kind ~= 'number' then return value end
  digits[value] = digits[value] or string.format('%.17g', value)
  return digits[value]
end
-- Visits a list in parts of 1,000, since Lua limits the arguments of a call to some thousands.
local function each(list, visit)
  local from = 1
  while from <= #list do
    visit(from, math.min(from + 999, #list))
    from = from + 1000
  end
end
-- Returns the values of many keys, or of many fields of a hash, with false for a missing one.
local function fetch(names, hash)
  local found = {}
  each(names, function(from, to)
    local part = hash and redis.call('HMGET', hash, unpack(names, from, to))
      or redis.call('MGET', unpack(names, from, to))
    for i = from, to do found[i] = part[i - from + 1] end
  end)
  return found
end
local rules = cjson.decode(text())
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + number()
-- True if a run is alive. The heartbeat of an expired record is nil.
local function hasHeartbeat(heartbeatAt)
  local age = now - (tonumber(heartbeatAt) or 0)
  return age < rules.runDeadAfterMs and age >= -rules.runHeartbeatAheadMs
end
-- True if the store was away: all workers seem dead, but this one was alive at the last heartbeat.
local function wasAway(workers, worker, latestAt)
  local silentMs = now - latestAt
  if silentMs < rules.workerDeadAfterMs or silentMs >= rules.workerKeptMs then return false end
  local own = redis.call('ZSCORE', workers, worker)
  return own and latestAt - tonumber(own) < rules.workerDeadAfterMs
end
-- Notes a heartbeat. Shifts all heartbeats back with a clock that was set back, and forward by an
-- outage minus one interval, so live workers can report first and dead ones still expire.
local function noteHeartbeat(worker)
  local workers = root .. 'workers'
  local latestAt = tonumber(redis.call('ZREVRANGE', workers, 0, 0, 'WITHSCORES')[2]) or now
  local shift = latestAt - now > rules.clockBackMs and now - latestAt
    or wasAway(workers, worker, latestAt) and now - latestAt - rules.workerHeartbeatMs
  if shift then
    local all = redis.call('ZRANGE', workers, 0, -1)
    for _, name in ipairs(all) do redis.call('ZINCRBY', workers, shown(shift), name) end
  end
  redis.call('ZADD', workers, shown(now), worker)
end
local alive = {}
local function isWorkerAlive(worker)
  if alive[worker] == nil then
    local heartbeatAt = redis.call('ZSCORE', root .. 'workers', worker)
    alive[worker] = heartbeatAt and now - tonumber(heartbeatAt) < rules.workerDeadAfterMs or false
  end
  return alive[worker]
end
-- Packs a permit for storing. `generation` is empty if no run pays.
local function packPermit(p)
  return cmsgpack.pack({
    p.account, p.run, p.generation, p.key, p.deadline, p.probe, p.worker, p.own or false, p.free or false,
  })
end
local function unpackPermit(packed)
  if not packed then return false end
  local r = cmsgpack.unpack(packed)
  return {
    account = r[1], run = r[2], generation = r[3], key = r[4],
    deadline = r[5], probe = r[6], worker = r[7], own = r[8] or nil, free = r[9],
  }
end

-- A script adds its operations by name and ends with a call of one. The functions in `../postgres`
-- have the same names.
local operations = {}
local function answer(value, bytes)
  local json = cjson.encode(orNull(value))
  if bytes then return { json, bytes } end
  return json
end
