import t from 'tap'
import { shownJson } from '../../../../packages/webhooks/src/outbound/transforms/built-in.ts'

const VALUES = [
  {},
  [],
  [[]],
  [{}],
  { a: 1, b: [1, 2, { c: null }], d: {}, e: [], f: 'x\n"\\é', g: true, '': '' },
  { '{': '[,]:', '"': '\\"' },
  7,
  null,
]

t.test('a payload is shown as JSON.stringify indents it, whatever its spaces', async (t) => {
  for (const value of VALUES) {
    for (const space of [0, 1, 4, '\t']) {
      const json = JSON.stringify(value, null, space)
      t.equal(shownJson(json, 6000), JSON.stringify(value, null, 2), json)
    }
  }
  t.equal(shownJson('{"\\u00e9":"\\u00e9\\u0000"}', 100), '{\n  "é": "é\\u0000"\n}')
  t.equal(shownJson(' "a \\"text\\" \\u00e9" ', 100), 'a "text" é', 'a text is shown as it is')
})

t.test('what is shown is cut, and never ends in half a pair', async (t) => {
  for (const value of [
    ...VALUES,
    'some text',
    '😀😀😀',
    { a: '😀😀😀' },
    { a: ['\\\\', '\u0001'] },
  ]) {
    for (let longest = 1; longest < 40; longest++) {
      const whole = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
      const shown = shownJson(JSON.stringify(value), longest)
      t.ok(shown.length <= longest && shown.isWellFormed(), `${whole} at ${longest}`)
      if (whole.length <= longest) t.equal(shown, whole)
      else t.ok(shown.endsWith('…') && whole.startsWith(shown.slice(0, -1)), `${shown} of ${whole}`)
    }
  }
})

t.test('a deep or large payload costs no more than what is shown of it', async (t) => {
  const depth = 1_000_000
  const deep = shownJson('['.repeat(depth) + ']'.repeat(depth), 3000)
  t.equal(deep.length, 3000)
  t.ok(deep.startsWith('[\n  [\n    ['))
  const text = (inner: string) => shownJson(`{"a":"${inner.repeat(depth)}"}`, 3000)
  for (const inner of ['x', '\\\\', '\\"', '\\u00e9']) t.equal(text(inner).length, 3000, inner)
  for (const inner of ['x', '\\\\', '\\"', '\\u00e9']) {
    t.equal(shownJson(`"${inner.repeat(depth)}"`, 3000).length, 3000, inner)
  }
})
