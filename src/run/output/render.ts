/**
 * The renderer of an output: CSV or JSON lines. Sorting, writing and counting what it renders are the other files'
 * of this room; joining rows with answers is the pipeline's.
 */
import type { OutputPlan, Renderer } from './output-plan.js';
import { createCsvRenderer } from './render-csv.js';
import { createJsonRenderer } from './render-json.js';

/**
 * Makes the renderer for a plan. Pure but for errors; make it before anything is spent.
 * @throws NeverStartError `column-ours` when our key would overwrite a column of the user's (CSV that becomes JSON lines).
 */
export function createRenderer(plan: OutputPlan): Renderer {
  return plan.format === 'csv' ? createCsvRenderer(plan) : createJsonRenderer(plan);
}
