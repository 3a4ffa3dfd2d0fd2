/** Histories of pace, unusable answers, caps and deadlines, which random ones seldom reach. */
import { historiesOf } from './ledger-script.js';

export const LEDGER_SPENDING_HISTORIES = historiesOf(`
# a usage header that lags behind held permits is not taken for spending by others
start; read 0/10; take 0 1 2 3, before 0/10 -> 4 granted
read 2/10; billed 0; read 4/10; read 7/10; read 1/10
# a cap holds although another run of the same key completes, until the last of them does
start, maxRequests 2; start; read 0/10; take 0 1 -> 2 granted
end 1; take 2 -> denied
billed 0; billed 1; take 3 -> denied
# a run that begins after another of the same key completed has caps of its own
start, maxRequests 1; start; read 0/10; take 0 -> granted
end 1; take 1 -> denied
start, maxRequests 1; run 2, take 1 -> granted
billed 0; run 2, take 2 -> denied
# the pace spreads requests over the second, and refuses those beyond it
start; read 0/100; pace 3 2 0s, take 0 1 2 3 4 5 0 1 -> 5 granted, 3 denied
# a pace judged by an old version is left unchanged
start; read 0/100; pace 0.5 1 5s unjudged, take 0 1 2 -> 3 granted
# nothing is sent before the time that Retry-After set
start; read 0/100; pace unlimited 1 5s, take 0 -> denied
wait 4s; pace unlimited 1 100ms, take 1 -> granted
wait 4s; take 2 -> granted
# a key answered unusably twice in a run is not asked for again, a key billed once is
start; read 0/100; take 0 1 -> 2 granted
lost 0, billed 1, unconfirmed, take 0 1 -> 2 granted
lost 2, billed 3, unconfirmed, take 0 1 -> attempts_exhausted, granted
# a permit given back is given back to the caps too, overage included
start, overage 5, maxRequests 3, maxOverageRequests 1; read 0/1; take 0 1, before 0/1 -> 2 granted
take 2 -> denied
free 1; billed 0; take 3 4 -> granted, denied
# a request is overage if it is beyond the quota when settled, whatever it looked like when taken
start, overage 9; read 0/2; take 0 1 2 3 4, before 0/2 -> 5 granted
billed 4; free 0; billed 3; billed 2; lost 1; show 0
# the answer that shows a raised quota or a new period is no overage
start; open; read 1/1; wait 64s; take 0 -> granted
answer 0 2/5; take 1 2 3, before 2/5 -> 3 granted
answer 1 3/5; turned, answer 2 1/5 2020-02; answer 3 2/5 2020-02; show 0
# the cap on overage is used up fully, and a free answer releases its part
start, plan paid, overage 9, maxOverageRequests 2; read 0/2; take 0 1 2 3, before 0/2 -> 4 granted
take 4 -> denied
free 0; billed 1; billed 2; billed 3; take 0 1 -> granted, denied
take 2 -> denied
billed 5; take 2 -> denied
show 0
# a run takes no permit that could push the requests of another run over its cap
start, plan paid, overage 100, maxOverageRequests 1; start, plan paid, overage 100, key 1
read 0/100 undated; take 0 1 2 -> 3 granted
// The fifth may make one of the first run's an overage, the sixth two of them.
read 4/4 undated; run 1, take 3 4 -> granted, denied
billed 0; run 1, take 5 -> denied
free 1; billed 2; run 1, take 5 -> granted
# permits past their deadline count as sent, and release others at no cost
start; read 0/2; read 0/100 undated; take 0 1, deadline 6s -> 2 granted
read 0/2 undated; wait 8s; free 0, take 2 -> denied
# the last permits of a dead worker are waited for as long as a heartbeat, not as long as a request
start; handover; read 0/100 undated; worker 1, take 0 -> granted
take 1 -> granted
read 0/2 undated; take 2 -> denied
wait 10s; wait 10s; take 2 -> denied
free 0, take 2 -> denied
show 0
# a lone request of a dead worker is waited for as long as a heartbeat
start; handover; worker 1, take 0 -> granted
take 1 -> denied
wait 10s; wait 10s; take 1 -> granted
take 2 -> denied
# so is a dead worker's probe after a refusal
start; handover; read 0/4; refused; wait 64s; worker 1, take 0 -> granted
wait 10s; wait 10s; wait 64s; take 1 -> granted
# a clock that is set back by three days makes nothing wait, and frees nothing
start; handover; read 0/100; pace 3 1 5s; wait 8s; worker 1, take 0, deadline 6s -> granted
wait -3d; take 1 -> granted
read 0/3; wait 8s; wait 10s; billed 1; take 2 3 -> granted, denied
# of two live runs the lower quota and the lower overage hold, until it is dead
start, quotaCap 4, overage 2; start, plan paid, quotaCap 2, key 1; read 0/3; take 0 -> granted
billed 0; take 1 -> granted
billed 1; take 2 -> denied
wait 40s; take 3 -> granted
billed 3; take 4 -> granted
billed 4; take 5 -> granted
billed 5; take 0 -> denied
# answers lost at the turn of a month are overage of the one that they were sent in
start, plan paid, overage 9; start, plan paid, overage 9, maxOverageRequests 3, key 1; read 8/10
read 8/10; read 8/100 undated; take 0 1 2 3 -> 4 granted
run 1, take 4 5 -> 2 granted
read 8/10 undated; answer 0 9/10; turned, answer 1 10/10; lost 3; turned, answer 2 1/10 2020-02; lost 4; show 1
lost 5; show 1; read 2/10 2020-02; show 1; read 12/10 2020-02; show 1; run 1, take 4 -> granted
# a cap on overage counts what is beyond the quota in either of two months
start, plan paid, overage 9, maxOverageRequests 2; read 8/10; read 8/10
take 0 1 2 3, before 8/10 -> 4 granted
answer 0 9/10; answer 1 1/10 2030-02; answer 2 2/10 2030-02; show 0; take 4 -> denied
answer 3 3/10 2030-02; show 0; take 4 -> denied
# a ledger that went back is restored, and rests until the header has caught up
start; read 0/10; seen ahead, take 0 -> denied
wait 40s; seen last, take 1 -> denied
wait 20s; take 2 3 -> granted, denied
# an answer whose own header is beyond the quota is overage, and is counted once
start, plan paid, overage 9, maxOverageRequests 2; read 0/10; read 0/10
take 0 1 2 3, before 0/10 -> 4 granted
beyond 1 11/10; show 0; beyond 0 14/10; show 0; answer 2 10/10; answer 3 9/10; show 0
take 4 -> denied
# a repeated request is granted again and counted once
start; read 0/12; take 0 1 2 -> 3 granted
again 0 -> granted
show 0; take 3 -> denied
# a repeated settlement is counted once
start; read 0/2; take 0 -> granted
billed 0; billed 0; take 1 -> granted
billed 1; take 2 -> denied
# no permit is granted to a worker whose claim another has taken over
start; read 0/100; advance 20s; claim 1 0; take 0 -> lost
# a key is given up after two workers that held its claim died with a permit
start; read 0/100; take 0 -> granted
advance 20s; beat 0; claim 1 0; worker 1, take 0 -> granted
advance 20s; beat 0; claim 2 0; worker 2, take 0 -> attempts_exhausted
# nothing is granted for a dead run until its next heartbeat
start; read 0/100; advance 40s; take 0 -> denied
wait 0s; take 0 -> granted
# nothing is granted for a halted run until its halt is cleared
start; read 0/100; halt 0; take 0 -> denied
clear 0; take 0 -> granted
# a pause stops every account until it is lifted
start; read 0/100; pause; take 0 -> denied
resume; take 0 -> granted
# a pause of one run stops that run alone, even if its permits are settled meanwhile
start; start, key 1; read 0/100; take 0 -> granted
hold 0; billed 0, take 1 2 -> 2 denied
run 1, take 1 -> granted
continue 0; take 2 -> granted
hold 0; cancel 0; show 0; take 3 -> denied
# a second start of a run key inherits its caps, a completed run clears them
start, maxRequests 2; read 0/100; take 0 1 2 -> 2 granted, denied
stop 0; start, maxRequests 2; run 1, take 2 -> denied
end 1; start, maxRequests 2; run 2, take 2 -> granted
# a request taken for a run and not given back stays counted, even if its outcome is never reported
start, maxRequests 4; read 0/100; take 0 1 2 3, deadline 40s -> 4 granted
wait 0s; billed 0; lost 1; free 2; billed 0; lost 1; free 2; wait 0s; take 4 5 -> granted, denied
wait 64s; free 3; wait 0s; take 5 -> denied
# an imported later period opens at once, and what is in flight counts in it
start; raise 2020-01 0 0 5; confirmed, take 0 -> granted
raise 2020-02 4 0; show 0; take 1 -> denied
answer 0 4/5; raise 2020-02 4 0; show 0; take 1 -> granted
`);
