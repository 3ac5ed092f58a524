import t from 'tap'
import { resolveWebhooksOptions } from '../../packages/webhooks/src/options.ts'
import { BUILT_IN } from '../../packages/webhooks/src/outbound/transforms/built-in.ts'

t.test('an option that is not given has its default', async (t) => {
  t.same(resolveWebhooksOptions({ allowedEvents: ['order.created'] }), {
    allowedEvents: ['order.created'],
    sources: [],
    managementBasePath: '/_webhooks',
    openapi: true,
    deliveryTimeoutMs: 10_000,
    allowedNetworks: [],
    egressAddresses: null,
    headerPrefix: 'X-Svc-',
    standardWebhooks: false,
    ed25519: null,
    transforms: new Map(Object.entries(BUILT_IN)),
    defaultTransform: null,
    deactivateOnGone: false,
    autoDisable: null,
    proxy: null,
    propagateTraceContext: false,
    maxWebhooksPerTenant: null,
    deliveryLogRetentionDays: 30,
    deadLetterRetentionDays: 90,
    bodyLimitBytes: 1_048_576,
    inboundLog: false,
    inboundTests: false,
  })
})

t.test('a host with sources keeps a log of their requests, unless it wants none', async (t) => {
  const a = { path: '/a', publishAs: 'a', verify: () => true }
  const logOf = (inboundLog?: unknown, inbound: object = { a }) =>
    resolveWebhooksOptions({
      allowedEvents: [],
      inbound,
      ...(inboundLog !== undefined && { inboundLog }),
    }).inboundLog
  const defaults = { keepDays: 7, rawBodies: false, sampleRefused: 1 }
  t.same(logOf(), defaults)
  t.same(logOf({}), defaults)
  t.same(logOf({ rawBodies: true, keepDays: 30 }), { ...defaults, rawBodies: true, keepDays: 30 })
  t.equal(logOf(false), false)
  t.same(logOf({}, {}), defaults, 'of other hosts on the database')
  for (const [wrong, complaint] of [
    [true, /"inboundLog" must be false, or an object/],
    [{ keepDays: 0 }, /"inboundLog.keepDays"/],
    [{ rawBodies: 'yes' }, /"inboundLog.rawBodies"/],
    [{ sampleRefused: -1 }, /"inboundLog.sampleRefused"/],
    [{ days: 7 }, /there is no option "inboundLog.days"/],
  ] as const) {
    t.throws(() => logOf(wrong), { code: 'SVC_CORE_INVALID_OPTION', message: complaint })
  }
})

