/** A plan for programs: what `plan --json` prints. Pure. */
import { countsInWords } from '../core/counter.js';
import type { Document } from '../core/documents.js';
import { sayRowReason } from '../core/row-reason.js';
import type { Plan } from './plan-file.js';

const REASONS_AT_MOST = 20;

export function planDocument({ columns: _, spending: estimate, ...plan }: Plan): Document<'plan'> {
  const { invalid, skipped } = plan.reasons;
  const reasons = countsInWords([...invalid, ...skipped], sayRowReason, REASONS_AT_MOST);
  const skipReasons = countsInWords(skipped, sayRowReason);
  if (estimate === null) return { ...plan, reasons, skipReasons, spending: null };
  const { overageRequests: overage, maxCost: overageCost, ...spending } = estimate;
  return { ...plan, reasons, skipReasons, spending: { ...spending, overage, overageCost } };
}
