--- @include "looks.lua"
-- What a reading of the usage headers does to the account (it only tightens), when a billing period
-- opens, and how a ledger that went back in time is brought up again.
local function forgetNext(account)
  account.nextPeriod = nil
  account.nextSince = 0
  account.hasNextFallen = false
end

-- What is in flight counts in the new period, too.
local function openPeriod(account, period, usage, resetAwaitedAt)
  forgetNext(account)
  account.period = period
  account.periodEnd = nil
  account.nextAsked = nil
  account.sent = account.nextSent + account.nextDated
  -- The usage shows how many of those that are dated in it are billed in it.
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

-- From when on one request beyond the limit may ask for the next period, or for a reset that is late,
-- on any plan: once a day; nil where none may.
local function asksAt(account)
  local tomorrow = account.turnAskedAt + DAY_MS
  if account.resetAwaitedAt ~= nil then
    local at = math.max(account.resetAwaitedAt, tomorrow)
    if at <= account.resetAwaitedAt + rules.dateAgreesMs then return at end
  end
  if account.periodEnd == nil then return nil end
  -- Over by the store's clock and by the service's.
  return math.max(account.periodEnd + rules.turnMarginMs + math.max(0, account.behindMs), tomorrow)
end
local function mayAskTurn(account)
  local at = asksAt(account)
  return at ~= nil and now >= at
end

-- The table of periods: `src/ledger/README.md`. today: the period that the store's clock is in.
-- hasConfirmed: the answer came to a request that went alone. False: it is of another period.
local function followPeriod(account, reading, today, hasConfirmed, others)
  local period, usage, last = reading.period, reading.usage, account.usage
  -- More than answers that overtake each other explain.
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

-- others: permits that were out beside the one that brought the reading.
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
