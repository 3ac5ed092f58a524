import type { Preset } from '../preset.ts'
import { standardWebhooks } from './standard-webhooks.ts'

/** Code hosting. */
export const code = {
  github: {
    name: 'GitHub',
    docs: 'https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries',
    checked: 'vector',
    evidence: '@octokit/webhooks-methods, and the example of the page',
    secret: 'the secret of the webhook',
    reads: 'json or form',
    unwrap: 'payload',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-hub-signature-256', prefix: 'sha256=' },
        encoding: 'hex',
      },
    ],
    type: '{header:x-github-event}',
    deduplicate: '{type}:{body}',
    remembersSeconds: 300,
    note: 'Event and delivery id are in headers that are not signed. The same event with the same body within five minutes is a repeat. The JSON of a form is published as that of a JSON body is.',
  },
  gitlab: {
    name: 'GitLab',
    docs: 'https://docs.gitlab.com/user/project/integrations/webhooks/',
    checked: 'documentation',
    evidence: 'the page; gitlab-org/gitlab merge requests 230944 and 231325',
    secret: 'the signing token of the webhook (whsec_…), or its older secret token',
    schemes: [
      { ...standardWebhooks, secretBegins: 'whsec_' },
      { algorithm: 'token', in: 'header:x-gitlab-token' },
    ],
    type: ['{json:object_kind}', '{json:event_name}', '{header:x-gitlab-event}'],
    deduplicate: ['{header:webhook-id}', '{header:idempotency-key}'],
    note: 'A secret token is sent as it is and does not protect the body. Use a signing token if your GitLab has it.',
  },
  bitbucket: {
    name: 'Bitbucket Cloud',
    docs: 'https://support.atlassian.com/bitbucket-cloud/docs/manage-webhooks/',
    checked: 'vector',
    evidence: 'the example of the page',
    secret: 'the secret of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-hub-signature', prefix: 'sha256=' },
        encoding: 'hex',
      },
    ],
    type: '{header:x-event-key}',
    deduplicate: '{type}:{body}',
    note: 'The event and the ids are in headers that are not signed. A repeat is recognised by its event and its body.',
  },
  gitea: {
    name: 'Gitea',
    docs: 'https://docs.gitea.com/usage/webhooks',
    checked: 'documentation',
    evidence: 'the page; go-gitea/gitea, services/webhook/deliver.go (the sender)',
    secret: 'the secret of the webhook',
    reads: 'json or form',
    unwrap: 'payload',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-gitea-signature' },
        encoding: 'hex',
        signed: '{form:payload}',
      },
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-gitea-signature' },
        encoding: 'hex',
      },
    ],
    type: '{header:x-gitea-event}',
    deduplicate: ['{type}:{form:payload}', '{type}:{body}'],
    remembersSeconds: 300,
    note: 'Of a form, Gitea signs the field `payload`, whose JSON is published. The same event with the same body within five minutes is a repeat.',
  },
  azureDevOps: {
    name: 'Azure DevOps',
    docs: 'https://learn.microsoft.com/en-us/azure/devops/service-hooks/services/webhooks',
    checked: 'documentation',
    evidence: 'MicrosoftDocs/azure-devops-docs, docs/service-hooks/services/webhooks.md',
    secret: 'the password that the subscription was given',
    needs: ['username'],
    schemes: [{ algorithm: 'basic' }],
    type: '{json:eventType}',
    deduplicate: '{json:id}',
    note: 'Requests have Basic credentials only. The body is not signed.',
  },
} as const satisfies Record<string, Preset>
