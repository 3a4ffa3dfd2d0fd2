/**
 * What `status` says of the rest of the billing period, in words. Pure.
 */
import { countOf, countText } from '../core/figures.js';
import type { BudgetState, Projection } from '../ledger/projection.js';

/** Half a day is worth saying, an hour is not. */
const days = (value: number) => `${value.toFixed(1).replace(/\.0$/, '')} days`;

/** `limit`: null while unknown. */
export function projectionText(projection: Projection, limit: number | null): string {
  const { projected, daysGone, daysLeft, endsOn, limitReachedOn } = projection;
  const over = limit === null ? 0 : projected.total - limit;
  const beyond =
    limitReachedOn === null || over <= 0
      ? ''
      : `; ${countText(over)} more than quota and budget allow, which would be used up on ${limitReachedOn}`;
  return (
    `projected   ${countOf(projected.total, 'request')} by ${endsOn} if it goes on like this ` +
    `(${countText(projected.byUs)} by us, ${countText(projected.byOthers)} by others; ${days(daysGone)} gone, ${days(daysLeft)} left)${beyond}\n`
  );
}

export function budgetText(budget: BudgetState): string {
  const { used, left, overageRequests, price, requestsLeft } = budget;
  return (
    `budget      ${used} of ${budget.budget} used: ${countOf(overageRequests, 'request')} beyond the quota at ${price}; ` +
    `${left} left for ${countText(requestsLeft)}\n`
  );
}
