/** Prints which suites were skipped for want of a program, and the command that installs it. */
import type { Reporter } from 'vitest/node';
import { hasChromium } from './chromium.ts';
import { hasPgBouncer } from './pgbouncer.ts';
import { hasRedisServer } from './redis-server.ts';

export default class MissingServersReporter implements Reporter {
  onTestRunEnd(): void {
    const missing = [
      ...(hasRedisServer() ? [] : [{ suites: 'Redis', package: 'redis-server' }]),
      ...(hasPgBouncer() ? [] : [{ suites: 'PgBouncer', package: 'pgbouncer' }]),
      ...(hasChromium() ? [] : [{ suites: 'pages in Chromium', package: 'chromium' }]),
    ];
    if (missing.length === 0) return;
    const suites = missing.map((each) => each.suites).join(' and ');
    const packages = missing.map((each) => each.package).join(' ');
    // After vitest's own summary, which is written in the same turn.
    setImmediate(() => {
      process.stdout.write(
        `\nNot run: the suites on ${suites}, which need a program of their own.\n` +
          `To add them: sudo apt-get install -y ${packages}\n`,
      );
    });
  }
}
