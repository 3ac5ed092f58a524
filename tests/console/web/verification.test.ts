/**
 * The receivers that the page shows, run as it says, in the languages that this machine has: each takes real
 * deliveries and refuses forged ones.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import {
  languagesFor,
  RECEIVERS,
  receiverIn,
  type Language,
} from '../../../packages/console/web/src/text/verification.ts'
import { folderOf, freePort } from '../../support/program.ts'
import { until } from '../../support/until.ts'
import { startHost } from '../support/host.ts'

const PREFIX = 'X-Acme-'
const BODIES = [
  { what: 'our own body', isOwnBody: true, transform: null },
  { what: 'the body of a transform', isOwnBody: false, transform: 'slack' },
]

t.test('each language has its way to spell the names of headers', async (t) => {
  const scheme = { headerPrefix: PREFIX, isOwnBody: true }
  t.match(receiverIn('node', scheme), "headers['x-acme-signature-previous']")
  t.match(receiverIn('php', scheme), "$_SERVER['HTTP_X_ACME_TIMESTAMP']")
  t.match(receiverIn('receiver', scheme), "headerPrefix: 'X-Acme-'")
  t.notMatch(receiverIn('receiver', { ...scheme, headerPrefix: 'X-Svc-' }), 'headerPrefix')
  for (const { isOwnBody } of BODIES) {
    const languages = languagesFor({ ...scheme, isOwnBody })
    t.equal(languages.includes('receiver'), isOwnBody)
    for (const language of languages)
      t.notMatch(receiverIn(language, { ...scheme, isOwnBody }), /[«»]/)
  }
})

const isThere = (run: string) => {
  const program = / (\w+) /.exec(` ${run.replace(/\S+=\S+ /g, '')}`)?.[1]
  const check = program === 'ruby' ? 'ruby -r webrick -e 0' : `command -v ${program}`
  return spawnSync('sh', ['-c', check]).status === 0
}

for (const language of Object.keys(RECEIVERS) as Language[]) {
  const { name, run } = RECEIVERS[language]
  const file = /\S+$/.exec(run)![0]
  t.test(
    `the receiver in ${name} takes deliveries and refuses forged ones`,
    { skip: isThere(run) ? false : `this machine does not run ${file}` },
    async (t) => {
      for (const { what, isOwnBody, transform } of BODIES) {
        const scheme = { headerPrefix: PREFIX, isOwnBody }
        if (!languagesFor(scheme).includes(language)) continue
        await t.test(what, (t) => receives(t, run, file, receiverIn(language, scheme), transform))
      }
    },
  )
}

async function receives(
  t: Test,
  run: string,
  file: string,
  code: string,
  transform: string | null,
) {
  const { app } = await startHost(t, {
    webhooks: {
      allowedEvents: ['order.created'],
      allowedNetworks: ['127.0.0.0/8'],
      headerPrefix: PREFIX,
    },
  })
  const { webhooks } = app.svc
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const { id, secret } = await webhooks.register({ url, events: ['order.created'], transform })
  const program = await started(t, file, code, run.replace('whsec_…', secret).replace('4000', port))

  const body = JSON.stringify({ event: 'forged', payload: {}, deliveryId: '0199' })
  /** Signed with a key, as of so many seconds from now. */
  const send = (key: string, later: number) => {
    const seconds = Math.floor(Date.now() / 1000) + later
    return fetch(url, {
      method: 'POST',
      body,
      headers: {
        [`${PREFIX}Timestamp`]: String(seconds),
        [`${PREFIX}Signature`]: `sha256=${createHmac('sha256', key).update(`${seconds}.${body}`).digest('hex')}`,
      },
    }).then(
      ({ status }) => status,
      () => 0,
    )
  }
  const first = await until(
    () => send('another key', 0),
    (status) => status !== 0,
  ).catch(() => t.fail(program.printed))
  t.equal(first, 401, 'signed with another key')
  t.equal(await send(secret, -400), 401, 'too old')
  t.equal(await send(secret, 400), 401, 'from the future')
  t.equal((await fetch(url, { method: 'POST', body })).status, 401, 'not signed')

  const arrives = async () => {
    const { deliveryId } = await webhooks.test(id)
    const [attempt] = await until(
      () => webhooks.listDeliveries({ webhookId: id, deliveryId }),
      (attempts) => attempts.length > 0,
    )
    t.match(attempt, { status: 'delivered', statusCode: 204 }, program.printed)
    await until(() => program.printed.includes(deliveryId))
  }
  await arrives()
  // The program still has the secret before.
  await webhooks.rotateSecret({ id })
  await arrives()
  t.notMatch(program.printed, 'forged')
}

/** Runs what the page says, in a process group: some of them start others. */
async function started(t: Test, file: string, code: string, command: string) {
  const cwd = await folderOf(t, { [file]: code })
  const child = spawn('sh', ['-c', command], { cwd, detached: true })
  const program = { printed: '' }
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => (program.printed += String(data)))
  const closed = once(child, 'close')
  t.teardown(async () => {
    process.kill(-child.pid!, 'SIGKILL')
    await closed
  })
  return program
}
