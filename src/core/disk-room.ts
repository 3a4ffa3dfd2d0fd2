/** Room on disks: what was paid for must be stored. */
import { type StatsFs, statfsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { RunError } from './errors.js';
import { attempt } from './lifecycle.js';
import { phrase } from './phrase.js';

const LEAST_DISK_BYTES = 200 * 1_048_576;
/** How many bytes may be written between two checks. */
export const CHECK_DISK_EVERY_BYTES = 16 * 1_048_576;

const OUTPUT = { setting: 'output', shell: '-o' };
const OR_ANOTHER_DISK = phrase`(or use another disk: ${{ setting: 'state' }}, ${OUTPUT}), then run again`;

/** /proc, and with it /dev/fd, has no blocks at all. */
const leftOf = (facts: StatsFs | null) =>
  facts === null || facts.blocks === 0 ? Number.POSITIVE_INFINITY : facts.bavail * facts.bsize;

const megabytes = (bytes: number) => Math.floor(bytes / 1_048_576);

/** Throws `disk-low` when any folder would have less than 200 MB left, for what is bought. */
export async function assertDiskRoom(folders: Iterable<string>, bytes = 0): Promise<void> {
  for (const folder of new Set(folders))
    assertLeft(folder, leftOf(await statfs(folder).catch(() => null)), bytes);
}

function assertLeft(folder: string, left: number, bytes: number): void {
  if (left - bytes >= LEAST_DISK_BYTES) return;
  throw new RunError({
    code: 'disk-low',
    subject: `${folder} has ${megabytes(left)} MB left`,
    todo: phrase`free at least ${Math.ceil((LEAST_DISK_BYTES + bytes) / 1_048_576)} MB ${OR_ANOTHER_DISK}`,
  });
}

/** Bytes that this process keeps while it works on inputs: by disk, then by the input's name. */
const kept = new Map<number | null, Map<string, number>>();

/** null: the folder is not there. */
const diskOf = (folder: string) => attempt(() => statSync(folder).dev, null);

/** A file of ours with content of an input, which may be made to fill the disk. */
export class KeptContent {
  readonly #disk: number | null;
  #bytes = 0;
  #checkAt = CHECK_DISK_EVERY_BYTES;

  /** `folder` exists. */
  constructor(
    private readonly input: string,
    private readonly folder: string,
  ) {
    this.#disk = diskOf(folder);
  }

  /** Throws what `assertContentRoom` throws, at the latest 16 MB after it should. */
  add(bytes: number): void {
    this.#count(bytes);
    if (this.#bytes < this.#checkAt) return;
    this.#checkAt = this.#bytes + CHECK_DISK_EVERY_BYTES;
    assertRoomOn(this.#disk, this.input, this.folder);
  }

  /** When the file is gone. Safe to call twice. */
  release(): void {
    this.#count(-this.#bytes);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    const inputs = kept.get(this.#disk) ?? new Map<string, number>();
    const all = (inputs.get(this.input) ?? 0) + bytes;
    if (all > 0) kept.set(this.#disk, inputs.set(this.input, all));
    else if (inputs.delete(this.input) && inputs.size === 0) kept.delete(this.#disk);
  }
}

/**
 * Whether an input fills the disk: there would be room without it, it takes at least half of what
 * stays free, and all others together keep less.
 */
export function isToBlame({ left, own, all }: { left: number; own: number; all: number }): boolean {
  return left + own >= LEAST_DISK_BYTES && own * 2 >= LEAST_DISK_BYTES && own * 2 > all;
}

/** As `assertDiskRoom`, for `bytes` more of an input: `input-exceeds-disk` when it is to blame. */
export function assertContentRoom(input: string, folder: string, bytes = 0): void {
  assertRoomOn(diskOf(folder), input, folder, bytes);
}

function assertRoomOn(disk: number | null, input: string, folder: string, bytes = 0): void {
  const left = leftOf(attempt(() => statfsSync(folder), null));
  if (left - bytes >= LEAST_DISK_BYTES) return;
  const inputs = kept.get(disk) ?? new Map<string, number>();
  const own = (inputs.get(input) ?? 0) + bytes;
  const all = [...inputs.values()].reduce((sum, each) => sum + each, bytes);
  if (!isToBlame({ left: left - bytes, own, all })) assertLeft(folder, left, bytes);
  throw new RunError({
    code: 'input-exceeds-disk',
    subject:
      `${input} takes at least ${megabytes(own)} MB while it is processed, and ${folder} has ` +
      `${megabytes(left + own - bytes)} MB, of which ${megabytes(LEAST_DISK_BYTES)} stay free`,
    todo: phrase`split it into several smaller files, or free disk space ${OR_ANOTHER_DISK}`,
  });
}
