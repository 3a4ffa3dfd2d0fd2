/** Keeps room on disks, because paid answers must be stored. */
import { type StatsFs, statfsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { RunError } from './errors.js';
import { attempt } from './lifecycle.js';
import { phrase } from './phrase.js';

const LEAST_DISK_BYTES = 200 * 1_048_576;
/** Bytes written between two checks. */
export const CHECK_DISK_EVERY_BYTES = 16 * 1_048_576;

const OUTPUT = { setting: 'output', shell: '-o' };
const OR_ANOTHER_DISK = phrase`(or use another disk: ${{ setting: 'state' }}, ${OUTPUT}), then run again`;

/** /proc, and so /dev/fd, reports no blocks at all. */
const leftOf = (facts: StatsFs | null) =>
  facts === null || facts.blocks === 0 ? Number.POSITIVE_INFINITY : facts.bavail * facts.bsize;

const megabytes = (bytes: number) => Math.floor(bytes / 1_048_576);

/** Throws `disk-low` if writing `bytes` leaves less than the 200 MB kept for paid answers. */
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

/** Bytes on disk that inputs take while they are processed, by disk and by the input's name. */
const bytesByInput = new Map<number | null, Map<string, number>>();

/** Returns the number of the folder's disk; null if there is no such folder. */
const diskOf = (folder: string) => attempt(() => statSync(folder).dev, null);

/** Counts bytes that we write for an input, which may have been made to fill the disk. */
export class InputDiskUse {
  readonly #disk: number | null;
  #bytes = 0;
  #checkAt = CHECK_DISK_EVERY_BYTES;

  /** `folder` must exist. */
  constructor(
    private readonly input: string,
    private readonly folder: string,
  ) {
    this.#disk = diskOf(folder);
  }

  /** Counts `bytes`, and throws like {@link assertRoomForInput}, at most 16 MB late. */
  add(bytes: number): void {
    this.#count(bytes);
    if (this.#bytes < this.#checkAt) return;
    this.#checkAt = this.#bytes + CHECK_DISK_EVERY_BYTES;
    assertRoomOn(this.#disk, this.input, this.folder);
  }

  /** Forgets the bytes once the file is gone. Safe to call twice. */
  release(): void {
    this.#count(-this.#bytes);
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    const inputs = bytesByInput.get(this.#disk) ?? new Map<string, number>();
    const all = (inputs.get(this.input) ?? 0) + bytes;
    if (all > 0) bytesByInput.set(this.#disk, inputs.set(this.input, all));
    else if (inputs.delete(this.input) && inputs.size === 0) bytesByInput.delete(this.#disk);
  }
}

/** True if the disk is full because of an input: 100 MB or more, and more than all others. */
export function isToBlame({ left, own, all }: { left: number; own: number; all: number }): boolean {
  return left + own >= LEAST_DISK_BYTES && own * 2 >= LEAST_DISK_BYTES && own * 2 > all;
}

/** Like {@link assertDiskRoom}, with `input-exceeds-disk` if this input is to blame. */
export function assertRoomForInput(input: string, folder: string, bytes = 0): void {
  assertRoomOn(diskOf(folder), input, folder, bytes);
}

function assertRoomOn(disk: number | null, input: string, folder: string, bytes = 0): void {
  const left = leftOf(attempt(() => statfsSync(folder), null));
  if (left - bytes >= LEAST_DISK_BYTES) return;
  const inputs = bytesByInput.get(disk) ?? new Map<string, number>();
  const own = (inputs.get(input) ?? 0) + bytes;
  const all = [...inputs.values()].reduce((sum, each) => sum + each, bytes);
  if (!isToBlame({ left: left - bytes, own, all })) assertLeft(folder, left, bytes);
  throw new RunError({
    code: 'input-exceeds-disk',
    subject:
      `${input} takes at least ${megabytes(own)} MB while it is processed; ${folder} has ` +
      `${megabytes(left + own - bytes)} MB, and ${megabytes(LEAST_DISK_BYTES)} of them must stay free`,
    todo: phrase`split it into several smaller files, or free disk space ${OR_ANOTHER_DISK}`,
  });
}