t.test('the error for a wrong option has its name and the expected value', async (t) => {
  const cases: [unknown, RegExp][] = [
    [undefined, /the options must be an object, got a?n? ?undefined/],
    [{ allowedEvents: 'order.created' }, /"allowedEvents" must be a list of event names/],
    [{ allowedEvents: ['*'] }, /"allowedEvents"/],
    [{ allowedEvents: ['a', 'two words'] }, /"allowedEvents".*element \[1\] is "two words"/],
    [{ allowedEvents: [5] }, /"allowedEvents"/],
    [
      { allowedEvents: ['a', 'b', 'a'] },
      /"allowedEvents" must list each event once, but "a" at index 2 is at index 0 already/,
    ],
    [{ allowedEvents: [], managementBasePath: 'hooks' }, /"managementBasePath" must be a URL path/],
    [{ allowedEvents: [], managementBasePath: '/' }, /"managementBasePath"/],
    [{ allowedEvents: [], managementBasePath: '/hooks/' }, /"managementBasePath"/],
    [{ allowedEvents: [], managementBasePath: '/:x' }, /"managementBasePath"/],
    [{ allowedEvents: [], managementBasePath: 5 }, /"managementBasePath".*got 5/],
    [{ allowedEvents: [], deliveryTimeoutMs: 0 }, /"deliveryTimeoutMs" must be an integer.*got 0/],
    [
      { allowedEvents: [], bodyLimitBytes: 1e12 },
      /"bodyLimitBytes" .* from 1 to 268435456 .*got 1000/,
    ],
    [{ allowedEvents: [], deliveryTimeoutMs: '10' }, /"deliveryTimeoutMs".*got a string/],
    [
      { allowedEvents: [], allowedNetworks: '10.0.0.0/8' },
      /"allowedNetworks" must be a list of CIDRs/,
    ],
    [{ allowedEvents: [], allowedNetworks: ['10.0.0.1'] }, /"allowedNetworks"/],
    [{ egressAddresses: '203.0.113.7' }, /"egressAddresses" must be a list of addresses and CIDRs/],
    [{ egressAddresses: ['203.0.113.7', 'a.example'] }, /"egressAddresses"/],
    [{ egressAddresses: ['fe80::1%eth0'] }, /"egressAddresses"/],
    [
      { allowedEvents: [], allowedNetworks: ['10.0.0.0/33'] },
      /"allowedNetworks".*element \[0\] is "10.0.0.0\/33"/,
    ],
    [{ allowedEvents: [], standardWebhooks: 1 }, /"standardWebhooks" must be true or false, got 1/],
    [{ allowedEvents: [], ed25519: {} }, /"ed25519" must be an object such as/],
    [{ allowedEvents: [], ed25519: { secretName: '' } }, /"ed25519"/],
    [{ allowedEvents: [], ed25519: { secretName: 'A', secret: 'B' } }, /"ed25519"/],
    [{ allowedEvents: [], ed25519: { secretName: 'A', secretNames: ['B'] } }, /"ed25519"/],
    [{ allowedEvents: [], ed25519: { secretNames: [] } }, /"ed25519"/],
    [{ allowedEvents: [], ed25519: { secretNames: ['A', 'A'] } }, /"ed25519".*different names/],
    [{ allowedEvents: [], ed25519: { secretNames: ['A', 'B', 'C', 'D', 'E', 'F'] } }, /"ed25519"/],
    [{ allowedEvents: [], ed25519: { secretNames: 'AB' } }, /"ed25519"/],
    [{ allowedEvents: [], transforms: { slack: 'slack' } }, /"transforms" must be.*functions/],
    [{ allowedEvents: [], transforms: { 'a b': () => null } }, /"transforms"/],
    [{ allowedEvents: [], transforms: [] }, /"transforms"/],
    [{ transforms: { none: () => null } }, /"transforms".*not "none"/],
    [{ transforms: { a: { run: 'b' } } }, /"transforms"/],
    [{ transforms: { a: { run: () => null, ownSignatures: 0 } } }, /"transforms"/],
    [{ transforms: { a: { run: () => null, sign: () => ({}) } } }, /"transforms"/],
    [{ defaultTransform: 'legacy' }, /"defaultTransform".*no "legacy".*slack, .*payload, none/],
    [{ defaultTransform: 5 }, /"defaultTransform".*got 5/],
    [{ defaultTransform: '' }, /"defaultTransform"/],
    [{ allowedEvents: [], deactivateOnGone: 'no' }, /"deactivateOnGone"/],
    [{ allowedEvents: [], deliveryLogRetentionDays: 0 }, /"deliveryLogRetentionDays".*days/],
    [{ allowedEvents: [], deadLetterRetentionDays: 1.5 }, /"deadLetterRetentionDays"/],
    [
      { allowedEvents: [], deadLetterRetentionDays: 24_856 },
      /"deadLetterRetentionDays" must be an integer from 1 to 24855 \(days\), got 24856/,
    ],
    [{ allowedEvents: [], bodyLimitBytes: -1 }, /"bodyLimitBytes"/],
    [{ allowedEvents: [], inbound: [] }, /"inbound"/],
    ...['', 'a\0b', '\ud800', 'a'.repeat(101)].map((name): [object, RegExp] => [
      { allowedEvents: [], inbound: { [name]: {} } },
      /name of a source in "inbound" has 1 to 100 characters, without NUL/,
    ]),
    [{ allowedEvents: [], inbound: { github: {} } }, /"inbound\.github\.path" is missing/],
    [{ allowedEvents: [], retries: 5 }, /no option "retries".*allowedEvents/],
  ]
  for (const [options, message] of cases) {
    t.throws(() => resolveWebhooksOptions(options), { message }, JSON.stringify(options))
  }
})

t.test(
  'a transform is a function, or one with settings, and one of them is the default',
  async (t) => {
    const run = () => null
    const given = { transforms: { a: run, b: { run, ownSignatures: false }, slack: { run } } }
    const { transforms, defaultTransform } = resolveWebhooksOptions({
      ...given,
      defaultTransform: 'b',
    })
    t.equal(defaultTransform, 'b')
    t.same(transforms.get('a'), { run, ownSignatures: true })
    t.same(transforms.get('b'), { run, ownSignatures: false })
    t.same(transforms.get('slack'), { run, ownSignatures: true }, 'in place of the built-in one')
    for (const name of ['slack', 'payload', 'none', null]) {
      t.equal(resolveWebhooksOptions({ defaultTransform: name }).defaultTransform, name)
    }
  },
)

t.test('a prefix of header names makes names that are nobody else’s', async (t) => {
  const longest = `X-${'a'.repeat(29)}-`
  for (const headerPrefix of ['X-Acme-', 'x-', 'A-', 'Acme2-Hook-', 'Webhooks-', longest]) {
    t.equal(resolveWebhooksOptions({ headerPrefix }).headerPrefix, headerPrefix)
  }
  const names = 'Webhook- Accept- Access-Control- Content- If- Proxy- Sec- Transfer- X-Forwarded-'
  const ofOthers = names.split(' ').flatMap((name) => [name, name.toLowerCase(), `${name}Acme-`])
  const malformed = ['', '-', 'X', 'X-Acme', '1-', '-X-', 'X_Acme-', 'X -', 'X-Ä-', 'X-\n', 'X:-']
  for (const headerPrefix of [
    ...ofOthers,
    ...malformed,
    longest.replace('a', 'aa'),
    null,
    5,
    ['X-Acme-'],
  ]) {
    t.throws(
      () => resolveWebhooksOptions({ headerPrefix }),
      { code: 'SVC_CORE_INVALID_OPTION', message: /"headerPrefix" must be at most 32/ },
      String(headerPrefix),
    )
  }
})
