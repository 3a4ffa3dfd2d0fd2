/**
 * Finds files, exports and dependencies that nothing uses. `npm run lint` looks twice: with the tests
 * among the users, and with `--production` without them. The second look lets a test import what its
 * own file uses too, so that pure functions can be tested, but not what the product never calls.
 */
export default ({ production }) => ({
  entry: ['src/{cli,file-reader,index}.ts!', 'workers/*.ts!'],
  project: ['{src,workers}/**/*.{ts,tsx}!', 'test/**/*.{ts,mjs}'],
  vitest: { config: ['test/vitest*.config.ts'] },
  ignoreExportsUsedInFile: production === true,
  // Programs of the machine that tests start; no package brings them.
  ignoreBinaries: [
    'du',
    'faketime',
    'mkfifo',
    'mount',
    'postgres',
    'prlimit',
    'script',
    'systemd-analyze',
    'umount',
  ],
  treatConfigHintsAsErrors: true,
});
