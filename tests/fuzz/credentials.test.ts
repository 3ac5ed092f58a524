import fc from 'fast-check'
import t from 'tap'
import { createNetworks, isNetwork } from '../../packages/auth/src/addresses.ts'
import { presentedKey } from '../../packages/auth/src/guard/credentials.ts'
import { createPathRules } from '../../packages/auth/src/guard/policy/path-rules.ts'
import { pathOf, type RouterOptions } from '../../packages/auth/src/guard/policy/request-path.ts'
import { formatOf, generateKey } from '../../packages/auth/src/key-format.ts'
import { createScopeNames, SCOPE_NAME } from '../../packages/auth/src/scopes.ts'
import { fuzz, spoilt, textOf } from './fuzz.ts'

const headerLine = fc.tuple(
  fc.constantFrom('authorization', 'Authorization', 'X-API-Key', 'x-api-key', 'x-other'),
  textOf('Bearer ', 'bearer', 'Basic ', ' ', '\t', '\u00a0', 'svc_abc', ',', ''),
)

t.test('no headers give two keys, and the key that is used is in one of them', (t) =>
  fuzz(t, fc.array(headerLine, { maxLength: 6 }), (lines) => {
    const key = presentedKey(lines.flat())
    const ours = lines.filter(([name]) => /^(?:authorization|x-api-key)$/i.test(name))
    if (typeof key !== 'string') return
    if (key === '') throw new Error('an empty key counts as one')
    if (!ours.some(([, value]) => value.includes(key))) throw new Error(`${key} was not sent`)
    for (const name of ['authorization', 'x-api-key']) {
      const count = ours.filter(([given]) => given.toLowerCase() === name).length
      if (count > 1) throw new Error(`of two headers ${name} one was taken`)
    }
  }),
)

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
  useSemicolonDelimiter: fc.boolean(),
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

t.test('a network admits no text that is not an address', (t) =>
  fuzz(t, fc.tuple(fc.array(address, { maxLength: 3 }), fc.nat(130), address), (given) => {
    const [starts, bits, text] = given
    const cidrs = starts.map((start) => `${start}/${bits}`).filter(isNetwork)
    const isWithin = createNetworks(cidrs)
    if (isWithin(text) && cidrs.length === 0) throw new Error(`${text} is in no network`)
    if (isWithin(text) && !/^[0-9a-f.:]+(?:%.*)?$/is.test(text)) throw new Error(text)
  }),
)

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
