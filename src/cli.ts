#!/usr/bin/env node
/** The root of the command line: `brand-enrich`. */
import { runProcess } from './main.js';

await runProcess(process.argv.slice(2));
