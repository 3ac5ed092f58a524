import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { InvalidDelivery, InvalidVerification, type InvalidDeliveryCode } from '@svc/receiver'
import t from 'tap'
import { sitePages } from '../../docs/.vitepress/generate.ts'
import { errorsOf, packages } from '../../docs/.vitepress/reference/errors.ts'
import { LOG_LINES } from '../../docs/.vitepress/reference/log-lines.ts'
import { promises } from '../../docs/.vitepress/reference/promises.ts'
import { read } from '../../scripts/package-fields.ts'

const ROOT = join(import.meta.dirname, '../..')
const sources = globSync('packages/{core,auth,webhooks,console}/src/**/*.ts', { cwd: ROOT })
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))

type Classes = Record<string, new () => Error & { code: string; docs: string }>

const rows = Object.values(LOG_LINES).flat()
/** What a row has of a message before its `…`. */
const beginnings = rows.flatMap(({ messages }) => messages).map((text) => text.split('…')[0]!)

t.test('each log line of the reference is in the code', async (t) => {
  t.ok(rows.length > 50)
  const all = sources.map(({ text }) => text).join('\n')
  for (const beginning of beginnings) t.ok(all.includes(beginning), beginning)
})

t.test('each message that the code logs is in the reference', async (t) => {
  const CALL = /\b\w*[lL]og\??\.(?:info|warn|error|debug|fatal)\(/g
  let found = 0
  for (const { file, text } of sources) {
    for (const { index, 0: call } of text.matchAll(CALL)) {
      const line = text.slice(text.lastIndexOf('\n', index), index)
      if (line.trimStart().startsWith('*')) continue // the example of a comment
      const [, message] = /^[^;]*?,\s*['`]([^'`]+)['`]/.exec(text.slice(index + call.length)) ?? []
      if (message === undefined || !message.includes(' ')) continue
      found++
      t.ok(
        beginnings.some((beginning) => message.startsWith(beginning.trimEnd())),
        `${file}: ${message}`,
      )
    }
  }
  t.ok(found > 40, `${found} messages`)
})

t.test('each error of the code is in the reference', async (t) => {
  const { 'reference/errors.md': page = '' } = await sitePages()
  const files = globSync('packages/*/src/**/errors.ts', { cwd: ROOT })
  for (const file of files) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    const made = [...text.matchAll(/createError(?:<[^(]*>)?\(\s*'(\w+)'/g)].map(([, code]) => code!)
    t.strictSame(
      errorsOf(file).map(({ code }) => code),
      made,
      file,
    )
    for (const code of made) t.ok(page.includes(`### \`${code}\``), code)
  }
})

t.test('each error names its part of the reference, also where Node prints it', async (t) => {
  const { 'reference/errors.md': page = '' } = await sitePages()
  const { homepage } = read('package.json')
  const files = globSync('packages/{core,auth,webhooks,console,nest}/src/**/errors.ts', {
    cwd: ROOT,
  })
  const modules = await Promise.all(
    files.map(async (file) => (await import(join(ROOT, file))) as Classes),
  )
  const classes = modules.flatMap((made) => Object.values(made))
  const codes: InvalidDeliveryCode[] = [
    'SVC_DELIVERY_HEADER_MISSING',
    'SVC_DELIVERY_OUTSIDE_TOLERANCE',
    'SVC_DELIVERY_SIGNATURE_MISMATCH',
    'SVC_DELIVERY_BODY_NOT_JSON',
  ]
  const errors = [
    ...classes.filter((Made) => Made.prototype instanceof Error).map((Made) => new Made()),
    ...codes.map((code) => new InvalidDelivery(code, 'a reason')),
    new InvalidVerification('a reason'),
  ]
  for (const error of errors) {
    const anchor = error.code.toLowerCase().replaceAll('_', '-')
    t.equal(error.docs, `${homepage}/reference/errors#${anchor}`)
    t.ok(page.includes(`### \`${error.code}\` {#${anchor}}\n`), error.code)
    t.match(inspect(error), `docs: '${error.docs}'`)
    t.match(error.stack, /^.*\n\s+at .*reference\.test\.ts/, 'and begins where it was made')
  }
  const documented = new Set(packages().flatMap(([, rows]) => rows.map(({ code }) => code)))
  t.strictSame(new Set(errors.map(({ code }) => code)), documented)
})

t.test('the reference has the promises that tests name', async (t) => {
  const found = promises()
  t.ok(found.size > 35, `${found.size} promises`)
  t.same(found.get('Every process refuses a revoked key within a second'), [
    'tests/auth/guard/keys/across-processes.test.ts',
  ])
})

t.test('the reference has all options, events, routes, bounds and verbs', async (t) => {
  const pages = await sitePages()
  t.match(pages['reference/options.md'], '| `maxWebhooksPerTenant` |')
  t.match(pages['reference/options.md'], /\| `transactionIdleSeconds` \| `number` \| 60 \|/)
  t.match(pages['reference/events.md'], '`svc.webhook.recovered`')
  t.match(pages['reference/http-api.md'], '`POST /_webhooks/:id/recover`')
  t.match(pages['reference/bounds.md'], '| The URL of a webhook | 2 048 characters |')
  t.match(pages['reference/cli.md'], /^## redrive$/m)
})
