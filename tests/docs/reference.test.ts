import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sitePages } from '../../docs/.vitepress/generate.ts'
import { errorsOf } from '../../docs/.vitepress/reference/errors.ts'
import { LOG_LINES } from '../../docs/.vitepress/reference/log-lines.ts'
import { promises } from '../../docs/.vitepress/reference/promises.ts'

const ROOT = join(import.meta.dirname, '../..')
const sources = globSync('packages/{core,auth,webhooks,console}/src/**/*.ts', { cwd: ROOT })
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }))

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
