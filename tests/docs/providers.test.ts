import t from 'tap'
import { providers } from '@svc/providers'
import { pageOf } from '../../scripts/provider-pages.ts'
import { staleSources } from '../../scripts/provider-sources.ts'
import { providersDocument } from '../../scripts/provider-table.ts'

t.test('the list of providers has a row for each, which leads to its page', async (t) => {
  const rows = providersDocument().split('\n')
  for (const { id, name } of providers.list()) {
    t.equal(rows.filter((row) => row.startsWith(`| [${name}](${id}.md)`)).length, 1, id)
  }
})

t.test('a page of each provider says what to do there, and what comes of it', async (t) => {
  for (const { id, name, docs, source } of providers.list()) {
    const page = pageOf(id)
    for (const part of [`# ${name}`, docs, source, `/hooks/${id}`, `${id}.`, '```']) {
      t.ok(page.includes(part), `${id}: ${part}`)
    }
    t.notMatch(page.replaceAll(/^```[^]*?^```$/gm, ''), /undefined|\[object/, id)
  }
  t.match(pageOf('vapi'), /secret: 'the secret',\n {2}\/\/ header: 'x-secret'/)
  t.match(pageOf('adyen'), /200 with `\[accepted\]`/)
})

t.test('a row is looked at again after a year, and when its library is newer', async (t) => {
  const row = (id: 'stripe' | 'svix' | 'github', checkedOn: string, source: string) => ({
    id,
    checkedOn,
    source,
    docs: `https://example.com/${id}`,
  })
  const rows = [
    row('stripe', '2026-11-22', 'stripe@23.1.0'),
    row('svix', '2026-11-22', 'the page; svix@1.99.1 and @scope/name@2.0.0'),
    row('github', '2025-11-20', 'the page'),
  ]
  const asked: string[] = []
  const newest: Record<string, string> = {
    stripe: '23.1.0',
    svix: '1.99.1',
    '@scope/name': '2.1.0',
  }
  const lines = await staleSources(rows, Date.parse('2026-11-27'), async (name) => {
    asked.push(name)
    return newest[name] ?? ''
  })
  t.strictSame(lines, [
    'svix: @scope/name is at 2.1.0, and was read at 2.0.0',
    'github: checked on 2025-11-20, against the page (https://example.com/github)',
  ])
  t.strictSame(asked, ['stripe', 'svix', '@scope/name'])
})
