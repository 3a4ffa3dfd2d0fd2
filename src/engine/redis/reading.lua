--- @include "looks.lua"
-- What a reading of the usage headers does to the account (it only tightens), when a billing period
-- opens, and how a ledger that went back in time is brought up again.
local function isPeriodDue(account)
  if account.pendingPeriod == nil then return false end
  if account.pendingFalls > 1 or account.pendingSeenAt - account.pendingSince >= rules.periodGraceMs then
    return true
  end
  if now < startOf(account.pendingPeriod) then return false end
  return account.pendingFalls > 0 or now - account.pendingSince >= rules.periodGraceMs
end

-- One answer said that usage fell in a later period, and this clock does not agree.
local function isTurnUnconfirmed(account)
  return account.pendingPeriod ~= nil and account.pendingFalls > 0 and not isPeriodDue(account)
end

-- Opens the pending period once nothing of the old one is out.
local function openDuePeriod(account)
  if not isPeriodDue(account) or not isDrained(account) then return false end
  account.period = account.pendingPeriod
  account.pendingPeriod = nil
  account.pendingSince = 0
  account.pendingSeenAt = 0
  account.pendingFalls = 0
  account.pendingAsked = nil
  account.sent = account.pendingSent + account.pendingDated
  account.early = account.pendingSent
  account.pendingSent = 0
  account.pendingDated = 0
  account.others = 0
  account.usage = nil
  account.closedAt = nil
  account.lastUsage = nil
  account.days = nil
  account.free = 0
  endLooks(account)
  return true
end

local function awaitPeriod(account, period)
  account.pendingPeriod = period
  account.pendingSince = now
  account.pendingKeptAt = now
  account.pendingFalls = 0
end

-- Whether this clock agrees that the pending period may have begun.
local function isPendingNear(account)
  return account.pendingPeriod ~= nil and now >= startOf(account.pendingPeriod) - rules.turnMarginMs
end

-- A reading of a later period. hasConfirmed: it came with the request that went alone to find out.
local function notePending(account, reading, hasConfirmed)
  -- Where this clock agrees with the one that is awaited, a date that is far off is wrong.
  local isFarOff = isLater(reading.period, account.pendingPeriod)
    and now < startOf(reading.period) - rules.turnMarginMs
  if isFarOff and isPendingNear(account) then return end
  if account.pendingPeriod ~= reading.period then awaitPeriod(account, reading.period) end
  account.pendingSeenAt = now
  if reading.usage == nil or account.usage == nil then return end
  -- A fall is more than answers that overtake each other explain, or less than our own count where
  -- no answer is overtaken.
  local hasFallen = reading.usage < account.usage - account.held - account.probes
    or 2 * reading.usage < account.usage
    or (hasConfirmed and reading.usage < account.sent)
  if hasFallen and now >= startOf(reading.period) then account.pendingFalls = 2
  elseif account.pendingFalls > 1 then return
  elseif not hasFallen then account.pendingFalls = 0
  elseif account.pendingFalls == 0 or hasConfirmed then account.pendingFalls = account.pendingFalls + 1 end
end

-- The first answers name the period: one is enough where this clock is in it or near it, else two
-- in a row. False: not yet.
local function nameFirstPeriod(account, period)
  local age = now - startOf(period)
  if (age < -rules.periodAheadMs or age > rules.longestPeriodMs) and account.firstPeriod ~= period then
    account.firstPeriod = period
    return false
  end
  account.period = period
  account.firstPeriod = nil
  return true
end

-- False when the reading belongs to another period than the ledger's.
local function followPeriod(account, reading, hasConfirmed)
  local following = reading.period
  if following ~= nil and following ~= 'none' and account.period ~= 'none' then
    if account.period == nil then
      if not nameFirstPeriod(account, following) then return true end
    elseif following < account.period then
      if startOf(account.period) - now <= rules.periodAheadMs or startOf(following) > now then
        return false
      end
      -- It was named by a date that was not to come for long.
      account.period = following
    end
    if following > account.period then
      notePending(account, reading, hasConfirmed)
      if not openDuePeriod(account) then return false end
    elseif account.pendingFalls < 2 then
      -- Not in a row: the service still is in this period, and soon what was dated otherwise is
      -- too.
      account.pendingFalls = 0
      account.pendingSince = now
      account.pendingSeenAt = 0
      if now - account.pendingKeptAt >= rules.pendingKeptMs then
        -- What was dated in the next one is in doubt for as long again.
        account.pendingSent = isPendingNear(account) and 0 or account.pendingDated
        account.pendingDated = account.pendingDated - account.pendingSent
        account.pendingKeptAt = now
      end
    end
  elseif following == 'none' and account.period == nil then account.period = 'none' end
  return true
end

local function applyReading(account, reading, hasConfirmed, was, usageLagMs)
  if reading.date ~= nil then
    local behindMs = now - reading.date
    account.behindMs = behindMs > rules.turnMarginMs and behindMs or 0
  end
  if not followPeriod(account, reading, hasConfirmed) then return end
  if reading.quota ~= nil then
    if account.closedAt ~= nil and account.quota ~= nil and reading.quota > account.quota then
      account.closedAt = nil
    end
    account.quota = reading.quota
  end
  if reading.usage == nil then return end
  judgeLooks(account, reading.usage, was, rules.quietLags * usageLagMs)
  local seen = reading.usage - account.sent - account.held - account.probes
  account.others = math.max(account.others, seen)
  account.early = math.min(account.early, account.others - seen)
  account.lastUsage = reading.usage
  -- Answers overtake each other, and within a period usage only grows.
  account.usage = math.max(account.usage or 0, reading.usage)
end

local function restoreSeen(account, seen, usageLagMs)
  if seen == nil then return end
  if seen.epoch == account.epoch and seen.version <= account.version then return end
  if account.period == nil then account.period = seen.period end
  if account.period == seen.period then
    account.sent = math.max(account.sent, seen.spent)
    account.others = math.max(account.others, seen.others)
  end
  if seen.epoch == account.epoch then account.version = seen.version end
  account.restsUntil = now + usageLagMs
  account.confirmedAt = 0
  -- What was measured and booked may be older than the count.
  endLooks(account)
  account.spentAt = now
end
