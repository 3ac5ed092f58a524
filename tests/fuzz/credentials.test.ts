// promise: No untrusted input causes a crash, is wrongly accepted or takes more than 10 ms of CPU time (the time only in long runs, and not for whole requests)
import { isIP } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import { createNetworks, isNetwork } from '../../packages/auth/src/addresses.ts'
import { keyReader } from '../../packages/auth/src/guard/credentials.ts'
import { createPathRules } from '../../packages/auth/src/guard/policy/path-rules.ts'
import { pathOf, type RouterOptions } from '../../packages/auth/src/guard/policy/request-path.ts'
import { formatOf, generateKey } from '../../packages/auth/src/key-format.ts'
import { createScopeNames, SCOPE_NAME } from '../../packages/auth/src/scopes.ts'
import { fuzz, spoilt, textOf } from './fuzz.ts'

const headerLine = fc.tuple(
  fc.constantFrom(
    'authorization',
    'Authorization',
    'X-API-Key',
    'x-api-key',
    'X-Acme-Key',
    'x-acme-key',
    'x-other',
  ),
  fc.oneof(
    textOf('Bearer ', 'bearer', 'Basic ', ' ', '\t', '\u00a0', 'svc_abc', ',', ''),
    textOf('svc_abc', ':', ' ', '').map(
      (text) => `Basic ${Buffer.from(text, 'latin1').toString('base64')}`,
    ),
  ),
)

/** Nothing but blanks, or nothing but blanks behind a scheme, counts as no header. */
const hasValue = (name: string, value: string): boolean =>
  !(name === 'authorization' ? /^[^ \t]*[ \t]*$/ : /^[ \t]*$/).test(value)

const decoded = (value: string): string =>
  Buffer.from(value.replace(/^basic +/i, ''), 'base64').toString('latin1')

for (const [ways, names] of [
  [{ keyHeaders: [], basic: false }, ['authorization', 'x-api-key']],
  [{ keyHeaders: ['x-acme-key'], basic: true }, ['authorization', 'x-api-key', 'x-acme-key']],
] as const) {
  t.test(
    `no headers give two keys, and the key that is used is in one of ${names.join(', ')}`,
    (t) =>
      fuzz(t, fc.array(headerLine, { maxLength: 6 }), (lines) => {
        const key = keyReader(ways)(lines.flat())
        const ours = lines.filter(([name]) => names.some((one) => one === name.toLowerCase()))
        if (typeof key !== 'string') return
        if (key === '') throw new Error('an empty key counts as one')
        const isSent = ours.some(
          ([name, value]) =>
            value.includes(key) ||
            (ways.basic && /^authorization$/i.test(name) && decoded(value) === `${key}:`),
        )
        if (!isSent) throw new Error(`${key} was not sent`)
        for (const name of names) {
          const count = ours.filter(
            ([given, value]) => given.toLowerCase() === name && hasValue(name, value),
          ).length
          if (count > 1) throw new Error(`of two headers ${name} one was taken`)
        }
      }),
  )
}

t.test('a key with a character changed is never well-formed', (t) => {
  const genuine = generateKey()
  return fuzz(t, fc.oneof(spoilt(genuine), textOf('svc_', '0', 'z', genuine)), (text) => {
    // CRC-32 finds each change of up to 32 bits in a row; others, but for one in 2^32.
    if (text !== genuine && formatOf(text) === 'wellFormed') throw new Error(text)
  })
})

const router = fc.record<RouterOptions>({
  caseSensitive: fc.boolean(),
  ignoreTrailingSlash: fc.boolean(),
  ignoreDuplicateSlashes: fc.boolean(),
})
const target = textOf(
  '/',
  '//',
  '/admin',
  '/ADMIN',
  '%2f',
  '%2e',
  '..',
  '.',
  ';',
  '?',
  '#',
  '\\',
  '%25',
  '%00',
  'http://other',
  '/health',
  '%41',
  '%c0%af',
  ' ',
  '\t',
  ':',
)

t.test('a target that is read as an open path holds nothing that another reader takes apart', (t) =>
  fuzz(t, fc.tuple(target, router), ([text, options]) => {
    const path = pathOf(text, options)
    const rules = createPathRules(
      {
        protectedPaths: ['/admin'],
        excludePaths: ['/admin/open', '/public/*'],
        managementBasePath: '/auth',
        webhooksManagementPaths: ['/webhooks'],
      },
      options,
    )
    if (path === undefined) return
    if (!path.startsWith('/')) throw new Error(`${path} begins with no slash`)
    if (/\/\.\.?(?:\/|$)|\\|%2f|%2e/i.test(path)) throw new Error(`${path} can be read otherwise`)
    const access = rules.ofPath(path)
    const segments = path.toLowerCase().split('/').slice(1)
    if (segments[0] === 'admin' && path !== '/admin/open' && access === 'open') {
      throw new Error(`${path} is open`)
    }
    if (segments[0] === 'auth' && access !== 'auth:manage') throw new Error(`${path}: ${access}`)
  }),
)

const address = fc.oneof(
  fc.ipV4(),
  fc.ipV6(),
  fc.ipV4().map((ip) => `::ffff:${ip}`),
  textOf('10.', '0', ':', '::', '255', '%eth0', '/', '1', 'f'),
)

