// The release without its publish: packs the packages, checks the tarballs instead of the folders, installs them
// as a stranger would, and boots an application on the lowest and on the newest versions that are promised.
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { bootPacked } from './boot-packed.ts'

const packed = mkdtempSync(join(tmpdir(), 'svc-packed-'))
let failed = false
try {
  attempt('pnpm', '-r', '--filter', './packages/*', 'pack', '--pack-destination', packed)
  for (const tarball of globSync(`${packed}/*.tgz`).toSorted()) {
    console.log(basename(tarball))
    checkFiles(tarball)
    attempt('publint', tarball, '--strict')
    // A require of an ES module gives its types as well from Node 22.12 on. node10 knows no exports.
    attempt('attw', tarball, '--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm')
    attempt('npm', 'publish', '--dry-run', tarball)
  }
  checkGuard()
  if (!failed) await bootPacked(globSync(`${packed}/*.tgz`))
} catch (error) {
  console.error(error)
  failed = true
} finally {
  rmSync(packed, { recursive: true })
}
process.exitCode = failed ? 1 : 0

/** Whatever `files` names has to be in it: what is not found is left out in silence. */
function checkFiles(tarball: string): void {
  const packed = attempt('tar', '-tzf', tarball).split('\n')
  const manifest = JSON.parse(attempt('tar', '-xzOf', tarball, 'package/package.json'))
  if (/"\.\/src\//.test(JSON.stringify([manifest.exports, manifest.bin ?? {}]))) {
    console.error('entry points lead to the sources, as they do when npm packs')
    failed = true
  }
  for (const name of manifest.files as string[]) {
    const isThere = packed.some((path) => `${path}/`.startsWith(`package/${name}/`))
    if (isThere || name.startsWith('!')) continue
    console.error(`${name} stands in the field "files" of package.json, and was not packed`)
    failed = true
  }
}

/** npm would publish a folder with its sources as entry points: that is refused, and not for another reason. */
function checkGuard(): void {
  const { status, stderr } = spawnSync('npm', ['publish', '--dry-run'], {
    cwd: 'packages/receiver',
    encoding: 'utf8',
  })
  if (status !== 0 && stderr.includes('publish with pnpm')) return
  console.error(`npm publish of a folder was not refused:\n${stderr}`)
  failed = true
}

/** Runs a command, and shows what it said if it fails. */
function attempt(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) console.error(`${stdout}${stderr}`)
  failed ||= status !== 0
  return stdout
}
