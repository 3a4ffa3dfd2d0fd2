--- @include "permits.lua"
-- Where the account stands in its period, and how many requests count in both.
local function standingOf(account)
  return {
    period = account.period, dated = account.pendingDated,
    standing = account.sent - account.pendingDated + account.others,
  }
end

-- Books which of the requests that were just closed are overage: those that stand beyond the quota in the period that they
-- were billed in. before: how the account stood after closing them and before the reading. isProbeWithin: a request beyond the
-- limit was answered with a usage below the quota.
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
      overageOf[each.run] = (overageOf[each.run] or 0) + 1
      if each.used then each.used.overage = each.used.overage + 1 end
    end
  end
end
