import { createHmac } from 'node:crypto'
import t from 'tap'
import { providers } from '@svc/webhooks/providers'
import type { InboundRequest, InboundSource } from '@svc/webhooks'

const body = '{"data":{"type":"event","id":"evt_118","attributes":{"name":"inquiry.completed"}}}'
const time = String(Math.floor(Date.now() / 1000))
const signature = (secret: string): string =>
  createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')

const { verify }: InboundSource = providers.persona({ path: '/hooks', secretName: 'PERSONA' })
const accepts = (header: string): boolean | Promise<boolean> => {
  const headers = { 'persona-signature': header }
  const request = {
    method: 'POST',
    url: '/hooks',
    headers,
    rawHeaders: Object.entries(headers).flat(),
    rawBody: Buffer.from(body),
    log: { info: () => {} },
  }
  return verify(request as unknown as InboundRequest, body, () => 'ours')
}

t.test('during a rotation by a provider both signature headers are tried', async (t) => {
  const ours = `t=${time},v1=${signature('ours')}`
  const other = `t=${time},v1=${signature('other')}`
  t.equal(await accepts(ours), true, 'one set')
  t.equal(await accepts(`${ours} ${other}`), true, 'ours first')
  t.equal(await accepts(`${other} ${ours}`), true, 'ours last')
  t.equal(await accepts(`${other} ${other}`), false, 'neither')
  t.equal(await accepts(`t=${time},v1=${signature('other')} t=1,v1=${signature('ours')}`), false)
})
