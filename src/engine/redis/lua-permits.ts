/**
 * Lua: permits, the claims they were granted under, caps and doubts, read in batches and written back in one go at the end
 * of a script. Closing a permit moves it from held to sent or gives it back; past its deadline it counts as sent.
 */

const DAY_MS = 86_400_000;
/** A claim belongs to a heartbeat; this only keeps claims of dead workers, never asked for again, from piling up. */
export const CLAIM_KEPT_MS = 2 * DAY_MS;
export const DOUBTS_KEPT_MS = 2 * DAY_MS;
/** Caps last until the run completes; a run that never does is forgotten after its answers are gone for long. */
export const RUN_KEY_KEPT_MS = 90 * DAY_MS;

export const LUA_PERMITS = `
local permits, claims, caps, doubts, takenFor = {}, {}, {}, {}, {}
local closed, granted, touchedClaims, touchedCaps, touchedDoubts = {}, {}, {}, {}, {}

local function unpackPermit(packed)
  if not packed then return false end
  local r = cmsgpack.unpack(packed)
  return {
    account = r[1], run = r[2], runKey = r[3], key = r[4],
    deadline = r[5], period = r[6] or nil, overage = r[7], probe = r[8],
  }
end

local function unpackClaim(packed)
  if not packed then return false end
  local r = cmsgpack.unpack(packed)
  return { worker = r[1], permit = r[2] or nil }
end

-- What was read once in this script is not read again: changes are written at its end.
local function missing(cache, names)
  local list = {}
  for _, name in ipairs(names) do
    if cache[name] == nil then list[#list + 1] = name end
  end
  return list
end

local function loadPermits(ids)
  local wanted = missing(permits, ids)
  each(wanted, function(from, to)
    local packed = redis.call('HMGET', root .. 'permits', unpack(wanted, from, to))
    for i = from, to do permits[wanted[i]] = unpackPermit(packed[i - from + 1]) end
  end)
end

local function loadClaims(keys)
  local wanted, names = missing(claims, keys), {}
  for i, key in ipairs(wanted) do names[i] = root .. 'claim:' .. key end
  each(names, function(from, to)
    local packed = redis.call('MGET', unpack(names, from, to))
    for i = from, to do claims[wanted[i]] = unpackClaim(packed[i - from + 1]) end
  end)
end

local function loadDoubts(run, keys)
  local name = root .. 'doubts:' .. run
  doubts[name] = doubts[name] or {}
  local wanted = missing(doubts[name], keys)
  each(wanted, function(from, to)
    local counts = redis.call('HMGET', name, unpack(wanted, from, to))
    for i = from, to do doubts[name][wanted[i]] = tonumber(counts[i - from + 1] or 0) end
  end)
end

local function capsOf(runKey)
  if caps[runKey] == nil then
    local stored = redis.call('HMGET', root .. 'key:' .. runKey, 'requests', 'overage')
    caps[runKey] = stored[1] and { requests = tonumber(stored[1]), overage = tonumber(stored[2]) } or false
  end
  return caps[runKey]
end

local function doubt(run, key)
  local name = root .. 'doubts:' .. run
  loadDoubts(run, { key })
  doubts[name][key] = doubts[name][key] + 1
  touchedDoubts[name] = touchedDoubts[name] or {}
  touchedDoubts[name][key] = true
end

local function close(account, id, as)
  local permit = permits[id]
  if not permit or permit.account ~= account.name then return end
  permits[id] = false
  granted[id] = nil
  closed[#closed + 1] = id
  if permit.probe then account.probes = account.probes - 1 else account.held = account.held - 1 end
  loadClaims({ permit.key })
  local claim = claims[permit.key]
  if claim and claim.permit == id then
    claim.permit = nil
    touchedClaims[permit.key] = true
  end
  if as == 'free' then
    local used = capsOf(permit.runKey)
    if used then
      used.requests = math.max(0, used.requests - 1)
      if permit.overage then used.overage = math.max(0, used.overage - 1) end
      touchedCaps[permit.runKey] = true
    end
    takenFor[permit.run] = (takenFor[permit.run] or 0) - 1
    return
  end
  if permit.period == account.period then account.sent = account.sent + 1 end
  account.pendingSent = account.pendingSent + 1
  if as == 'doubtful' then doubt(permit.run, permit.key) end
  turn(account)
  account.minuteSent = account.minuteSent + 1
  account.secondSent = account.secondSent + 1
end

local function sweep(account)
  local due = redis.call('ZRANGEBYSCORE', root .. 'deadlines:' .. account.name, '-inf', shown(now))
  loadPermits(due)
  for _, id in ipairs(due) do close(account, id, 'billed') end
end

local function savePermits(account)
  local deadlines = root .. 'deadlines:' .. account.name
  each(closed, function(from, to)
    redis.call('HDEL', root .. 'permits', unpack(closed, from, to))
    redis.call('ZREM', deadlines, unpack(closed, from, to))
  end)
  local records, dates = {}, {}
  for id in pairs(granted) do
    local p = permits[id]
    records[#records + 1] = id
    records[#records + 1] = cmsgpack.pack({
      p.account, p.run, p.runKey, p.key, p.deadline, p.period or false, p.overage, p.probe,
    })
    dates[#dates + 1] = shown(p.deadline)
    dates[#dates + 1] = id
  end
  each(records, function(from, to) redis.call('HSET', root .. 'permits', unpack(records, from, to)) end)
  each(dates, function(from, to) redis.call('ZADD', deadlines, unpack(dates, from, to)) end)
  for key in pairs(touchedClaims) do
    local claim = claims[key]
    redis.call('SET', root .. 'claim:' .. key, cmsgpack.pack({ claim.worker, claim.permit or false }),
      'PX', ${CLAIM_KEPT_MS})
  end
  for runKey in pairs(touchedCaps) do
    local used = caps[runKey]
    redis.call('HSET', root .. 'key:' .. runKey, 'requests', shown(used.requests), 'overage', shown(used.overage))
    redis.call('PEXPIRE', root .. 'key:' .. runKey, ${RUN_KEY_KEPT_MS})
  end
  for run, change in pairs(takenFor) do
    local name = root .. 'run:' .. run
    if change ~= 0 and redis.call('EXISTS', name) == 1 then redis.call('HINCRBY', name, 'spent', change) end
  end
  for name, keys in pairs(touchedDoubts) do
    for key in pairs(keys) do redis.call('HSET', name, key, shown(doubts[name][key])) end
    redis.call('PEXPIRE', name, ${DOUBTS_KEPT_MS})
  end
end
`;
