import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const sections = readFileSync(join(ROOT, 'contributing/architecture.md'), 'utf8').split(/^## /m)
const titleOf = (section: string) => section.slice(0, section.indexOf('\n'))

/** Files and folders in backticks. */
const placesIn = (text: string): string[] =>
  [...text.matchAll(/`([\w*./-]+)`/g)]
    .map(([, name = '']) => name)
    .filter((name) => /\/|\.(?:ts|sql)$/.test(name) && !name.startsWith('packages/'))

/** A page names `core/events/…` for `packages/core/src/events/…`, and what is under its own folder. */
const isThere = (place: string): boolean =>
  [
    place,
    `packages/${place}`,
    `packages/${place.replace('/', '/src/')}`,
    `packages/*/src/${place}`,
    `packages/*/src/**/${place}`,
    `packages/webhooks/src/inbound/${place}`,
  ].some((pattern) => globSync(pattern, { cwd: ROOT }).length > 0)

t.test('each file and folder that contributing/architecture.md names exists', async (t) => {
  const places = new Set(sections.flatMap(placesIn))
  t.ok(places.size > 60, `${places.size} places`)
  for (const place of places) t.ok(isThere(place), place)
})

t.test('the way of a request, of an event and of a body takes under fifteen files', async (t) => {
  const ways = sections.filter((section) => titleOf(section).startsWith('The way of '))
  t.equal(ways.length, 3)
  for (const way of ways) {
    const steps = way.split('\n').filter((line) => /^\d+\. /.test(line))
    const files = new Set(steps.flatMap(placesIn).filter((place) => place.endsWith('.ts')))
    t.ok(files.size > 8 && files.size < 15, `${titleOf(way)}: ${files.size} files`)
  }
})

t.test('the files that an event passes are at most fifteen, and it turns back once', async (t) => {
  const diagram = sections.flatMap((section) =>
    titleOf(section) === 'The way of an event'
      ? (/^```mermaid$(.*?)^```$/ms.exec(section) ?? [])
      : [],
  )[1]
  const files = [...(diagram ?? '').matchAll(/\["([^"]+)"\]/g)].map(([, file = '']) => file)
  t.ok(files.length > 8 && files.length <= 15, `${files.length} files`)
  t.equal(new Set(files).size, files.length, 'each once')
  for (const file of files) t.ok(isThere(file.replace(/^(?!core\/)/, 'core/')), file)
  t.equal(diagram?.match(/-\. /g)?.length, 1)
})
