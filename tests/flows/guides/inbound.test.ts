import { hmacOf, testGuides } from './support/guides.ts'

/** A push, as GitHub sends it. */
function push(url: string): Promise<Response> {
  const body = '{"ref":"refs/heads/main"}'
  return fetch(url, {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'push',
      'x-github-delivery': '1',
      'x-hub-signature-256': `sha256=${hmacOf(body)}`,
    },
  })
}

testGuides('inbound', {
  async 'inbound.ts'(_t, _ask, program, at) {
    await push(`${at}/hooks/github`)
    await program.says(/"ref":"refs\/heads\/main".*"msg":"pushed"/)
  },
  async 'own-source.ts'(t, _ask, _program, at) {
    const body = '{"id":"1","type":"paid"}'
    const post = async (signature: string) => {
      const headers = { 'content-type': 'application/json', 'x-acme-signature': signature }
      const answer = await fetch(`${at}/hooks/acme`, { method: 'POST', body, headers })
      return { status: answer.status, body: await answer.json() }
    }
    t.match(await post('sha256=00'), { status: 401 })
    t.match(await post(`sha256=${hmacOf(body)}`), { status: 200, body: { status: 'accepted' } })
    t.match(await post(`sha256=${hmacOf(body)}`), { body: { status: 'duplicate' } })
  },
  async 'zoom.ts'(t, _ask, _program, at) {
    const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"abc"}}'
    const second = String(Math.floor(Date.now() / 1000))
    const answer = await fetch(`${at}/hooks/zoom`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-zm-request-timestamp': second,
        'x-zm-signature': `v0=${hmacOf(`v0:${second}:${body}`)}`,
      },
    })
    t.same(await answer.json(), { plainToken: 'abc', encryptedToken: hmacOf('abc') })
  },
  async 'accounts.ts'(t, ask) {
    t.match(await ask('/hooks/acme/stripe', {}), { status: 401 })
    t.match(await ask('/hooks/nobody/stripe', {}), { status: 500 }, 'no secret of that name')
  },
  async 'inbound-log.ts'(t, ask) {
    t.match(await ask('/replay-failed', {}), { status: 200, body: { failed: 0 } })
  },
  async 'providers.ts'(t, _ask, program, at) {
    t.equal((await push(at)).status, 204)
    await program.says(/github\.push/)
  },
})
