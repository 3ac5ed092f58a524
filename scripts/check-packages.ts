// Packs the packages as they would be published, and checks the tarballs instead of the folders.
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

const packed = mkdtempSync(join(tmpdir(), 'svc-packed-'))
let failed = false
try {
  attempt('pnpm', '-r', '--filter', './packages/*', 'pack', '--pack-destination', packed)
  for (const tarball of globSync(`${packed}/*.tgz`).toSorted()) {
    console.log(basename(tarball))
    attempt('publint', tarball, '--strict')
    attempt('attw', tarball, '--profile', 'esm-only')
  }
} finally {
  rmSync(packed, { recursive: true })
}
process.exitCode = failed ? 1 : 0

/** Runs a command, and shows what it said if it fails. */
function attempt(command: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) console.error(`${stdout}${stderr}`)
  failed ||= status !== 0
}
