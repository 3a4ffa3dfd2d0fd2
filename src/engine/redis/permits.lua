--- @include "reading.lua"
-- Caches of permits, caps, unusable answers and claims. A script reads them in batches, and writes
-- all but claims at its end. Closing a permit moves it from held to sent, or gives it back.
local permits, claims, caps, unusable, billed = {}, {}, {}, {}, {}
local closed, granted, touchedCaps, touchedUnusable = {}, {}, {}, {}

local function missing(cache, names)
  local list = {}
  for _, name in ipairs(names) do if cache[name] == nil then list[#list + 1] = name end end
  return list
end

local function loadPermits(ids)
  local wanted = missing(permits, ids)
  for i, packed in ipairs(fetch(wanted, root .. 'permits')) do permits[wanted[i]] = unpackPermit(packed) end
end

local function loadClaims(keys)
  local wanted = missing(claims, keys)
  for i, worker in ipairs(fetch(namesOf(wanted, 'claim:'))) do claims[wanted[i]] = worker end
end

local function loadUnusable(run, keys)
  local name = root .. 'unusable:' .. run
  unusable[name] = unusable[name] or {}
  local wanted = missing(unusable[name], keys)
  for i, count in ipairs(fetch(wanted, name)) do unusable[name][wanted[i]] = tonumber(count or 0) end
end

local function capsOf(generation)
  if caps[generation] == nil then
    local stored = redis.call('HMGET', root .. 'generation:' .. generation, 'requests', 'overage', 'held')
    caps[generation] = {
      requests = tonumber(stored[1] or 0), overage = tonumber(stored[2] or 0),
      held = tonumber(stored[3] or 0),
    }
  end
  return caps[generation]
end

-- Changes of the counters `spent` and `overageBilled`, by run.
local counted = {}
local function countFor(run, field, change)
  counted[run] = counted[run] or { spent = 0, overageBilled = 0 }
  counted[run][field] = counted[run][field] + change
end

local function countUnusable(run, key)
  local name = root .. 'unusable:' .. run
  loadUnusable(run, { key })
  unusable[name][key] = unusable[name][key] + 1
  touchedUnusable[name] = touchedUnusable[name] or {}
  touchedUnusable[name][key] = true
end

local function closePermit(account, id, as, datedIn, isBeyond)
  local permit = permits[id]
  if not permit or permit.account ~= account.name then return end
  permits[id] = false
  granted[id] = nil
  closed[#closed + 1] = id
  if id == account.lookOut then account.lookOut = nil end
  if permit.probe then account.probes = account.probes - 1
  elseif not permit.free then account.held = account.held - 1 end
  -- If the claim was taken over, the permit has been counted already (`claim_keys`).
  if as == 'maybe_billed' and permit.worker ~= '' and permit.run ~= '' then
    countUnusable(permit.run, permit.key)
  end
  if permit.free then
    if as ~= 'free' then noteClosedFree(account) end
    return
  end
  local used = permit.generation ~= '' and capsOf(permit.generation)
  if used then
    used.held = used.held - 1
    touchedCaps[permit.generation] = true
  end
  if as == 'free' then
    if permit.own ~= nil and permit.run == '' then account.lookTries = math.max(0, account.lookTries - 1) end
    if used then used.requests = used.requests - 1 end
    countFor(permit.run, 'spent', -1)
    return
  end
  local period = isLater(datedIn, account.period) and 'next'
    or isLater(account.period, datedIn) and 'last' or 'this'
  account.sent = account.sent + 1
  noteClosed(account, permit, as, period == 'this')
  if period == 'next' then account.nextDated = account.nextDated + 1
  elseif account.periodEnd ~= nil and now >= account.periodEnd then
    account.nextSent = account.nextSent + 1
  end
  if period == 'last' then account.early = account.early + 1 end
  billed[#billed + 1] = {
    run = permit.run, generation = permit.generation, period = period, isBeyond = isBeyond,
  }
  turn(account)
  account.secondSent = account.secondSent + 1
end

-- Closes permits past their deadlines, whose answers are lost. Returns their number.
local function sweep(account)
  local due = redis.call('ZRANGEBYSCORE', root .. 'deadlines:' .. account.name, '-inf', shown(now))
  loadPermits(due)
  for _, id in ipairs(due) do closePermit(account, id, 'maybe_billed', nil) end
  return #due
end

-- Closes permits of dead workers, for a process that waits for their end.
local function closeDead(account)
  local out = redis.call('ZRANGE', root .. 'deadlines:' .. account.name, 0, -1)
  loadPermits(out)
  for _, id in ipairs(out) do
    local permit = permits[id]
    if permit and permit.worker ~= nil and not isWorkerAlive(permit.worker) then
      closePermit(account, id, 'maybe_billed', nil)
    end
  end
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
    records[#records + 1] = packPermit(p)
    dates[#dates + 1] = shown(p.deadline)
    dates[#dates + 1] = id
  end
  each(records, function(from, to) redis.call('HSET', root .. 'permits', unpack(records, from, to)) end)
  each(dates, function(from, to) redis.call('ZADD', deadlines, unpack(dates, from, to)) end)
  for generation in pairs(touchedCaps) do
    local used, name = caps[generation], root .. 'generation:' .. generation
    redis.call('HSET', name, 'requests', shown(used.requests), 'overage', shown(used.overage), 'held',
      shown(used.held))
    redis.call('PEXPIRE', name, rules.runKeyKeptMs)
  end
  for run, changes in pairs(counted) do
    local name = root .. 'run:' .. run
    if redis.call('EXISTS', name) == 1 then
      for field, change in pairs(changes) do redis.call('HINCRBY', name, field, change) end
    end
  end
  for name, keys in pairs(touchedUnusable) do
    for key in pairs(keys) do redis.call('HSET', name, key, shown(unusable[name][key])) end
    redis.call('PEXPIRE', name, rules.unusableKeptMs)
  end
end

-- Returns the requests that the service bills in this period, in the next and in the last one, and
-- the most that it may bill.
local function snapshotOf(account)
  return {
    period = account.period, next = account.nextDated, last = 0,
    this = account.sent - account.nextDated - account.early + account.others,
    most = math.max(account.sent + account.others, account.nextSent + account.nextDated),
  }
end

-- Books for good which closed requests are overage: beyond the quota by their own header, or by the
-- count of their period. Caps also count requests that may be overage in either of two periods.
-- before: the snapshot after closing and before the reading. isProbeWithin: the answer to a request
-- beyond the limit showed a usage below the quota.
local function bookOverage(account, quota, before, isProbeWithin)
  local at = isLater(account.period, before.period) and before or snapshotOf(account)
  for _, each in ipairs(billed) do at[each.period] = at[each.period] - 1 end
  at.most = at.most - #billed
  for _, each in ipairs(billed) do
    at[each.period], at.most = at[each.period] + 1, at.most + 1
    local isOver = each.isBeyond or not isProbeWithin and at[each.period] > quota
    if isOver then countFor(each.run, 'overageBilled', 1) end
    local mayBe = isOver or not isProbeWithin and (each.period == 'last' or at.most > quota)
    if mayBe and each.generation ~= '' then
      capsOf(each.generation).overage = capsOf(each.generation).overage + 1
      touchedCaps[each.generation] = true
    end
  end
end
