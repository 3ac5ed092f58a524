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
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-hub-signature-256', prefix: 'sha256=' },
        encoding: 'hex',
      },
    ],
    type: '{header:x-github-event}',
    deduplicate: '{header:x-github-delivery}',
    note: 'A redelivery has the id of the first delivery.',
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
    deduplicate: '{header:x-request-uuid}',
  },
  gitea: {
    name: 'Gitea',
    docs: 'https://docs.gitea.com/usage/webhooks',
    checked: 'documentation',
    evidence: 'the page; go-gitea/gitea, services/webhook/deliver.go (the sender)',
    secret: 'the secret of the webhook',
    schemes: [
      {
        algorithm: 'hmac-sha256',
        signature: { in: 'header:x-gitea-signature' },
        encoding: 'hex',
      },
    ],
    type: '{header:x-gitea-event}',
    deduplicate: '{header:x-gitea-delivery}',
    note: 'Choose the content type `application/json`. Of a form, Gitea signs a field and not the body.',
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
