import t, { type Test } from 'tap'
import { basicAuth, bearerToken, headerToken, type Verify } from '@svc/webhooks'
import { holding, received } from '../received.ts'

const basic = (credentials: string | Buffer, scheme = 'Basic') =>
  `${scheme} ${Buffer.from(credentials as string).toString('base64')}`

async function answers(
  t: Test,
  verify: Verify,
  secret: string,
  cases: Record<string, [string, boolean]>,
) {
  for (const [what, [line, verdict]] of Object.entries(cases)) {
    const [name = '', ...value] = line.split(': ')
    const request = received([[name, value.join(': ')]])
    t.equal(await verify(request, '{}', holding(secret)), verdict, what)
  }
}

t.test('Basic credentials are compared as UTF-8, colons in the password and all', async (t) => {
  const password = 'pä:ss:🔑'
  await answers(t, basicAuth({ username: 'jürgen', passwordSecretName: 'P' }), password, {
    right: [`authorization: ${basic(`jürgen:${password}`)}`, true],
    'scheme in capitals': [`Authorization: ${basic(`jürgen:${password}`, 'BASIC')}`, true],
    'two spaces': [`authorization: ${basic(`jürgen:${password}`, 'basic ')}`, true],
    'other password': [`authorization: ${basic('jürgen:pä:ss')}`, false],
    'other user': [`authorization: ${basic(`jurgen:${password}`)}`, false],
    'the colon elsewhere': [`authorization: ${basic(`jürgen:pä:ss:🔑:`)}`, false],
    'in Latin-1': [`authorization: ${basic(Buffer.from(`jürgen:pä`, 'latin1'))}`, false],
    'no colon': [`authorization: ${basic('jürgen')}`, false],
    'no base64': ['authorization: Basic jürgen:pä:ss', false],
    'with junk in the base64': [`authorization: ${basic(`jürgen:${password}`)}!`, false],
    'nothing behind the scheme': ['authorization: Basic', false],
    'other scheme': [`authorization: ${basic(`jürgen:${password}`, 'Bearer')}`, false],
    'other header': [`x-authorization: ${basic(`jürgen:${password}`)}`, false],
  })
})

t.test('a Bearer token is read from its header', async (t) => {
  await answers(t, bearerToken({ secretName: 'T' }), 'tok en', {
    right: ['authorization: Bearer tok en', true],
    'scheme in small letters': ['Authorization: bearer tok en', true],
    'more spaces': ['authorization: Bearer   tok en', true],
    'without the scheme': ['authorization: tok en', false],
    'other scheme': ['authorization: Basic tok en', false],
    longer: ['authorization: Bearer tok en2', false],
    shorter: ['authorization: Bearer tok', false],
    'scheme alone': ['authorization: Bearer ', false],
    'scheme glued to it': ['authorization: Bearertok en', false],
  })
  await answers(t, bearerToken({ secretName: 'T', header: 'X-Token' }), 'token', {
    'with the scheme': ['x-token: Bearer token', true],
    'without it': ['x-token: token', true],
    other: ['x-token: Bearer tokem', false],
    'other header': ['authorization: Bearer token', false],
  })
})

t.test('a header token is the header’s whole value', async (t) => {
  await answers(t, headerToken({ header: 'X-Gitlab-Token', secretName: 'T' }), 'tökén', {
    'as text': ['x-gitlab-token: tökén', true],
    'as the bytes of UTF-8': [`x-gitlab-token: ${Buffer.from('tökén').toString('latin1')}`, true],
    other: ['x-gitlab-token: token', false],
    empty: ['x-gitlab-token: ', false],
    'with a scheme': ['x-gitlab-token: Bearer tökén', false],
    'every byte there is': [`x-gitlab-token: ${'\u00ff'.repeat(10_000)}`, false],
  })
})

const helpers: [string, Verify, string][] = [
  ['authorization', basicAuth({ username: 'u', passwordSecretName: 'S' }), basic('u:s')],
  ['authorization', bearerToken({ secretName: 'S' }), 'Bearer s'],
  ['x-token', headerToken({ header: 'x-token', secretName: 'S' }), 's'],
]

for (const [header, verify, value] of helpers) {
  t.test(`${value} is accepted once, and refused where it comes twice`, async (t) => {
    const once = received([[header, value]])
    const twice = received([
      [header, value],
      [header.toUpperCase(), value],
    ])
    t.equal(await verify(once, '', holding('s')), true)
    t.equal(await verify(twice, '', holding('s')), false)
    t.equal(await verify(received([]), '', holding('s')), false)
  })

  t.test(`an empty secret accepts nothing in the place of ${value}`, async (t) => {
    const missing = { code: 'SVC_WEBHOOKS_SECRET_MISSING' }
    for (const empty of ['', 'Bearer ', basic('u:')]) {
      const request = received([[header, empty]])
      await t.rejects(async () => verify(request, '', holding('')), missing)
      await t.rejects(async () => verify(request, '', holding(null)), missing)
    }
  })
}
