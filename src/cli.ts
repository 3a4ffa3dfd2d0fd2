#!/usr/bin/env node
/** The program `brand-enrich`. */
import { runProcess } from './main.js';

await runProcess(process.argv.slice(2));
