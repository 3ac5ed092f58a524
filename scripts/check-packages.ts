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
    checkFiles(tarball)
    attempt('publint', tarball, '--strict')
    attempt('attw', tarball, '--profile', 'esm-only')
  }
} finally {
  rmSync(packed, { recursive: true })
}
process.exitCode = failed ? 1 : 0

/** Whatever `files` names has to be in it: what is not found is left out in silence. */
function checkFiles(tarball: string): void {
  const packed = attempt('tar', '-tzf', tarball).split('\n')
  const manifest = JSON.parse(attempt('tar', '-xzOf', tarball, 'package/package.json'))
  for (const name of manifest.files as string[]) {
    const isThere = packed.some((path) => `${path}/`.startsWith(`package/${name}/`))
    if (isThere || name.startsWith('!')) continue
    console.error(`${name} stands in the field "files" of package.json, and was not packed`)
    failed = true
  }
}

/** Runs a command, and shows what it said if it fails. */
function attempt(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) console.error(`${stdout}${stderr}`)
  failed ||= status !== 0
  return stdout
}
