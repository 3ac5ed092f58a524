import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { readExamples } from './examples.ts'
import { originOf, requestOf, secretsOf, vectors, type Vector } from './vectors.ts'

const folder = join(t.testdir(), 'examples')
const { rows, functions } = await readExamples(folder)

/** Which example of the document a vector is for: a row of its table, or one of its functions. */
function exampleFor({ id, provider }: Vector): string {
  if (provider === 'adyen') return 'adyenPayments'
  if (id === 'svix-v1a-ed25519') return 'standardWebhooksEd25519'
  return EXAMPLES[provider] ?? provider
}

const EXAMPLES: Record<string, string> = {
  adyenPlatforms: 'Adyen (platforms)',
  bitbucket: 'Bitbucket, Jira',
  circleci: 'CircleCI',
  coinbaseCommerce: 'Coinbase Commerce',
  github: 'GitHub',
  hubspot: 'HubSpot (v3)',
  hubspotV1: 'hubspotLegacy',
  hubspotV2: 'hubspotLegacy',
  line: 'LINE',
  mux: 'Mux',
  notion: 'Notion',
  openai: 'OpenAI, Clerk, Resend, Replicate: Standard Webhooks',
  paddle: 'Paddle',
  pagerduty: 'PagerDuty',
  razorpay: 'Razorpay',
  shopify: 'Shopify',
  slack: 'Slack',
  square: 'Square',
  standardWebhooks: 'OpenAI, Clerk, Resend, Replicate: Standard Webhooks',
  stripe: 'Stripe',
  svix: 'Svix',
  workos: 'WorkOS',
  zoom: 'Zoom',
}

/** Many providers have a preset and no lines in the document. */
const ofExamples = vectors.filter((vector) => {
  const example = exampleFor(vector)
  return rows.has(example) || example in functions
})

for (const [example, its] of Map.groupBy(ofExamples, exampleFor)) {
  t.test(
    `the documented lines for ${example} tell genuine requests from forged ones`,
    async (t) => {
      const verify = rows.get(example) ?? functions[example]
      if (!verify) return t.fail('there is no such example')
      for (const vector of its) {
        if (vector.now) t.intercept(Date, 'now', { value: () => (vector.now ?? 0) * 1000 })
        process.env['PUBLIC_ORIGIN'] = originOf(vector)
        const verdict = await verify(requestOf(vector), vector.body, secretsOf(vector))
        t.equal(verdict, vector.valid, vector.id)
      }
    },
  )
}

t.test('no function of the document is without a request that it was tried on', async (t) => {
  const tried = new Set(vectors.map(exampleFor))
  t.strictSame(
    Object.keys(functions).filter((name) => !tried.has(name)),
    [],
  )
})

t.test('every example of the document compiles under strict types', async (t) => {
  const base = fileURLToPath(new URL('../../tsconfig.json', import.meta.url))
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ extends: base, include: ['.'] }))
  // The compiler itself, not its script: tap instruments every script of Node that a test starts.
  const lib = new URL('../../../node_modules/typescript/lib/getExePath.js', import.meta.url)
  const { default: compiler } = (await import(lib.href)) as { default: () => string }
  const { stdout } = await promisify(execFile)(compiler(), ['-p', folder]).catch(
    (error: { stdout: string }) => error,
  )
  t.strictSame(
    stdout.split('\n').filter((line) => line.includes('examples/')),
    [],
  )
})
