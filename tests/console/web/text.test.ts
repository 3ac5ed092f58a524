/** The page's own decisions, without a browser. */
import t from 'tap'
import { accentFor, contrast, parseColour } from '../../../packages/console/web/src/text/colours.ts'
import { csvOf } from '../../../packages/console/web/src/text/csv.ts'
import {
  ago,
  bytes,
  duration,
  isUuid,
  span,
} from '../../../packages/console/web/src/text/format.ts'
import {
  changesFrom,
  emptyDraft,
  eventChoices,
  parsedFilter,
  readDraft,
} from '../../../packages/console/web/src/text/webhook-draft.ts'
import { labelled, roundUp, ticks } from '../../../packages/console/web/src/charts/scale.ts'

t.test('a file for a spreadsheet has no formula, and no columns of what others name', async (t) => {
  const cells = ['=1', '+1', '-1', '@a', '\t=1', '＝1', 'a;=1', 'a,"b"', 'plain', 7, null]
  const [names, ...lines] = csvOf(
    cells.map((label) => ({ by: { label }, responseHeaders: { [String(label)]: 'x' } })),
  ).split('\r\n')
  t.equal(names, 'by.label,responseHeaders')
  t.same(
    lines.map((line) => line.slice(0, line.indexOf(',"{'))),
    ["'=1", "'+1", "'-1", "'@a", '"\'\t=1"', "'＝1", '"a;=1"', '"a,""b"""', 'plain', '7', '', ''],
  )
})

t.test('an accent of any colour is legible in both schemes', async (t) => {
  const grounds = { light: [255, 255, 255], dark: [22, 29, 27] } as const
  for (const wished of ['#ffcc00', '#000000', '#ffffff', '#123', '3b5bdb', '#00ff00']) {
    for (const scheme of ['light', 'dark'] as const) {
      const { accent, onAccent } = accentFor(wished, scheme)!
      const [colour, text] = [accent, onAccent].map((rgb) => rgb.match(/\d+/g)!.map(Number)) as [
        [number, number, number],
        [number, number, number],
      ]
      t.ok(contrast(colour, [...grounds[scheme]]) >= 4.5, `${wished} on ${scheme}`)
      t.ok(contrast(text, colour) >= 4.5, `the text on ${wished}, ${scheme}`)
    }
  }
  t.equal(parseColour('red;}'), undefined)
})

t.test(
  'the form of a webhook names the wrong field, and sends only what was changed',
  async (t) => {
    const wrong = { ...emptyDraft, url: 'example.com' }
    t.match(readDraft(wrong), { mistakes: { url: /https/, events: /at least one/ } })
    const before = { ...emptyDraft, url: 'https://example.com', events: ['*'] }
    t.match(readDraft(before), { body: { url: 'https://example.com', retry: null, filter: null } })
    t.match(readDraft({ ...before, headers: 'no colon' }), { mistakes: { headers: /no colon/ } })
    t.match(readDraft({ ...before, rateLimit: '5' }), { mistakes: { ratePerSeconds: /both/ } })
    t.match(readDraft({ ...before, maxAttempts: 'many' }), {
      mistakes: { maxAttempts: /whole number/ },
    })
    t.match(readDraft({ ...before, url: '' }), { body: { url: null } })
    t.match(parsedFilter('[]'), { mistake: /JSON object/ })
    t.strictSame(changesFrom(before, { ...before, delaysSeconds: '5, 60', headers: 'x-a: b: c' }), {
      retry: { delaysSeconds: [5, 60] },
      headers: { 'x-a': 'b: c' },
    })
    t.strictSame(changesFrom({ ...before, label: 'a' }, before), { label: null })
  },
)

t.test('the form offers what names of events begin with, and what is chosen already', async (t) => {
  const named = ['a.b.c', 'a.b.d', 'a.e', 'f.g', '.h.i', 'j'].map((name) => ({ name }))
  const valuesOf = (chosen: string[]) => eventChoices(named, chosen).map(({ value }) => value)
  const names = named.map(({ name }) => name)
  t.same(valuesOf(['*']), ['a.*', 'a.b.*', ...names])
  const chosen = ['svc.key.created', 'f.*', 'a.e']
  t.same(valuesOf(chosen), ['a.*', 'a.b.*', 'f.*', 'svc.key.created', ...names])
  t.match(eventChoices(named, chosen)[0]?.hint, /begin with a\. /)
})

t.test('times, sizes and axes are rounded as people read them', async (t) => {
  const now = Date.parse('2030-01-01T00:00:00Z')
  t.equal(ago('2029-12-31T23:59:58Z', now), 'just now')
  t.equal(ago('2029-12-31T23:00:00Z', now), '1 h ago')
  t.equal(ago('2030-01-01T00:02:00Z', now), 'in 2 min')
  t.equal(span(100_000), '28 h')
  t.equal(duration(1500), '1.5 s')
  t.equal(duration(null), '–')
  t.equal(bytes(1), '1 byte')
  t.equal(bytes(2_500_000), '2.5 MB')
  t.strictSame([0, 5, 41, 99, 450].map(roundUp), [4, 6, 50, 100, 500])
  t.strictSame(labelled(24, 4), [0, 6, 12, 18])
  const hours = Array.from({ length: 24 }, (_, n) => new Date(2030, 0, 1, 9 + n).toISOString())
  t.strictSame(ticks(hours, 4), [3, 9, 15, 21], 'at 12, 18, 0 and 6 o’clock')
  const minutes = Array.from({ length: 60 }, (_, n) => new Date(2030, 0, 1, 9, 7 + n).toISOString())
  t.strictSame(ticks(minutes, 4), [8, 23, 38, 53], 'at each quarter')
  t.ok(isUuid('0198a1b2-0000-7000-8000-000000000000'))
  t.notOk(isUuid('0198'))
})
