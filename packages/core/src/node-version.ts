/**
 * The first import of each package's entry: modules are evaluated in the order of their imports, so
 * an older Node is named before anything fails on what it lacks, and a bundle before anything fails on
 * a file that is missing there. Imports nothing that an older Node lacks.
 */
import './package-folder.ts'

const OLDEST = { major: 22, minor: 19 }

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
  throw new Error(
    `@svc/core, @svc/auth and @svc/webhooks need Node ${OLDEST.major}.${OLDEST.minor} or newer, and this process runs Node ${process.versions.node}`,
  )
}
