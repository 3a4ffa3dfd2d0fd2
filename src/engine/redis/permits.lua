--- @include "account.lua"
-- Permits, the claims they were granted under, caps and doubts, read in batches and written back in
-- one go at the end of a script. Closing a permit moves it from held to sent or gives it back; past
-- its deadline it counts as sent.
local permits, claims, caps, doubts, billed = {}, {}, {}, {}, {}
local closed, granted, touchedClaims, touchedCaps, touchedDoubts = {}, {}, {}, {}, {}

local function unpackPermit(packed)
  if not packed then return false end
  local r = cmsgpack.unpack(packed)
  return {
    account = r[1], run = r[2], runKey = r[3], key = r[4],
    deadline = r[5], period = r[6] or nil, generation = r[7], probe = r[8], worker = r[9],
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
  for i, packed in ipairs(fetch(wanted, root .. 'permits')) do permits[wanted[i]] = unpackPermit(packed) end
end

local function loadClaims(keys)
  local wanted, names = missing(claims, keys), {}
  for i, key in ipairs(wanted) do names[i] = root .. 'claim:' .. key end
  for i, packed in ipairs(fetch(names)) do claims[wanted[i]] = unpackClaim(packed) end
end

local function loadDoubts(run, keys)
  local name = root .. 'doubts:' .. run
  doubts[name] = doubts[name] or {}
  local wanted = missing(doubts[name], keys)
  for i, count in ipairs(fetch(wanted, name)) do doubts[name][wanted[i]] = tonumber(count or 0) end
end

local function capsOf(runKey)
  if caps[runKey] == nil then
    local stored = redis.call('HMGET', root .. 'key:' .. runKey, 'startedAt', 'generation', 'requests', 'overage', 'held')
    caps[runKey] = (stored[1] or stored[2]) and {
      generation = stored[2] or '', requests = tonumber(stored[3] or 0), overage = tonumber(stored[4] or 0),
      held = tonumber(stored[5] or 0),
    } or false
  end
  return caps[runKey]
end

-- Counters of runs that change: what was taken and not given back, and what was overage.
local counted = {}
local function countFor(run, field, change)
  counted[run] = counted[run] or { spent = 0, overageBilled = 0 }
  counted[run][field] = counted[run][field] + change
end

local function doubt(run, key)
  local name = root .. 'doubts:' .. run
  loadDoubts(run, { key })
  doubts[name][key] = doubts[name][key] + 1
  touchedDoubts[name] = touchedDoubts[name] or {}
  touchedDoubts[name][key] = true
end

-- Whether period comes after current; false where one of them is unknown or there are no periods.
local function isLater(period, current)
  return period ~= nil and period ~= 'none' and current ~= nil and current ~= 'none' and period > current
end

local function close(account, id, as, datedIn)
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
  local used = capsOf(permit.runKey)
  -- Runs of a key that was completed begin anew: what is left of the earlier ones does not count
  -- for them.
  if used and used.generation ~= permit.generation then used = false end
  if used then
    used.held = used.held - 1
    touchedCaps[permit.runKey] = true
  end
  if as == 'free' then
    if used then used.requests = used.requests - 1 end
    countFor(permit.run, 'spent', -1)
    return
  end
  -- The first answers name the period that requests before them were sent in.
  if permit.period == nil or permit.period == account.period then account.sent = account.sent + 1 end
  local isLaterDated = isLater(datedIn, account.period)
  -- A date that this clock does not know yet proves nothing: it may belong to either period.
  local isDatedNext = isLaterDated and now >= startOf(datedIn)
  if isDatedNext then account.pendingDated = account.pendingDated + 1
  elseif datedIn == nil or isLaterDated then account.pendingSent = account.pendingSent + 1 end
  -- Who took its claim over has counted the doubt.
  if as == 'doubtful' and permit.worker ~= '' then doubt(permit.run, permit.key) end
  billed[#billed + 1] = {
    run = permit.run, used = used, isDatedNext = isDatedNext, isUndated = datedIn == nil,
  }
  turn(account)
  account.minuteSent = account.minuteSent + 1
  account.secondSent = account.secondSent + 1
end

local function sweep(account)
  local due = redis.call('ZRANGEBYSCORE', root .. 'deadlines:' .. account.name, '-inf', shown(now))
  loadPermits(due)
  -- Nobody has their answers.
  for _, id in ipairs(due) do close(account, id, 'doubtful', nil) end
end

-- Permits of workers that died count as sent as soon as somebody waits for their end: unknown is
-- spent.
local function closeDead(account)
  local out = redis.call('ZRANGE', root .. 'deadlines:' .. account.name, 0, -1)
  loadPermits(out)
  for _, id in ipairs(out) do
    local permit = permits[id]
    if permit and permit.worker ~= nil and not isWorkerAlive(permit.worker) then close(account, id, 'doubtful', nil) end
  end
end

-- Where the account stands in its period, and how many requests count in both.
local function standingOf(account)
  return {
    period = account.period, dated = account.pendingDated,
    standing = account.sent - account.pendingDated + account.others,
  }
end

-- Books which of the requests that were just closed are overage: those that stand beyond the quota
-- in the period that they were billed in. before: how the account stood after closing them and
-- before the reading. isProbeWithin: a request beyond the limit was answered with a usage below the
-- quota.
local function bookOverage(account, policy, before, isProbeWithin)
  if #billed == 0 then return end
  local quota, numDated, numUndated = billedQuota(account, policy), 0, 0
  local hasOpened = before.period ~= nil and account.period ~= before.period
  -- Without a date it belongs where the last reading was.
  local isNextSeen = hasOpened or (account.pendingSeenAt > 0 and now >= startOf(account.pendingPeriod))
  for _, each in ipairs(billed) do
    if each.isDatedNext then numDated = numDated + 1
    elseif each.isUndated and isNextSeen then numUndated = numUndated + 1 end
  end
  local position
  if hasOpened then position = before.standing - (#billed - numDated)
  else
    account.pendingDated = account.pendingDated + numUndated
    account.pendingSent = account.pendingSent - numUndated
    position = standingOf(account).standing - (#billed - numDated - numUndated)
  end
  local datedPosition = before.dated - numDated
  for _, each in ipairs(billed) do
    local isNext = each.isDatedNext or (each.isUndated and isNextSeen)
    if isNext then datedPosition = datedPosition + 1 else position = position + 1 end
    if not isProbeWithin and (isNext and datedPosition or position) > quota then
      countFor(each.run, 'overageBilled', 1)
      if each.used then each.used.overage = each.used.overage + 1 end
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
    records[#records + 1] = cmsgpack.pack({
      p.account, p.run, p.runKey, p.key, p.deadline, p.period or false, p.generation, p.probe, p.worker,
    })
    dates[#dates + 1] = shown(p.deadline)
    dates[#dates + 1] = id
  end
  each(records, function(from, to) redis.call('HSET', root .. 'permits', unpack(records, from, to)) end)
  each(dates, function(from, to) redis.call('ZADD', deadlines, unpack(dates, from, to)) end)
  for key in pairs(touchedClaims) do
    local claim = claims[key]
    redis.call('SET', root .. 'claim:' .. key, cmsgpack.pack({ claim.worker, claim.permit or false }),
      'PX', rules.claimKeptMs)
  end
  for runKey in pairs(touchedCaps) do
    local used = caps[runKey]
    redis.call('HSET', root .. 'key:' .. runKey, 'generation', used.generation, 'requests', shown(used.requests),
      'overage', shown(used.overage), 'held', shown(used.held))
    redis.call('PEXPIRE', root .. 'key:' .. runKey, rules.runKeyKeptMs)
  end
  for run, changes in pairs(counted) do
    local name = root .. 'run:' .. run
    if redis.call('EXISTS', name) == 1 then
      for field, change in pairs(changes) do redis.call('HINCRBY', name, field, change) end
    end
  end
  for name, keys in pairs(touchedDoubts) do
    for key in pairs(keys) do redis.call('HSET', name, key, shown(doubts[name][key])) end
    redis.call('PEXPIRE', name, rules.doubtsKeptMs)
  end
end
