/** Plans the contents and the names of a run's outputs. */
import type { TableShape } from '../../core/table.js';
import type { Settings } from '../../settings/settings.js';
import type { Scan } from '../scan/scan.js';
import { planFills } from './fill.js';
import { namesOfRun } from './output-names.js';
import type { OutputPlan } from './output-plan.js';

/** Returns plan and names. `path`: of the input. Throws as `namesOfRun` and `planFills` do. */
export function planOutput(path: string, shape: TableShape, scan: Scan, settings: Settings) {
  const { format, names } = namesOfRun(path, shape, settings);
  const plan: OutputPlan = {
    ...settings,
    input: shape,
    format,
    replacedColumns: scan.chosen.ours,
    hasUnreadable: scan.counts.unreadable > 0,
    hasSurplus: scan.counts.long > 0,
    hasShort: scan.counts.short > 0,
    matchesNames: scan.nameColumn !== null,
    allColumns: scan.columns,
    fills: [],
  };
  return { plan: planFills(plan, settings, scan), names };
}
