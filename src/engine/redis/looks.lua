--- @include "account.lua"
-- Requests for the service's own domain (`src/ledger/README.md`): billed until two readings, of
-- moments when all of our own requests were long visible, prove that they are not, and again from the
-- first that contradicts it. Only a reading that comes with the last look alone is judged, as of the
-- moment at which that was granted.
local function isDrained(account) return account.held == 0 and account.probes == 0 end

local function measureLooksFrom(account, usage)
  account.lookBase = usage
  account.lookSince = false
end

-- What was booked counts for good, and what was measured compares with nothing that comes.
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

-- A permit that was closed as billed or perhaps billed. isSent: it counts in this period.
local function noteClosed(account, permit, as, isSent)
  account.spentAt = now
  if permit.own ~= nil and permit.own == account.lookOf then
    account.lookSince = account.lookBase ~= nil
    if isSent then account.lookBooked = account.lookBooked + 1 end
  elseif as == 'billed' and account.lookBase ~= nil then account.lookBase = account.lookBase + 1 end
end

-- The same of a free permit. Another own domain may have taken its place meanwhile.
local function noteClosedFree(account)
  if account.lookProven then
    account.free = account.free + 1
    account.lookRecent = account.lookRecent + 1
  else
    account.spentAt = now
    account.sent = account.sent + 1
  end
end

-- was: `lookSince` and `spentAt` before this call, whose look may not be visible yet, and whether it
-- brought the reading.
local function judgeLooks(account, usage, was, quietMs)
  local at = account.lookOutAt
  if not was.isCarried or not isDrained(account) or at - was.spentAt < quietMs then return end
  local isAbove = account.lookBase ~= nil and usage > account.lookBase
  if account.lookProven then
    if isAbove then
      -- Older ones would have shown by now.
      local looks = account.lookRecent + account.lookEarlier
      account.lookProven = false
      account.lookRises = account.lookRises + 1
      account.sent = account.sent + looks
      account.lookBooked = account.lookBooked + looks
      -- What readings showed of them until now was taken for others'.
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
