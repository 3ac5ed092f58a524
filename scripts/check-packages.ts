// The release without its publish: packs the packages, and checks the tarballs instead of the folders. They stay in
// the folder that is named, if one is.
import { spawnSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'

const [kept] = process.argv.slice(2)
const packed = kept === undefined ? mkdtempSync(join(tmpdir(), 'svc-packed-')) : resolve(kept)
let failed = false
try {
  attempt('pnpm', '-r', '--filter', './packages/*', 'pack', '--pack-destination', packed)
  for (const tarball of globSync(`${packed}/*.tgz`).toSorted()) {
    console.log(basename(tarball))
    checkFiles(tarball)
    attempt('publint', tarball, '--strict')
    // A require of an ES module gives its types as well from Node 22.12 on.
    attempt('attw', tarball, '--ignore-rules', 'cjs-resolves-to-esm')
    // Forced: npm refuses a version that is published already, and it is until a release raises it.
    attempt('npm', 'publish', '--dry-run', '--force', tarball)
  }
  checkGuard()
} catch (error) {
  console.error(error)
  failed = true
} finally {
  if (kept === undefined) rmSync(packed, { recursive: true })
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
  // Those of the life cycle are pnpm's, which leaves them out. Others name files that are not there.
  if (Object.keys(manifest.scripts ?? {}).length > 0) {
    console.error('the manifest has scripts, whose files are not packed')
    failed = true
  }
  for (const name of manifest.files as string[]) {
    const isThere = packed.some((path) => `${path}/`.startsWith(`package/${name}/`))
    if (isThere || name.startsWith('!')) continue
    console.error(`${name} stands in the field "files" of package.json, and was not packed`)
    failed = true
  }
}

/** npm would take a folder with its sources as entry points: that is refused, and not for another reason. */
function checkGuard(): void {
  for (const args of [
    ['publish', '--dry-run'],
    ['pack', '--dry-run'],
  ]) {
    const { status, stderr } = spawnSync('npm', args, {
      cwd: 'packages/receiver',
      encoding: 'utf8',
    })
    if (status !== 0 && stderr.includes('publish with pnpm')) continue
    console.error(`npm ${args[0]} of a folder was not refused:\n${stderr}`)
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
