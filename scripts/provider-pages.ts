/**
 * The pages of the site about providers. They follow from the rows and the samples of the tests, and are not
 * kept in the repository: the build of the site writes them.
 */
import type { Need, Preset } from '../packages/providers/src/preset.ts'
import { listProviders, presets, type ProviderId } from '../packages/providers/src/list.ts'
import { samples } from '../tests/providers/samples/all.ts'
import type { Sample } from '../tests/providers/samples/sample.ts'
import { providersDocument } from './provider-table.ts'

const VALUES: Record<Need, string> = {
  publicOrigin: "'https://example.com'",
  verifyTokenSecretName: "'A_VERIFY_TOKEN'",
  topicArn: "'arn:aws:sns:eu-west-1:123456789012:orders'",
  webhookId: "'the id of the webhook'",
  clientId: "'the client id'",
  serviceAccount: "'push@project.iam.gserviceaccount.com'",
  audience: "'https://example.com/hooks'",
  username: "'the username'",
  header: "'x-secret'",
  region: "'eu'",
  authUrl: "'https://example.com/neondb/auth'",
  publicKey: "'the public key'",
  bundleId: "'com.example.app'",
  appAppleId: '1234567890',
  rootCertificates: 'roots',
}

/** The page of one provider. */
export function pageOf(id: ProviderId): string {
  const preset: Preset = presets[id]
  const { name, docs, secret, checked, checkedOn, evidence, note, handshakes = [] } = preset
  const path = `/hooks/${id}`
  const isStored = handshakes.some(({ store }) => store !== undefined)
  const steps = [
    `Make a webhook at ${name} with the URL \`https://your-host${path}\`. [Its page](${docs}) says where.`,
    secret === null
      ? 'There is no secret to set: its keys are public, and are fetched.'
      : `Set the secret: ${secret}.`,
    ...(handshakes.length > 0 ? ['The check of the new URL is answered.'] : []),
    ...(isStored
      ? ['The secret comes with that check: keep it with the option `onHandshake`.']
      : []),
  ]
  return `# ${name}

Receive webhooks of ${name}: each is verified, and with \`@svc/webhooks\` published as an event.

${steps.map((step, at) => `${at + 1}. ${step}`).join('\n')}

## In a Fastify host

\`\`\`ts
import { providers } from '@svc/webhooks/providers'

export const source = ${callOf(id, preset, [`path: '${path}'`, ...(secret === null ? [] : ["secretName: 'A_SECRET'"])])}
\`\`\`

Give it to the option \`inbound\` of \`svcWebhooks\`: [your first source](../first-source.md).

## In any other

\`\`\`ts
import { providers } from '@svc/providers'

export const provider = ${callOf(id, preset, secret === null ? [] : ["secret: 'the secret'"]).replace('verifyTokenSecretName', 'verifyToken')}
\`\`\`

Then \`await provider.verify(request)\`: [without Fastify](../without-fastify.md).

## Events

${namesOf(id, preset)}
${samples[id].map((sample) => sampleOf(id, sample)).join('\n')}
## The answer

${answerOf(preset)}

## What to know

- ${preset.deduplicate === undefined ? 'A repeat cannot be recognised.' : 'A repeat is recognised.'}
${note === undefined ? '' : `- ${note}\n`}- Checked on ${checkedOn} against ${checked === 'vector' ? 'a signed request that the provider has published' : checked === 'sdk' ? "the provider's library" : "the provider's documentation"}: ${evidence}.
`
}

function callOf(id: string, { needs = [], mayNeed = [] }: Preset, given: string[]): string {
  const all = [
    ...given,
    ...needs.map((need) => `${need}: ${VALUES[need]}`),
    ...mayNeed.map((need) => `// ${need}: ${VALUES[need]}`),
  ]
  return `providers.${id}({\n${all.map((line) => `  ${line},\n`).join('')}})`
}

const namesOf = (id: string, { type = 'event' }: Preset): string =>
  [type]
    .flat()
    .map((text) => `- \`${id}.${text}\``)
    .join('\n')

function sampleOf(id: string, { type, body, contentType = 'application/json' }: Sample): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body, null, 2)
  return `
\`${id}.${type}\`, as \`${contentType}\`:

\`\`\`${contentType.includes('json') ? 'json' : 'text'}
${text}
\`\`\`
`
}

function answerOf({ answer }: Preset): string {
  if (!answer) return 'Any status of 2xx.'
  const body = answer.text ?? (answer.json && JSON.stringify(answer.json))
  return `${answer.status ?? 200}${body === undefined ? '' : ` with \`${body}\``}, which this provider expects.`
}

/** The texts by the names of their pages: an index, and one for each provider. */
export function providerPages(): Record<string, string> {
  const pages = listProviders().map(({ id }) => [id, pageOf(id)])
  return { index: providersDocument(), ...Object.fromEntries(pages) }
}
