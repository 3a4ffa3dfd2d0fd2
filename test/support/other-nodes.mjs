/**
 * `npm run test:nodes [-- MAJOR...]`: the quick tests and the demo on other releases of Node.
 * Default: each supported one that is not the release that runs this. The packages are those behind
 * the npm package `node`, without its install script.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const SUPPORTED = ['20', '22', '24'];
const [own] = process.versions.node.split('.', 1);
const asked = process.argv.slice(2);
const majors = asked.length > 0 ? asked : SUPPORTED.filter((major) => major !== own);

const folder = mkdtempSync(join(tmpdir(), 'brand-enrich-nodes-'));
try {
  for (const major of majors) {
    const name = `node-${process.platform}-${process.arch}`;
    const install = ['install', '--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder];
    execFileSync('npm', [...install, `${name}@${major}`], { stdio: ['ignore', 'ignore', 'inherit'] });
    const bin = join(folder, 'node_modules', name, 'bin');
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
    const run = (command, ...args) => execFileSync(command, args, { stdio: 'inherit', env });
    run('node', '-e', 'console.log(`Node ${process.version}`)');
    const vitest = ['vitest', 'run', '--config', 'test/vitest.config.ts', '--tags-filter', '!long'];
    run('npx', ...vitest, '--exclude', 'test/{e2e,dashboard,engine,jobs,model}/**');
    run('npm', 'run', '--silent', 'demo');
  }
} catch (error) {
  // What failed was printed by the command.
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
