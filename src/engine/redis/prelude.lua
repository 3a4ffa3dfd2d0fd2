-- What every script begins with: its arguments, read one after the other, the store's clock, and
-- heartbeats. Arguments are texts; the empty text stands for null. The first is the rules of
-- `src/ledger/rules.ts` as JSON, the second what tests add to the clock in milliseconds, the third
-- the name of the operation. An operation answers with JSON, and may add bytes.
local root = KEYS[1]
-- Another program may have written what is stored: what JSON cannot say is not a number, nor is a
-- list an object.
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
-- Who paused what, by owner; `*`: all spending.
local allSpending = '*'
local function isPaused(owner) return redis.call('HEXISTS', root .. 'pauses', owner) == 1 end
local function number() return tonumber(text()) end
local function flag() return text() == '1' end
-- JSON, of the next argument unless it is given; null becomes nil.
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
-- An empty table would be written as an object.
local function listed(list) return #list > 0 and list or cjson.null end
-- The same few numbers are written again and again: how long things are kept, and when that ends.
local digits = {}
local function shown(value)
  local kind = type(value)
  if kind == 'nil' then return '' end
  if kind == 'boolean' then return value and '1' or '0' end
  if kind ~= 'number' then return value end
  digits[value] = digits[value] or string.format('%.17g', value)
  return digits[value]
end
-- Lua hands a function some thousands of arguments at most.
local function each(list, visit)
  local from = 1
  while from <= #list do
    visit(from, math.min(from + 999, #list))
    from = from + 1000
  end
end
-- The values of many keys, or of many fields of a hash; false where there is none.
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
-- Of a run. A record that has expired has no heartbeat.
local function hasHeartbeat(heartbeatAt)
  local age = now - (tonumber(heartbeatAt) or 0)
  return age < rules.runDeadAfterMs and age >= -rules.runHeartbeatAheadMs
end
-- Whether the store was away: all workers seem dead, and this one was alive at the last heartbeat.
local function wasAway(workers, worker, latestAt)
  local silentMs = now - latestAt
  if silentMs < rules.workerDeadAfterMs or silentMs >= rules.workerKeptMs then return false end
  local own = redis.call('ZSCORE', workers, worker)
  return own and latestAt - tonumber(own) < rules.workerDeadAfterMs
end
-- Notes a heartbeat. All others move back with a clock that was set back, and forward by an outage of
-- the store minus one interval: live workers can report first, and dead ones still expire.
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
-- A permit as it is stored. `generation` is empty where no run pays.
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

-- A script defines its operations here by name, and ends with a call of the one that is wanted. The
-- names are those of the functions in `../postgres`.
local operations = {}
local function answer(value, bytes)
  local json = cjson.encode(orNull(value))
  if bytes then return { json, bytes } end
  return json
end
