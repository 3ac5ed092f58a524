import type { Sample } from './sample.ts'

/** The payload of a Travis CI build, as the text of a form's field. */
const travisPayload = JSON.stringify({
  id: 772261,
  number: '118',
  state: 'passed',
  branch: 'main',
  commit: '0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c',
  repository: { id: 7711, name: 'shop', owner_name: 'acme' },
})

export const buildsSamples = {
  circleci: [
    {
      type: 'workflow-completed',
      body: {
        id: '3888f21b-eaa7-38e3-8f3d-75a63bba8895',
        type: 'workflow-completed',
        happened_at: '2026-01-05T09:13:10.112Z',
        webhook: { id: 'cf8c4fdd-0587-4da1-b4ca-4846e9640af9', name: 'Builds' },
        workflow: { id: 'fda08377-fe7e-46b1-8992-3a7aaecac9c3', name: 'build', status: 'success' },
        project: { name: 'shop', slug: 'github/acme/shop' },
      },
    },
    {
      type: 'job-completed',
      body: {
        id: '8bd71c28-4969-3677-8940-3e3a61c46660',
        type: 'job-completed',
        happened_at: '2026-01-05T09:13:02.404Z',
        job: { id: '8b91f9a8-7975-4e60-916c-f0152ccd99f7', name: 'test', status: 'failed' },
        project: { name: 'shop', slug: 'github/acme/shop' },
      },
    },
  ],
  buildkite: [
    {
      type: 'build.finished',
      headers: { 'x-buildkite-event': 'build.finished' },
      body: {
        event: 'build.finished',
        build: { id: '9e9a2c3f-5b4b-4a5e-8d39-5fd1d3b0b6a1', number: 118, state: 'passed' },
        pipeline: { slug: 'shop', name: 'Shop' },
        sender: { name: 'Ada' },
      },
    },
  ],
  supabase: [
    {
      type: 'INSERT',
      body: {
        type: 'INSERT',
        table: 'orders',
        schema: 'public',
        record: { id: 118, state: 'paid' },
        old_record: null,
      },
    },
  ],
  travisCi: [
    {
      type: 'passed',
      headers: { 'travis-repo-slug': 'acme/shop' },
      contentType: 'application/x-www-form-urlencoded',
      body: `payload=${encodeURIComponent(travisPayload)}`,
    },
  ],
  expo: [
    {
      type: 'finished',
      body: {
        id: '147a3212-49fd-446f-b4e3-a6519acf264a',
        accountName: 'acme',
        projectName: 'shop',
        platform: 'ios',
        status: 'finished',
        artifacts: { buildUrl: 'https://expo.dev/artifacts/eas/wyodu9tua2ZuKKiaJ1Nbkn.ipa' },
        createdAt: '2026-01-05T09:12:44.155Z',
        completedAt: '2026-01-05T09:25:42.715Z',
      },
    },
  ],
  pagerduty: [
    {
      type: 'incident.triggered',
      headers: { 'x-webhook-id': '01CD8OAXYSOEJ2UOCSR1S2GQXI' },
      body: {
        event: {
          id: '01CD8OAXYSOEJ2UOCSR1S2GQXI',
          event_type: 'incident.triggered',
          resource_type: 'incident',
          occurred_at: '2026-01-05T09:12:44.412Z',
          data: {
            id: 'PGR0VU2',
            type: 'incident',
            number: 2,
            status: 'triggered',
            title: 'Checkout is slow',
            urgency: 'high',
          },
        },
      },
    },
  ],
  sentry: [
    {
      type: 'issue.created',
      headers: {
        'sentry-hook-resource': 'issue',
        'sentry-hook-timestamp': '1767604364',
        'request-id': '4bd6bd5e-8d6e-4b77-8f52-6b2a9f6b5a10',
      },
      body: {
        action: 'created',
        installation: { uuid: 'a8e5d37a-696c-4c54-adb5-b3f28d64c7de' },
        data: {
          issue: { id: '1170820242', title: 'TypeError: price is undefined', level: 'error' },
        },
        actor: { type: 'application', id: 'sentry', name: 'Sentry' },
      },
    },
  ],
  launchdarkly: [
    {
      type: 'flag.updateOn',
      body: {
        _id: '57c0a8e29969090743529965',
        date: 1767604364774,
        accesses: [{ action: 'updateOn', resource: 'proj/shop:env/production:flag/round-up' }],
        kind: 'flag',
        name: 'Round prices up',
        member: { email: 'ada@acme.example' },
      },
    },
  ],
  vercel: [
    {
      type: 'deployment.succeeded',
      body: {
        id: 'uev_CNCbPbYbQSnbvxzUcMmwhYdF',
        type: 'deployment.succeeded',
        createdAt: 1800000000000,
        region: 'sfo1',
        payload: {
          deployment: { id: 'dpl_3u3dnQFyJR7nyJB', name: 'shop', url: 'shop-1.vercel.app' },
        },
      },
    },
  ],
  netlify: [
    {
      type: 'deploy_created',
      headers: { 'x-netlify-event': 'deploy_created' },
      body: { id: '5ebc34bf4fea0b01f02efa3a', site_id: 'fa4dd95a', state: 'ready', name: 'shop' },
    },
    {
      type: 'error',
      body: { id: '5ebc34bf4fea0b01f02efa3b', site_id: 'fa4dd95a', state: 'error' },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
