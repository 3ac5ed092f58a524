import t from 'tap'
import { providers, type ProviderId } from '@svc/webhooks/providers'
import { resolveSources } from '../../../../packages/webhooks/src/inbound/sources.ts'
import { presets } from '../../../../packages/providers/src/presets/all.ts'
import { received } from '../received.ts'

const make = (id: ProviderId, options: unknown) =>
  (providers[id] as (options: unknown) => ReturnType<typeof providers.github>)(options)

const given = { path: '/a', secretName: 'S' }

t.test('the list of presets names each, and what it was checked against', async (t) => {
  const list = providers.list()
  t.strictSame(
    list.map(({ id }) => id),
    Object.keys(presets).toSorted(),
  )
  for (const provider of list) {
    t.strictSame(Object.keys(provider), ['id', 'name', 'scheme', 'docs', 'checked'])
    t.type(providers[provider.id], 'function')
  }
})

t.test('a wrong option is named, with its provider, at the call', async (t) => {
  const cases: [id: ProviderId, options: unknown, complaint: RegExp][] = [
    ['github', undefined, /providers\.github: the options must be an object/],
    ['github', { secretName: 'S' }, /providers\.github: the option "path" is missing/],
    ['github', { path: '/a' }, /providers\.github: the option "secretName" is missing/],
    ['github', { path: '/a', secretName: '' }, /"secretName" must be the name of a secret/],
    ['github', { path: '/a', secretName: [] }, /"secretName"/],
    ['github', { path: '/a', secretName: ['S', 5] }, /"secretName"/],
    [
      'github',
      { ...given, publicOrigin: 'https://a.example' },
      /there is no option "publicOrigin"/,
    ],
    ['github', { ...given, toleranceSeconds: -1 }, /"toleranceSeconds"/],
    [
      'sns',
      { path: '/a', topicArn: 'arn:aws:sns:eu-west-1:1:t', secretName: 'S' },
      /there is no option "secretName"/,
    ],
    ['sns', { path: '/a' }, /"topicArn" is missing/],
    ['meta', given, /"verifyTokenSecretName" is missing/],
    ['twilio', given, /"publicOrigin" is missing/],
    ['twilio', { ...given, publicOrigin: 'https://a.example/' }, /"publicOrigin" must be scheme/],
    ['twilio', { ...given, publicOrigin: 'a.example' }, /"publicOrigin" must be scheme/],
    ['asana', { ...given, onHandshake: true }, /"onHandshake" must be a function/],
    ['github', { ...given, onHandshake: () => {} }, /"onHandshake" has no effect, as GitHub sends/],
    ['github', { ...given, toleranceSeconds: 60 }, /"toleranceSeconds" has no effect, as GitHub/],
    [
      'stripe',
      { ...given, toleranceSeconds: 60, verify: () => true },
      /"toleranceSeconds" has no effect, as it is for the verification that "verify" replaces/,
    ],
    [
      'notion',
      { ...given, onHandshake: () => {}, respondUnverified: () => null },
      /"onHandshake" has no effect, as it is for the handshake that your "respondUnverified"/,
    ],
    ['sns', { path: '/a', topicArn: 'orders' }, /"topicArn" must be the ARN of a topic/],
    ['sns', { path: '/a', topicArn: 'arn:aws:sqs:eu-west-1:1:a' }, /"topicArn" must be the ARN/],
  ]
  for (const [id, options, complaint] of cases) {
    const message = { code: 'SVC_CORE_INVALID_OPTION', message: complaint }
    t.throws(() => make(id, options), message, String(complaint))
  }
})

t.test(
  'a field that is given replaces that of the preset, and is checked as any other',
  async (t) => {
    const own = { publishAs: 'push', deduplicationKey: () => null, deduplicationTtlSeconds: 60 }
    const source = providers.github({ path: '/a', secretName: 'S', ...own })
    t.match(source, own)
    t.type(source.verify, 'function')
    const [resolved] = resolveSources({ a: source })
    t.match(resolved, { name: 'a', ...own })
    const wrong = providers.github({ path: '/a', secretName: 'S', publishAs: 'a b' })
    t.throws(() => resolveSources({ a: wrong }), { message: /"inbound\.a\.publishAs"/ })
  },
)

t.test('an event has the provider’s type, in characters that a name may hold', async (t) => {
  const name = (
    { publishAs }: ReturnType<typeof providers.github>,
    ...of: Parameters<typeof received>
  ) => {
    const [lines, body = '{}'] = of
    return typeof publishAs === 'string'
      ? publishAs
      : publishAs(received(lines, body), String(body))
  }
  const github = providers.github(given)
  t.equal(name(github, [['X-GitHub-Event', 'push']]), 'github.push')
  t.equal(name(github, [['X-GitHub-Event', 'a b:c\n']]), 'github.a_b_c_')
  t.equal(name(github, []), 'github.event')
  t.equal(name(github, [['X-GitHub-Event', 'é'.repeat(300)]]).length, 200)
  t.equal(
    name(providers.shopify(given), [['X-Shopify-Topic', 'orders/create']]),
    'shopify.orders/create',
  )
  t.equal(name(providers.stripe(given), [], '{"type":"invoice.paid"}'), 'stripe.invoice.paid')
  t.equal(name(providers.stripe(given), [], 'no JSON'), 'stripe.event')
  t.equal(
    name(providers.coinbaseCommerce(given), [], '{"event":{"type":"charge:created"}}'),
    'coinbaseCommerce.charge_created',
  )
})
