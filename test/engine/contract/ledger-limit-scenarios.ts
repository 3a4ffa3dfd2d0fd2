/** Histories of limits, probes, periods and readings, which random ones seldom reach. */
import { historiesOf } from './ledger-script.js';

export const LEDGER_LIMIT_HISTORIES = historiesOf(`
# eight requests may be in flight while the quota is unknown
start; confirmed, take 0 0 0 0 0 0 0 0 0 0 -> 8 granted, 2 denied
# after five minutes without an answer one request goes alone
start; read 0/100; wait 300s; wait 4s; take 0 1 -> granted, denied
# requests in flight when a run begins do not prevent the next from going alone
start; read 0/100; take 0 1 2 -> 3 granted
open; take 3 4 -> granted, denied
take 4 -> denied
free 3; take 4 5 -> granted, denied
# before five minutes have passed they go together
start; read 0/100; wait 64s; wait 64s; wait 64s; take 0 1 -> 2 granted
# a billed probe beyond the limit shows that overage is served, and no other follows
start; open; read 0/1; read 0/1; take 0 1 -> granted, denied
billed 0; wait 64s; take 2 3 -> granted, denied
billed 2; wait 64s; wait 64s; take 4 -> denied
turned, take 5 -> granted
# a quota of the user below that of the service leaves no overage, and stands in for one that is unknown
start, plan paid, quotaCap 1, overage 1; confirmed, take 0 -> granted
billed 0, take 1 -> granted
free 1, confirmed; read 1/10; take 2 -> denied
# so does the probe of a new run whose header may not show the last requests yet
start; open; read 0/1; read 0/1; take 0 -> granted
answer 0 0/1; open; take 1 -> granted
answer 1 0/1; show 0; open; take 2 -> denied
# and one that was sent before its header could show them, however late it is settled
start; open; read 0/1; read 0/1; take 0 -> granted
answer 0 0/1; open; take 1 -> granted
wait 64s; answer 1 0/1; open; take 2 -> denied
# a probe that is answered with the small usage of an earlier period shows the same
start; open; read 0/1 2020-02; take 0 -> granted
answer 0 1/1 2020-02; wait 64s; take 1 -> granted
answer 1 0/1; wait 64s; wait 64s; take 2 -> denied
# a paid plan is not probed, however long it takes
start, plan paid; read 1/1; wait 64s; take 0 -> denied
# after a refusal for quota one probe a minute is sent, and a billed one reopens the account
start; read 0/10; refused, take 0 -> denied
wait 64s; take 1 2 -> granted, denied
free 1, refused, take 2 -> denied
wait 64s; take 3 -> granted
billed 4; take 4 5 -> 2 granted
# a raised quota reopens the account, a lower one does not
start; read 0/10; refused; read 0/9; take 0 -> denied
read 0/12; take 1 -> granted
# a new period opens at once where the clock is in it, and what is in flight counts in both
start; read 50/100; read 50/100; take 0 -> granted
turned, read 0/100 2020-02; show; take 1 -> granted
answer 0 1/100 2020-02; show; read 70/100 2020-02; show
# what was settled before the new period was first seen does not count in it
start; read 50/100; take 0 -> granted
billed 0; read 51/100; take 1 -> granted
turned, answer 1 1/100 2020-02; take 2 -> granted; show
# what settles when the clock is in the next period counts in both
start; read 50/100; take 0 1 -> 2 granted
turned, answer 0 51/100; lost 1; turned, read 1/100 2020-02; show; read 2/100 2020-02; show
# a new period without a fall in usage opens after a quarter of an hour, and a late fall counts once
start; read 50/100; turned, read 60/100 2020-02; take 0 -> granted
turned, free 0; wait 904s; show; turned, read 60/100 2020-02; show; take 1 -> granted
answer 1 3/100 2020-02; show; read 70/100 2020-02; read 2/100 2020-02; show
# an answer of this period in between begins the quarter of an hour anew
start; read 50/100; turned, read 60/100 2020-02; wait 904s; turned, read 60/100
turned, read 60/100 2020-02; show; wait 904s; read 60/100 2020-02; show; turned, read 60/100 2020-02; show
# one answer dated in the next period, where the clock disagrees, is confirmed by a request that goes alone
start; read 50/100; read 50/100; take 0 1 -> 2 granted
answer 0 0/100 2030-02; take 2 -> denied
answer 1 52/100; take 2 3 -> 2 granted
answer 3 0/100 2030-02; free 4; take 4 5 -> granted, denied
answer 5 0/100 2030-02; take 0 1 -> 2 granted
# one answer is enough where the clock agrees
start; read 50/100; read 50/100; take 0 -> granted
turned, answer 0 0/100 2020-02; take 1 2 -> 2 granted
# a usage that falls with no usable date opens the period that the clock is in
start; read 50/100; turned, read 60/100 undated; show; read 0/100 undated; show; turned, read 0/100 undated; show
# a date that the clock does not know yet hides no overage
start, plan paid, overage 9, maxOverageRequests 1; read 0/2; read 0/2
take 0 1, before 0/2 -> 2 granted
answer 0 1/2; answer 1 2/2 2066-11; take 2 3 -> granted, denied
answer 2 3/2 2066-11; read 3/2; take 3 -> denied
show 0
# a probe that the header shows within the quota is no overage, and others follow it
start, plan free; read 0/2; read 0/2; take 0 1, before 0/2 -> 2 granted
lost 0; lost 1; wait 64s; open; take 2 -> granted
answer 2 1/2; show 0; wait 64s; wait 4s; take 3 -> granted
# a probe that first names the next period, where the clock disagrees, is confirmed by one more on any plan
start; read 0/3; take 0 1 2, before 0/3 -> 3 granted
answer 0 1/3; answer 1 2/3; answer 2 3/3; wait 64s; open; take 3 -> granted
answer 3 1/3 2030-02; show 0; take 4 5 -> granted, denied
answer 4 2/3 2030-02; take 5 -> granted
show 0
# a wrong period seen before the limit was reached gets no request beyond it
start; read 0/2; take 0 1, before 0/2 -> 2 granted
answer 0 1/2; answer 1 0/2 2030-02; take 2 -> denied
show 0
# a probe that names the next period is the last one when the next request contradicts it
start; read 0/2; take 0 1, before 0/2 -> 2 granted
answer 0 1/2; answer 1 2/2; wait 64s; open; take 2 -> granted
answer 2 1/2 2030-02; take 3 -> granted
answer 3 4/2; take 4 -> denied
wait 64s; take 5 -> denied
show 0
# a lost request that should have confirmed the next period is the last one
start; read 0/2; take 0 1, before 0/2 -> 2 granted
answer 0 1/2; answer 1 2/2; wait 64s; open; take 2 -> granted
answer 2 1/2 2030-02; take 3 -> granted
lost 3; take 4 -> denied
show 0
# answers out of order hide no new period that the clock is in
start; read 9/15; take 0 1 2 3 4 5, before 9/15 -> 6 granted
answer 0 12/15; answer 1 10/15; turned, answer 2 2/15 2020-02; turned, answer 3 1/15 2020-02; answer 4 11/15
turned, answer 5 3/15 2020-02; take 0 -> granted
show 0
# a used-up cap of the user is not probed, unless the period may be over
start, quotaCap 2; open; read 2/1000; read 2/1000; wait 64s; take 0 -> denied
turned, take 1 -> granted
# on a paid plan one request a day asks for the next period
start, plan paid; read 4/4; wait 64s; turned, take 0 -> granted
turned, answer 0 5/4 2020-02; wait 64s; turned, take 1 -> denied
wait 24h; turned, take 1 -> granted
turned, answer 2 1/4 2020-02; take 1 -> granted
# on a paid plan one request a day asks for a reset that is late, for a day and a half
start, plan paid; read 2/2; turned, read 2/2 2020-02; wait 904s; turned, read 2/2 2020-02; show
wait 64s; take 0 -> granted
answer 0 3/2 2020-02; wait 64s; take 1 -> denied
wait 24h; take 1 -> granted
answer 2 4/2 2020-02; wait 24h; take 1 -> denied
# a service whose clock is a month behind is asked for nothing beyond the limit
start, plan paid; read 2/2; read 2/2 2020-01 behind 30d; wait 64s; turned, take 0 -> denied
read 2/2 2020-01 behind 0s; wait 64s; turned, take 1 -> granted
# a past period does not return
start; read 50/100 2020-03; read 0/100 2020-02; read 0/100 2020-04; read 0/100 2020-04
# an account without periods takes every reading as its own
start; read 5/100 none; read 7/100 2020-02; read 2/100 undated
# a reading raises what others spent, or does nothing, however far or often it falls
start, plan paid; read 0/4; read 3/4; take 0 -> granted
billed 0; read 1/4; wait 604s; read 1/4; wait 604s; read 1/4; take 1 -> denied
show
# one header that is far too high stops spending at once, until a person corrects it
start, plan paid; read 10/90000; read 95000/90000; take 0 -> denied
read 10/90000; take 0 -> denied
show
# a quarter of what is left is in flight, by the highest usage read, and at least one
start, plan paid; read 0/12; take 0 1 2 3 -> 3 granted, denied
free 0; answer 1 4/12; take 4 -> granted
answer 2 7/12; take 5 -> denied
answer 4 11/12; take 0 1 -> granted, denied
answer 6 12/12; take 1 -> denied
# beyond the quota it is a quarter of what the budget leaves, and of what the cap of the run does
start, plan paid, overage 100, maxOverageRequests 8; start, plan paid, overage 100, key 1; read 2/6
take 0 1 -> granted, denied
answer 0 6/6; take 1 2 3 -> 2 granted, denied
run 1, take 4 5 -> 2 granted
`);
