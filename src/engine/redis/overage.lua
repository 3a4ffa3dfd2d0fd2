--- @include "permits.lua"
-- Which requests are overage: those beyond the quota in the period that they are billed in. What may
-- turn out otherwise is remembered by run: the requests of a next period that may not have begun,
-- those of an account whose quota is not known yet, and those without a date at the turn of a period.
local function bookBill(bill, overage)
  if overage == 0 then return end
  countFor(bill.run, 'overageBilled', overage)
  if bill.generation == '' then return end
  local used = capsOf(bill.generation)
  used.overage = used.overage + overage
  touchedCaps[bill.generation] = true
end

local function billsIn(packed) return stored(packed or nil) or {} end
local function packBills(bills) return #bills > 0 and cjson.encode(bills) or nil end

local function addBill(bills, payer, over, more)
  for _, bill in ipairs(bills) do
    if bill.run == payer.run and bill.generation == payer.generation then
      bill.count = bill.count + more
      bill.booked = bill.booked + over
      return
    end
  end
  bills[#bills + 1] = { run = payer.run, generation = payer.generation, count = more, booked = over }
  if #bills > rules.billsKept then table.remove(bills, 1) end
end

local function joinBills(bills, more)
  for _, bill in ipairs(more) do addBill(bills, bill, bill.booked, bill.count) end
  return packBills(bills)
end

-- Those at the end are the last that were billed: the last of them stands at `top`.
local function bookAnew(packed, top, quota)
  local bills, last = billsIn(packed), top
  for i = #bills, 1, -1 do
    local bill = bills[i]
    local booked = math.min(bill.count, math.max(0, last - quota))
    bookBill(bill, booked - bill.booked)
    bill.booked = booked
    last = last - bill.count
  end
  return bills
end

-- How the account stands after closing requests and before the reading.
local function snapshotOf(account)
  return {
    period = account.period, standing = standingOf(account), dated = account.pendingDated,
    lastStanding = account.lastStanding, quota = account.quota, bills = account.bills,
  }
end

-- Books which of the requests that were just closed are overage. isProbeWithin: a request beyond the
-- limit was answered with a usage below the quota.
local function bookOverage(account, quota, before, isProbeWithin)
  local isQuotaNew = before.quota == nil and account.quota ~= nil
  if #billed == 0 and not isQuotaNew then return end
  local counts = { this = 0, next = 0, last = 0 }
  for _, each in ipairs(billed) do counts[each.period] = counts[each.period] + 1 end
  local hasOpened = isLater(account.period, before.period)
  local at = {
    this = (hasOpened and before.standing or standingOf(account)) - counts.this,
    next = (hasOpened and before.dated or account.pendingDated) - counts.next,
    last = before.lastStanding,
  }
  local undated = billsIn(hasOpened and account.earlyBills or account.undatedBills)
  local early = not hasOpened and billsIn(account.earlyBills) or {}
  local isUndatedKept = hasOpened or account.pendingSent > 0
  if isQuotaNew then
    local known = bookAnew(before.bills, at.this, quota)
    if #undated > 0 then
      for _, bill in ipairs(known) do addBill(undated, bill, bill.booked, 0) end
    end
    local following = bookAnew(hasOpened and account.bills or account.pendingBills, at.next, quota)
    account.pendingBills = not hasOpened and packBills(following) or nil
    account.bills = nil
  end
  local isNextKept, isUnpriced = counts.next > 0 and not hasOpened, account.quota == nil
  local pending = isNextKept and billsIn(account.pendingBills)
  local bills = isUnpriced and billsIn(account.bills)
  for _, each in ipairs(billed) do
    at[each.period] = at[each.period] + 1
    local over = (each.isBeyond or not isProbeWithin and at[each.period] > quota) and 1 or 0
    bookBill(each, over)
    if each.period == 'next' and not hasOpened then addBill(pending, each, over, 1)
    elseif isUnpriced and each.period == (hasOpened and 'next' or 'this') then
      addBill(bills, each, over, 1)
    end
    if each.period == 'this' and isUndatedKept and (each.isUndated or over > 0 and #undated > 0) then
      addBill(undated, each, over, each.isUndated and 1 or 0)
    elseif each.period == 'last' and over > 0 and #early > 0 then addBill(early, each, over, 0) end
  end
  if isNextKept then account.pendingBills = packBills(pending) end
  if isUnpriced then account.bills = packBills(bills) end
  if hasOpened then
    account.earlyBills = packBills(undated)
    return
  end
  account.undatedBills = packBills(undated)
  account.earlyBills = packBills(early)
  account.lastStanding = account.lastStanding + counts.last
end

-- The requests of the period cannot be fewer than its usage: so many of those that were not dated
-- are billed in this one, and no longer in the one before.
local function bookEarly(account, quota)
  if account.earlyBills == nil or account.usage == nil then return end
  local bills, inDoubt = billsIn(account.earlyBills), 0
  for _, bill in ipairs(bills) do inDoubt = inDoubt + bill.count end
  local notUsed = account.sent + account.held + account.probes + account.others - account.usage
  local moved = math.min(inDoubt, account.early - math.max(0, notUsed))
  if moved <= 0 then return end
  local function over(top) return math.max(0, top - quota) end
  local top, last, taken = standingOf(account), account.lastStanding, moved
  local added, released = over(top + moved) - over(top), over(last) - over(last - moved)
  local function rebook(bill, less, more)
    bookBill(bill, more - less)
    bill.booked = bill.booked - less
    released = released - less
    added = added - more
  end
  -- Who is billed more is first in being billed less.
  for i = #bills, 1, -1 do
    local bill = bills[i]
    local count = math.min(bill.count, taken)
    rebook(bill, math.min(count, bill.booked, released), math.min(count, added))
    bill.count = bill.count - count
    taken = taken - count
  end
  for _, bill in ipairs(bills) do rebook(bill, math.min(bill.booked, released), 0) end
  account.earlyBills = moved < inDoubt and packBills(bills) or nil
  account.early = account.early - moved
  account.lastStanding = last - moved
end

-- The next period has not begun: what was dated in it is billed in this one.
local function takeBackPending(account, quota)
  account.pendingSent = account.pendingSent + account.pendingDated
  account.pendingDated = 0
  if account.pendingBills == nil then return end
  local returned = bookAnew(account.pendingBills, standingOf(account), quota)
  account.pendingBills = nil
  account.undatedBills = joinBills(billsIn(account.undatedBills), returned)
  if account.quota == nil then account.bills = joinBills(billsIn(account.bills), returned) end
end

-- Requests of a generation that are overage if they are billed in another period than it seems.
local function maybeOverageOf(account, generation)
  local count = 0
  local function add(packed)
    for _, bill in ipairs(billsIn(packed)) do
      if bill.generation == generation then count = count + math.max(0, bill.count - bill.booked) end
    end
  end
  add(account.earlyBills)
  if account.pendingPeriod ~= nil then
    add(account.undatedBills)
    if not isPendingNear(account) then add(account.pendingBills) end
  end
  return count
end
