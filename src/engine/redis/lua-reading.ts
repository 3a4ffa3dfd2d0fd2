/**
 * Lua: what a reading of the usage headers does to the account (it only tightens), when a billing period opens, and how a
 * ledger that went back in time is brought up again. The reference is `test/model/ledger-model.ts`.
 */

export const LUA_READING = `
local JUMP_CONFIRM_MS, JUMP_FLOOR, PERIOD_GRACE_MS = 60000, 1000, 900000

local function isPeriodDue(account)
  if account.pendingPeriod == nil then return false end
  return account.pendingFell or now - account.pendingSince >= PERIOD_GRACE_MS
end

local function openPeriod(account)
  account.period = account.pendingPeriod
  account.pendingPeriod = nil
  account.pendingSince = 0
  account.pendingFell = false
  account.sent = account.pendingSent
  account.pendingSent = 0
  account.others = 0
  account.usage = nil
  account.closedAt = nil
  account.suspectSince = 0
end

local function isDrained(account) return account.held == 0 and account.probes == 0 end

-- False when the reading belongs to another period than the ledger's.
local function followPeriod(account, reading)
  local following = reading.period
  if following ~= nil and following ~= 'none' and account.period ~= 'none' then
    if account.period == nil then account.period = following
    elseif following < account.period then return false
    elseif following > account.period then
      if account.pendingPeriod ~= following then
        account.pendingPeriod = following
        account.pendingSince = now
        account.pendingFell = false
      end
      if reading.usage and account.usage and reading.usage < account.usage then account.pendingFell = true end
      if not (isPeriodDue(account) and isDrained(account)) then return false end
      openPeriod(account)
    end
  elseif following == 'none' and account.period == nil then account.period = 'none' end
  return true
end

local function applyReading(account, reading)
  if not followPeriod(account, reading) then return end
  if reading.quota ~= nil then
    if account.closedAt ~= nil and account.quota ~= nil and reading.quota > account.quota then
      account.closedAt = nil
    end
    account.quota = reading.quota
  end
  if reading.usage == nil then return end
  local candidate = reading.usage - account.sent - account.held - account.probes
  local jump = candidate - account.others
  turn(account)
  local allowed = math.max(JUMP_FLOOR, 10 * (account.minuteSent + account.minuteBefore))
  if account.heardAt ~= 0 and account.usage ~= nil and jump > allowed then
    if account.suspectSince == 0 then account.suspectSince = now end
    if now - account.suspectSince < JUMP_CONFIRM_MS then return end
  end
  account.suspectSince = 0
  account.usage = reading.usage
  if jump > 0 then account.others = candidate end
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
  account.heardAt = 0
end
`;
