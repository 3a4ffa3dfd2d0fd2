--- @include "account.lua"
-- Usage headers, billing periods, and looks: requests for the service's own domain. The README of
-- `../stores` describes the proof that they are free.
local function isDrained(account) return account.held == 0 and account.probes == 0 end

local function measureLooksFrom(account, usage)
  account.lookBase = usage
  account.lookSince = false
end

-- Ends the measurement, which cannot be compared with later readings. Booked looks count for good.
local function endLooks(account)
  measureLooksFrom(account, nil)
  account.lookBooked = 0
  account.lookRecent = 0
  account.lookEarlier = 0
end

local function meetOwnDomain(account, own)
  if account.lookOf == own then return end
  endLooks(account)
  account.lookOf = own
  account.lookProven = false
  account.lookRises = 0
end

-- Notes a permit that was closed as billed or perhaps billed. isSent: it counts in this period.
local function noteClosed(account, permit, as, isSent)
  account.spentAt = now
  if permit.own ~= nil and permit.own == account.lookOf then
    account.lookSince = account.lookBase ~= nil
    if isSent then account.lookBooked = account.lookBooked + 1 end
  elseif as == 'billed' and account.lookBase ~= nil then account.lookBase = account.lookBase + 1 end
end

-- Notes a free permit that was closed. It counts as sent if the proof has ended meanwhile.
local function noteClosedFree(account)
  if account.lookProven then
    account.free = account.free + 1
    account.lookRecent = account.lookRecent + 1
  else
    account.spentAt = now
    account.sent = account.sent + 1
  end
end

-- was: `lookSince` and `spentAt` before this call, and whether a look brought the reading, whose
-- usage may not show that look yet.
local function judgeLooks(account, usage, was, quietMs)
  local at = account.lookOutAt
  if not was.isCarried or not isDrained(account) or at - was.spentAt < quietMs then return end
  local isAbove = account.lookBase ~= nil and usage > account.lookBase
  if account.lookProven then
    if isAbove then
      -- The usage would have shown older looks before.
      local looks = account.lookRecent + account.lookEarlier
      account.lookProven = false
      account.lookRises = account.lookRises + 1
      account.sent = account.sent + looks
      account.lookBooked = account.lookBooked + looks
      -- Until now they counted as others' requests.
      account.others = math.max(0, account.others - looks)
      account.lookRecent = 0
      account.lookEarlier = 0
      account.spentAt = now
    elseif at - account.lookMarkAt >= quietMs then
      account.lookEarlier = account.lookRecent
      account.lookRecent = 0
      account.lookMarkAt = at
    end
  elseif isAbove then account.lookRises = account.lookRises + 1
  elseif usage == account.lookBase then
    if not was.since then return end
    account.lookProven = true
    account.lookRises = 0
    account.sent = account.sent - math.min(account.lookBooked, account.sent)
    account.lookBooked = 0
    account.lookMarkAt = at
  end
  measureLooksFrom(account, usage)
end

local function forgetNext(account)
  account.nextPeriod = nil
  account.nextSince = 0
  account.hasNextFallen = false
end

-- Opens a period. Requests in flight count in it, too.
local function openPeriod(account, period, usage, resetAwaitedAt)
  forgetNext(account)
  account.period = period
  account.periodEnd = nil
  account.nextAsked = nil
  account.sent = account.nextSent + account.nextDated
  -- With a usage, `applyReading` finds how many of the dated ones are billed in the new period.
  account.early = account.nextSent + (usage == nil and 0 or account.nextDated)
  account.nextSent = 0
  account.nextDated = 0
  account.resetAwaitedAt = resetAwaitedAt
  account.others = 0
  account.usage = nil
  account.closedAt = nil
  account.lastUsage = nil
  account.days = nil
  account.free = 0
  endLooks(account)
end

-- Returns from when on one request a day beyond the limit may ask, on any plan, whether the next
-- period or a late reset has come; nil if none may.
local function asksAt(account)
  local tomorrow = account.turnAskedAt + DAY_MS
  if account.resetAwaitedAt ~= nil then
    local at = math.max(account.resetAwaitedAt, tomorrow)
    if at <= account.resetAwaitedAt + rules.dateAgreesMs then return at end
  end
  if account.periodEnd == nil then return nil end
  -- The period must be over by the store's clock and by the service's.
  return math.max(account.periodEnd + rules.turnMarginMs + math.max(0, account.behindMs), tomorrow)
end
local function mayAskTurn(account)
  local at = asksAt(account)
  return at ~= nil and now >= at
end

-- Follows the table of periods in `src/ledger/README.md`. Returns false for a reading of another
-- period. today: the period by the store's clock. hasConfirmed: the request went alone.
local function followPeriod(account, reading, today, hasConfirmed, others)
  local period, usage, last = reading.period, reading.usage, account.usage
  -- Answers that overtake each other explain a smaller fall.
  local hasFallen = usage ~= nil and last ~= nil and (usage < last - others or 2 * usage < last)
  account.period = account.period or period
  if period == nil then
    if hasFallen and isLater(today, account.period) then openPeriod(account, today, usage, nil) end
    return true
  end
  if isLater(account.period, period) then return false end
  if not isLater(period, account.period) then
    forgetNext(account)
    if hasFallen and account.resetAwaitedAt ~= nil and today == period then
      -- The service reset late.
      account.resetAwaitedAt = nil
      account.others = 0
      account.usage = nil
      account.early = math.huge
    end
    return true
  end
  if account.nextPeriod ~= period then
    forgetNext(account)
    account.nextPeriod = period
    account.nextSince = now
  end
  local isIn = today ~= nil and not isLater(period, today)
  local opens = isIn and now - account.nextSince >= rules.periodGraceMs
  if hasFallen then opens = isIn or (account.hasNextFallen and hasConfirmed) end
  account.hasNextFallen = hasFallen
  if opens then openPeriod(account, period, usage, not hasFallen and now or nil) end
  return opens
end

-- Applies a reading, which only tightens the account within a period. others: permits that were out
-- beside the reading's.
local function applyReading(account, reading, today, hasConfirmed, others, was, usageLagMs)
  if reading.date ~= nil then account.behindMs = now - reading.date end
  if not followPeriod(account, reading, today, hasConfirmed, others) then return end
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
  -- Usage only grows within a period, but answers overtake each other.
  account.usage = math.max(account.usage or 0, reading.usage)
end

-- Restores counts that a worker has seen and the store has lost.
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
  -- The measurement may be older than the restored counts.
  endLooks(account)
  account.spentAt = now
end
