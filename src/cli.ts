#!/usr/bin/env node
/** The root of the command line: `brand-enrich`. */
import { main } from './main.js';

await main(process.argv.slice(2));
