import t from 'tap'
import type { Finding } from '../../bench/benchmark.ts'
import {
  asJson,
  asMarkdown,
  figure,
  goalText,
  isReached,
  ratio,
  tableText,
} from '../../bench/report.ts'

const finding: Finding = {
  title: 'Guard',
  unit: 'µs per request',
  better: 'less',
  settings: { connections: 64 },
  rows: [
    { name: 'no guard', samples: [20, 22, 21] },
    { name: 'svcAuth', samples: [25, 22, 21], against: 'no guard', goal: { ratioAtLeast: 0.92 } },
  ],
}

t.test('a table of results has medians, quartiles, ratios and the goal', async (t) => {
  t.equal(
    tableText(finding),
    [
      'Guard: µs per request, less is better',
      'connections 64',
      '',
      '          median  quartiles  ratio  quartiles  goal',
      'no guard    21.0  20.5–21.5',
      'svcAuth     22.0  21.5–23.5   1.00  0.90–1.00  ratio ≥ 0.92: reached',
    ].join('\n'),
  )
})

const report = {
  startedAt: '2026-01-01T00:00:00.000Z',
  machine: { cores: '2' },
  benchmarks: [{ name: 'guard', title: 'G.', seconds: 1, postgres: {}, findings: [finding] }],
}

t.test('the JSON of results has every sample and the figures computed from them', async (t) => {
  const row = JSON.parse(asJson(report)).benchmarks[0].findings[0].rows[1]
  t.match(row, { samples: [25, 22, 21], median: 22, ratio: { median: 1 }, reached: true })
})

t.test('the Markdown of results has the machine and a table of all goals', async (t) => {
  t.equal(
    asMarkdown(report),
    [
      'Measured 2026-01-01: cores 2.',
      '',
      '| what | measured | beside | ratio | goal |  |',
      '| --- | --: | --: | --: | --- | --- |',
      '| Guard: svcAuth | 22.0 µs per request | 21.0 (no guard) | 1.00 | ratio ≥ 0.92 | reached |',
      '',
    ].join('\n'),
  )
})

t.test('whether a goal is reached depends on the median', async (t) => {
  t.ok(isReached({ ratioAtLeast: 0.9 }, 0, 0.9))
  t.notOk(isReached({ ratioAtLeast: 0.9 }, 0, undefined))
  t.ok(isReached({ ratioAtMost: 0.05 }, 0, 0.01))
  t.ok(isReached({ atMost: 5 }, 4.9, undefined))
  t.notOk(isReached({ atMost: 5 }, 5.1, undefined))
  t.equal(goalText({ ratioAtLeast: 0.25, aim: 0.4 }), 'ratio ≥ 0.25, aim 0.4')
})

t.test('a goal that is to be sure depends on the interval around the median', async (t) => {
  const goal = { ratioSurelyAtLeast: 0.99 }
  t.ok(isReached(goal, 0, 1, [0.991, 1.02]))
  t.notOk(isReached(goal, 0, 1, [0.98, 1.02]))
  t.notOk(isReached(goal, 0, 1))
  t.equal(goalText(goal, [0.991, 1.02]), 'ratio ≥ 0.99 at 95 % (0.991–1.020)')
  t.equal(goalText(goal), 'ratio ≥ 0.99 at 95 % (too few samples)')
  const rows = finding.rows.map((row) => ({ ...row, samples: Array(6).fill(20) }))
  const sure = { ...finding, rows: [rows[0]!, { ...rows[1]!, goal }] }
  t.match(tableText(sure), 'ratio ≥ 0.99 at 95 % (1.000–1.000): reached')
})

t.test('figures have three significant digits', async (t) => {
  t.same([1234567, 123.4, 12.34, 1.234, 0.1234].map(figure), [
    '1 234 567',
    '123',
    '12.3',
    '1.23',
    '0.123',
  ])
  t.equal(figure(Number.NaN), '–')
  t.same([23.456, 1.234, 0.0123].map(ratio), ['23.5', '1.23', '0.012'])
})
