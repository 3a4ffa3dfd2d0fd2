--- @include "permits.lua"
-- Which requests are overage: those beyond the quota by their own header, or in the period that they
-- are billed in when they are settled. It is never booked again. Caps count those that may be, in
-- either of two periods while one follows the other, so that they are never passed.

-- How the account stands after closing requests and before the reading: what the service bills in
-- the period and in the next one, and the most that it may.
local function snapshotOf(account)
  return {
    period = account.period, next = account.nextDated, last = 0,
    this = account.sent - account.nextDated - account.early + account.others,
    most = math.max(account.sent + account.others, account.nextSent + account.nextDated),
  }
end

-- Books which of the requests that were just closed are overage. isProbeWithin: a request beyond the
-- limit was answered with a usage below the quota.
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
