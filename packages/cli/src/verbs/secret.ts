import { randomBytes } from 'node:crypto'
import { DONE, type AddVerb } from '../verb.ts'

/** Bytes of each. The encryption of core takes exactly this number. */
const BYTES = 32

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

const newSecrets = (): Record<string, string> => ({
  BOOTSTRAP_KEY: randomBytes(BYTES).toString('base64url'),
  WEBHOOK_SECRET: newWebhookSecret(),
  ENCRYPTION_KEY: randomBytes(BYTES).toString('base64'),
})
