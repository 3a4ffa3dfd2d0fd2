--- @include "prelude.lua"
-- The account, packed in one string in the order of NAMES (false if unknown), and the policy of its
-- live runs. `src/ledger/ledger.ts` and `test/model/ledger-model.ts` explain the fields.
local NAMES = {
  'epoch', 'version', 'changedAt', 'period', 'periodEnd', 'nextPeriod', 'nextSince', 'hasNextFallen',
  'nextAsked', 'nextSent', 'nextDated', 'resetAwaitedAt', 'turnAskedAt', 'sent', 'held', 'probes', 'others',
  'quota', 'usage', 'confirmedAt', 'closedAt', 'nextProbeAt', 'restsUntil', 'servesOverage',
  'second', 'secondSent', 'secondBefore',
  'paceVersion', 'rate', 'burst', 'tat', 'floorUntil', 'alone', 'days', 'answeredAt', 'early',
  'behindMs', 'lastUsage', 'lookOf', 'lookProven', 'lookBooked', 'lookRises', 'lookTries', 'lookTriesSince',
  'lookBase', 'lookSince', 'lookRecent', 'lookEarlier', 'lookMarkAt', 'spentAt', 'free', 'checkedAt',
  'lookOut', 'lookOutAt',
}
local KINDS = {
  epoch = 'text', period = 'text', periodEnd = 'some', nextPeriod = 'text', hasNextFallen = 'flag',
  nextAsked = 'text', resetAwaitedAt = 'some', servesOverage = 'flag', alone = 'text', days = 'text',
  answeredAt = 'some', quota = 'some', usage = 'some', lastUsage = 'some', closedAt = 'some', rate = 'some',
  lookOf = 'text', lookProven = 'flag', lookBase = 'some', lookSince = 'flag', lookOut = 'text',
}

local function loadAccount(name)
  local packed = redis.call('GET', root .. 'account:' .. name)
  local stored, account = packed and cmsgpack.unpack(packed) or {}, { name = name }
  -- Fail on an unreadable account: as a new one it would have spent nothing.
  if type(stored) ~= 'table' or packed and type(stored[1]) ~= 'string' then
    error('not an account: ' .. name)
  end
  for i, field in ipairs(NAMES) do
    local value, kind = stored[i], KINDS[field]
    if kind == 'flag' then account[field] = value == true
    elseif kind == 'text' then account[field] = type(value) == 'string' and value or nil
    elseif kind == 'some' then account[field] = tonumber(value)
    else account[field] = tonumber(value) or 0 end
  end
  if account.epoch == nil then
    account.isNew = true
    account.epoch = time[1] .. '.' .. time[2]
    account.burst = 1
  end
  return account
end

-- Ended runs, forgotten when the account is saved. A silent run stays, as it may report again.
local deadRuns = {}

local function saveAccount(account)
  local values = {}
  for i, field in ipairs(NAMES) do values[i] = account[field] or false end
  redis.call('SET', root .. 'account:' .. account.name, cmsgpack.pack(values))
  each(deadRuns, function(from, to)
    redis.call('SREM', root .. 'live:' .. account.name, unpack(deadRuns, from, to))
  end)
end

-- Notes the use of the last day (in days since 1970) when a new one begins. Drops days in the
-- future, which a clock that was set back leaves.
local DAY_MS = 86400000
local function turnDay(account)
  local last, today = math.floor(account.changedAt / DAY_MS), math.floor(now / DAY_MS)
  if account.changedAt == 0 or last == today then return end
  local kept = {}
  local function keep(day, use)
    if tonumber(day) < today then kept[#kept + 1] = use end
  end
  for use, day in string.gmatch(account.days or '', '((%d+):%d+)') do keep(day, use) end
  keep(last, string.format('%.0f:%.0f', last, account.sent + account.others))
  account.days = table.concat(kept, ' ', math.max(1, #kept - rules.daysKept + 2))
end

-- Returns the use by days with the current one; empty for a missing account.
local function daysOf(account)
  if account.changedAt == 0 then return '' end
  local current = string.format('%.0f:%.0f', math.floor(now / DAY_MS), account.sent + account.others)
  return account.days and account.days .. ' ' .. current or current
end

-- If the clock was set back, moves these times with it, so that nothing waits longer.
local DATED = {
  'confirmedAt', 'answeredAt', 'closedAt', 'nextProbeAt', 'restsUntil', 'nextSince',
  'resetAwaitedAt', 'turnAskedAt', 'tat', 'floorUntil', 'lookTriesSince', 'lookMarkAt',
  'spentAt', 'checkedAt', 'lookOutAt',
}
local function followClock(account)
  turnDay(account)
  local last = account.changedAt
  account.changedAt = now
  if last <= now then return end
  for _, field in ipairs(DATED) do
    local at = account[field]
    if at ~= nil then account[field] = math.min(at, now + math.max(0, at - last)) end
  end
  account.behindMs = account.behindMs - last + now
end

local function turn(account)
  local second = math.floor(now / 1000)
  if second ~= account.second then
    account.secondBefore = second == account.second + 1 and account.secondSent or 0
    account.secondSent = 0
    account.second = second
  end
end

-- Returns the lowest quota cap and overage of the live runs; without one, no cap and no overage.
local function policyOf(name)
  local quotaCap, overage
  local live = root .. 'live:' .. name
  for _, id in ipairs(redis.call('SMEMBERS', live)) do
    local run = redis.call('HMGET', root .. 'run:' .. id, 'status', 'heartbeatAt', 'overage', 'quotaCap')
    if run[1] == 'running' and hasHeartbeat(run[2]) then
      overage = math.min(overage or math.huge, tonumber(run[3]))
      if run[4] ~= '' then quotaCap = math.min(quotaCap or math.huge, tonumber(run[4])) end
    elseif run[1] ~= 'running' then
      deadRuns[#deadRuns + 1] = id
    end
  end
  return { quotaCap = quotaCap, overage = overage or 0 }
end

local function limitOf(account, policy)
  local quota, cap = account.quota, policy.quotaCap
  if quota == nil and cap == nil then return nil end
  -- A user's cap below the service's quota leaves no overage.
  if quota ~= nil and cap ~= nil and cap < quota then return cap end
  return (quota or cap) + policy.overage
end

-- Returns the requests of the period, with those in flight.
local function spentOf(account) return account.sent + account.held + account.others end
local function hasRoom(account, limit) return limit == nil or spentOf(account) < limit end

-- True if period comes after current, and both are known dates.
local function isLater(period, current)
  return period ~= nil and period ~= 'none' and current ~= nil and current ~= 'none' and period > current
end

-- Returns the quota by the service's header, or by the user before the first header.
local function billedQuota(account, policy)
  return account.quota or policy.quotaCap or math.huge
end

-- Returns the requests beyond the quota if `more` permits were taken.
local function beyondQuota(account, policy, more)
  local standing = spentOf(account) + account.probes + more
  return math.max(0, standing - billedQuota(account, policy))
end
