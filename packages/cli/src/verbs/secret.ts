import { randomBytes } from 'node:crypto'
import { DONE, WrongUsage, type AddVerb } from '../verb.ts'

/** Bytes of each. The encryption of core takes exactly this number. */
const BYTES = 32
const SHORTEST_KEY_BYTES = 16

const HELP = `
BOOTSTRAP_KEY   for the option bootstrapKeySecret of svcAuth
WEBHOOK_SECRET  signs webhooks: for a receiver, a sender, or svc sink and svc listen
ENCRYPTION_KEY  for the option encryption of svcCore: { secretNames: ['ENCRYPTION_KEY'] }`

export const secret: AddVerb = (program, context) => {
  program
    .command('secret')
    .description('makes new secrets, and prints them as lines of an .env file')
    .option('--json', 'print them as JSON')
    .addHelpText('after', HELP)
    .action(
      context.runs(({ json }: { json?: boolean }) => {
        const secrets = newSecrets()
        if (json) context.json(secrets)
        else for (const [name, value] of Object.entries(secrets)) context.out(`${name}=${value}`)
        return DONE
      }),
    )
}

export const newWebhookSecret = (): string => `whsec_${randomBytes(BYTES).toString('base64')}`

/** As hosts take one of a webhook. @throws WrongUsage */
export function assertWebhookSecret(secret: string | undefined): void {
  if (secret === undefined) return
  const [, base64] = /^whsec_(.*)$/.exec(secret) ?? []
  const isKey = base64 === undefined || Buffer.from(base64, 'base64').length >= SHORTEST_KEY_BYTES
  if (/^[!-~]{16,256}$/.test(secret) && isKey) return
  throw new WrongUsage(
    '--secret must be 16 to 256 visible ASCII characters, and after "whsec_" base64 of at least 16 bytes: "npx svc secret" makes one',
  )
}

const newSecrets = (): Record<string, string> => ({
  BOOTSTRAP_KEY: randomBytes(BYTES).toString('base64url'),
  WEBHOOK_SECRET: newWebhookSecret(),
  ENCRYPTION_KEY: randomBytes(BYTES).toString('base64'),
})