/** The bits of an address, by RFC 4291: an IPv4 address is one of `::ffff:0:0/96`. */
function bitsOf(address: string): bigint | undefined {
  if (isIP(address) === 0 || address.includes('%')) return undefined
  if (isIP(address) === 4) {
    const bytes = address.split('.').map(BigInt)
    return bytes.reduce((bits, byte) => (bits << 8n) | byte, 0xffffn)
  }
  // An IPv4 address at the end stands for two groups.
  const [, start = '', dotted] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(address) ?? ['', address]
  const last = dotted === undefined ? 0n : bitsOf(dotted)! & 0xffff_ffffn
  const groups = dotted === undefined ? start : `${start}${last >> 16n}:${last & 0xffffn}`
  const parsed = (text: string, place: number, all: string[]) =>
    BigInt(dotted !== undefined && place >= all.length - 2 ? Number(text) : `0x${text}`)
  const [head = '', tail] = groups.split('::')
  const tailGroups = tail === undefined || tail === '' ? [] : tail.split(':')
  const headGroups = head === '' ? [] : head.split(':')
  const gap = tail === undefined ? 0 : 8 - headGroups.length - tailGroups.length
  const all = [...headGroups, ...Array<string>(gap).fill('0'), ...tailGroups]
  return all.map(parsed).reduce((bits, group) => (bits << 16n) | group, 0n)
}

/** Whether the first bits agree; the length of an IPv4 network counts from the 96th bit. */
function isInNetwork(cidr: string, address: string): boolean {
  const [start = '', length] = cidr.split('/')
  const [network, given] = [bitsOf(start), bitsOf(address.replace(/%.*$/s, ''))]
  if (network === undefined || given === undefined) return false
  const isShort = isIP(start) === 4
  const bits = BigInt(length ?? (isShort ? 32 : 128)) + (isShort ? 96n : 0n)
  return network >> (128n - bits) === given >> (128n - bits)
}

const near = fc.tuple(address, fc.nat(127), fc.nat(130)).map(([start, bit, length]) => {
  const bits = bitsOf(start)
  if (bits === undefined) return { start, other: start, length }
  const group = (all: bigint, place: number) =>
    ((all >> BigInt(112 - place * 16)) & 0xffffn).toString(16)
  const other = bits ^ (1n << BigInt(bit))
  const isShort = other >> 32n === 0xffffn
  const bytes = [24n, 16n, 8n, 0n].map((shift) => (other >> shift) & 0xffn).join('.')
  const groups = Array.from({ length: 8 }, (_, place) => group(other, place)).join(':')
  return { start, other: isShort && length % 2 === 0 ? bytes : groups, length }
})

t.test('an address is in a network where their first bits agree, and in no other', async (t) => {
  const given = fc.tuple(fc.array(near, { maxLength: 3 }), address, fc.boolean(), fc.boolean())
  const verdicts = { within: 0, without: 0 }
  await fuzz(t, given, ([networks, stranger, isNear, isSingle]) => {
    const written = networks.map(({ start, length }) => (isSingle ? start : `${start}/${length}`))
    for (const cidr of written) {
      const [start = '', length = '0'] = cidr.split('/')
      const isAddress = isIP(start) !== 0 && !start.includes('%')
      const isLength = /^[^/]*(?:\/(?:0|[1-9]\d*))?$/.test(cidr)
      const isRight = isAddress && isLength && Number(length) <= (isIP(start) === 4 ? 32 : 128)
      if (isNetwork(cidr) !== isRight) throw new Error(`${cidr} is ${isRight ? 'one' : 'none'}`)
    }
    const cidrs = written.filter(isNetwork)
    const text = isNear ? (networks[0]?.other ?? stranger) : stranger
    const expected = cidrs.some((cidr) => isInNetwork(cidr, text))
    if (createNetworks(cidrs)(text) !== expected) {
      throw new Error(`${text} is ${expected ? '' : 'not '}in ${cidrs.join(' ')}`)
    }
    verdicts[expected ? 'within' : 'without']++
  })
  t.ok(verdicts.within > 0 && verdicts.without > 0, JSON.stringify(verdicts))
})

t.test('no text in the scopes of a key grants a built-in scope that it does not name', (t) => {
  const names = createScopeNames(['projects:read', 'projects:write'], { viewer: ['read'] })
  const scope = fc.oneof(
    textOf('role:', 'viewer', 'projects:', '*', ':*', 'admin', 'auth:', '__proto__', 'constructor'),
    fc.constantFrom('*', ':*', 'auth:*', 'webhooks:*', 'role:__proto__', 'role:constructor'),
  )
  return fuzz(t, fc.array(scope, { maxLength: 4 }), (scopes) => {
    const opened = names.resolve(scopes).filter((one) => !scopes.includes(one))
    const allowed = ['read', 'projects:read', 'projects:write']
    const wrong = opened.find((one) => !allowed.includes(one))
    if (wrong !== undefined) throw new Error(`${wrong} is opened by ${scopes}`)
    for (const one of scopes) {
      if (names.findUnknown([one]) === undefined && !SCOPE_NAME.test(one.replace(/:\*$/, ''))) {
        throw new Error(`${one} counts as a scope`)
      }
    }
  })
})
