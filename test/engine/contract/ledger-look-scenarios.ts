/** Histories of looks for the own domain, and of the request that a person may order. */
import { historiesOf } from './ledger-script.js';

export const LEDGER_LOOK_HISTORIES = historiesOf(`
# looks are booked until the second reading in quiet moments that follows one is no higher
start; look own -> granted
answer 0 2/10; wait 64s; wait 64s; look own -> granted
answer 1 2/10; wait 64s; wait 64s; look own -> granted
answer 2 2/10; show 0; look own -> free
# a higher reading proves nothing, and there are three looks a day
start; look own -> granted
answer 0 1/10; wait 64s; wait 64s; look own -> granted
answer 1 2/10; wait 64s; wait 64s; look own -> granted
answer 2 3/10; wait 64s; wait 64s; look own -> denied
show 0; advance 1d; wait 4s; look own -> granted
# our own requests between the readings are no reason against the proof
start; look own -> granted
answer 0 2/100; wait 64s; wait 64s; look own -> granted
answer 1 2/100; confirmed, take 0 1 -> 2 granted
answer 2 3/100; answer 3 4/100; wait 64s; wait 64s; look own -> granted
answer 4 4/100; show 0
# a lost request of ours does not excuse a rise
start; look own -> granted
answer 0 2/10; wait 64s; wait 64s; look own -> granted
answer 1 2/10; confirmed, take 0 -> granted
lost 2; wait 64s; wait 64s; look own -> granted
answer 3 3/10; show 0
# a reading that comes without the last look, or late, proves nothing
start; look own -> granted
answer 0 2/100; wait 64s; wait 64s; look own -> granted
answer 1 2/100; wait 64s; header 2/100; show 0; confirmed, take 0 -> granted
answer 2 2/100; show 0; wait 64s; wait 64s; look own -> granted
take 1 -> granted
answer 4 3/100; wait 64s; wait 64s; answer 3 2/100; show 0
# after a ledger went back, what it measured and booked of looks gives nothing back
start; look own -> granted
answer 0 2/10; wait 64s; wait 64s; look own -> granted
answer 1 2/10; seen ahead; show 0; look own -> denied
wait 64s; wait 64s; look own -> granted
answer 3 2/10; show 0
# a reading below the one before proves nothing
start; look own -> granted
answer 0 5/10; wait 64s; wait 64s; look own -> granted
answer 1 5/10; wait 64s; wait 64s; look own -> granted
answer 2 3/10; show 0
# without proof a look needs room within the quota, and a quiet moment
start, plan paid, overage 5; read 9/10; take 0 -> granted
look own -> denied
billed 0; look own -> denied
wait 64s; wait 64s; look own -> denied
take 1 -> granted
# with proof looks and rows of the own domain go beyond every limit, one at a time
start, plan paid; proven; read 2/2; take 1 -> denied
look own -> free
own, take 0 1 -> queued, denied
answer 4 2/2; own, take 0 -> free
look own -> queued
billed 7; show 0
# what a killed worker had on a free permit ends with its deadline, and costs nothing
start; proven; own, take 0, deadline 6s -> free
wait 8s; show 0; look own -> free
show 0
# a rise without requests of ours withdraws the proof, and what may have caused it is ours
start; proven; look own -> free
answer 3 2/10; wait 64s; look own -> free
answer 4 2/10; wait 64s; wait 64s; look own -> free
answer 5 2/10; wait 40s; look own -> free
answer 6 3/10; show 0; look own -> denied
# looks whose proof is withdrawn are no longer counted as others
start; proven; confirmed, take 0 -> granted
answer 3 3/10; look own -> free
answer 4 4/10; show 0; wait 64s; wait 64s; look own -> free
answer 5 5/10; show 0
# a free request that is out when another own domain takes its place counts as sent
start; proven; look own -> free
look other -> denied
billed 3; show 0
# another own domain has no proof, and what was booked for the first stays
start; look own -> granted
answer 0 2/10; wait 64s; wait 64s; look other -> granted
show 0
# a look beside spending or in a closed account is not proven, and a pause stops all of them
start; read 0/100; refused; look own -> denied
read 0/200; look own -> granted
answer 1 2/200; wait 64s; wait 64s; look own -> granted
answer 2 2/200; wait 64s; wait 64s; look own -> granted
answer 3 2/200; pause; look own -> denied
resume; refused; look own -> free
# a free reading confirms a new period as one without a request does
start; proven; look own -> free
answer 3 2/10; look own -> free
answer 4 0/10 2030-02; look own -> free
answer 5 0/10 2030-02; show 0
# one request an hour may be ordered beyond the limit
start, plan paid; read 2/2; take 0 -> denied
look 1 -> granted
look 2 -> denied
answer 1 3/2; show 0; advance 3596s; wait 0s; look 2 -> denied
wait 4s; look 2 -> granted
answer 4 4/20, unconfirmed; take 3 -> granted
show 0
# an ordered request needs its claim, and waits for nobody
start; read 0/4; take 0 1, before 0/4 -> 2 granted
worker 1, look 2 -> lost
look 2 -> granted
billed 3; show 0
`);
