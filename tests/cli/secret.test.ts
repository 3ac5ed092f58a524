import t from 'tap'
import { svc } from '../support/svc-command.ts'

t.test(
  'svc secret prints three secrets as lines of an .env file, new ones each time',
  async (t) => {
    const { exitCode, lines, errors } = await svc(t, ['secret'])
    t.match({ exitCode, errors }, { exitCode: 0, errors: [] })
    const secrets = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)))
    t.match(secrets, {
      BOOTSTRAP_KEY: /^[\w-]{43}$/,
      WEBHOOK_SECRET: /^whsec_[\w+/]{43}=$/,
      ENCRYPTION_KEY: /^[\w+/]{43}=$/,
    })
    const again = JSON.parse((await svc(t, ['secret', '--json'])).text)
    t.strictSame(Object.keys(again), Object.keys(secrets))
    for (const name of Object.keys(secrets)) t.not(again[name], secrets[name])
  },
)
