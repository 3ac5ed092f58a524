import t from 'tap'
import { resolveSources } from '../../../packages/webhooks/src/inbound/sources.ts'

const source = { path: '/hooks/a', publishAs: 'a.b', verify: () => true }

t.test('missing options of a source have their defaults', async (t) => {
  t.match(resolveSources({ a: source }), [
    { name: 'a', path: '/hooks/a', publishAs: 'a.b', deduplicationTtlSeconds: 86_400 },
  ])
  t.strictSame(resolveSources(undefined), [])
  t.strictSame(resolveSources({}), [])
})

const mistakes: [what: string, inbound: unknown, complaint: RegExp][] = [
  ['a list of sources', [source], /"inbound" must be an object/],
  ['no object', 'a', /"inbound" must be an object/],
  ['a source that is none', { a: null }, /"inbound.a" must be an object, got null/],
  ['a source without a name', { '': source }, /the name of a source/],
  ['a source without a path', { a: { ...source, path: undefined } }, /"inbound.a.path" is missing/],
  [
    'a path without a slash',
    { a: { ...source, path: 'hooks' } },
    /"inbound.a.path" must be a URL path .*, got "hooks"$/,
  ],
  ['a path with a query', { a: { ...source, path: '/a?b' } }, /"inbound.a.path" must be/],
  ['a whole URL', { a: { ...source, path: 'https://x/a' } }, /"inbound.a.path" must be/],
  ['no event', { a: { ...source, publishAs: undefined } }, /"inbound.a.publishAs" is missing/],
  [
    'an event with a space',
    { a: { ...source, publishAs: 'a b' } },
    /"inbound.a.publishAs" must be an event name/,
  ],
  [
    'an event that is too long',
    { a: { ...source, publishAs: 'a'.repeat(201) } },
    /"inbound.a.publishAs"/,
  ],
  [
    'an event of ours',
    { a: { ...source, publishAs: 'svc.key.leaked' } },
    /"inbound.a.publishAs" must be an event name .*, not beginning with "svc\."/,
  ],
  ['an event with a line end', { a: { ...source, publishAs: 'a\n' } }, /"inbound.a.publishAs"/],
  ['no verification', { a: { path: '/a', publishAs: 'a' } }, /"inbound.a.verify" is missing/],
  [
    'a verification that is a value',
    { a: { ...source, verify: true } },
    /"inbound.a.verify" must be a function/,
  ],
  [
    'a key that is no function',
    { a: { ...source, deduplicationKey: 'x-id' } },
    /"inbound.a.deduplicationKey"/,
  ],
  [
    'a TTL of zero',
    { a: { ...source, deduplicationTtlSeconds: 0 } },
    /"inbound.a.deduplicationTtlSeconds"/,
  ],
  [
    'a TTL that is broken',
    { a: { ...source, deduplicationTtlSeconds: 1.5 } },
    /"inbound.a.deduplicationTtlSeconds"/,
  ],
  [
    'an endless TTL',
    { a: { ...source, deduplicationTtlSeconds: Number.MAX_SAFE_INTEGER } },
    /at most ten years/,
  ],
  [
    'an answer that is a value',
    { a: { ...source, respond: {} } },
    /"inbound.a.respond" must be a function/,
  ],
  ...[99, 700, 302, 500, 200.5, 'abc'].map((statusCode): (typeof mistakes)[number] => [
    `an answer with the status ${statusCode}`,
    { a: { ...source, answer: { statusCode } } },
    /"inbound.a.answer.statusCode" must be an integer from 200 to 299/,
  ]),
  ...[{ 'x y': 'a' }, { x: 'a\r\nset-cookie: b' }, { x: 5 }, { 'Content-Length': '5' }, 'x: a'].map(
    (headers): (typeof mistakes)[number] => [
      `an answer with the headers ${JSON.stringify(headers)}`,
      { a: { ...source, answer: { headers } } },
      /"inbound.a.answer.headers" must be an object of header names/,
    ],
  ),
  ...[1n, () => 'a', { toJSON: () => undefined }].map((body): (typeof mistakes)[number] => [
    `an answer with a body of type ${typeof body} that JSON cannot hold`,
    { a: { ...source, answer: { body } } },
    /"inbound.a.answer.body" must be a string, or a value that JSON can hold/,
  ]),
  [
    'an answer with a field that does not exist',
    { a: { ...source, answer: { foo: 1 } } },
    /there is no option "inbound.a.answer.foo"; there are: statusCode, headers, body/,
  ],
  ['an answer that is no object', { a: { ...source, answer: 'ok' } }, /"inbound.a.answer" must be/],
  [
    'a field that does not exist',
    { a: { ...source, dedupe: 'x' } },
    /there is no option "inbound.a.dedupe"/,
  ],
  [
    'two sources on one path',
    { a: source, b: { ...source } },
    /"inbound.b.path" must be a path of its own, "\/hooks\/a" is that of "inbound.a"/,
  ],
]

for (const [what, inbound, complaint] of mistakes) {
  t.test(`${what} is an error at boot`, async (t) => {
    t.throws(() => resolveSources(inbound), { message: complaint, code: 'SVC_CORE_INVALID_OPTION' })
  })
}
