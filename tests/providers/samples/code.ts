import type { Sample } from './sample.ts'

export const codeSamples = {
  github: [
    {
      type: 'push',
      headers: {
        'x-github-event': 'push',
        'x-github-delivery': '72d3162e-cc78-11e3-81ab-4c9367dc0958',
      },
      body: {
        ref: 'refs/heads/main',
        before: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
        after: '0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c',
        repository: { id: 186853002, name: 'shop', full_name: 'acme/shop', private: true },
        pusher: { name: 'ada', email: 'ada@acme.example' },
        commits: [
          {
            id: '0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c',
            message: 'Round prices up',
            timestamp: '2026-01-05T10:12:44+01:00',
            modified: ['src/price.ts'],
          },
        ],
      },
    },
    {
      type: 'pull_request',
      headers: {
        'x-github-event': 'pull_request',
        'x-github-delivery': '9a0c6f10-cc78-11e3-9d2e-3f5ad01bb6c1',
      },
      body: {
        action: 'opened',
        number: 41,
        pull_request: {
          id: 1700000041,
          title: 'Round prices up',
          state: 'open',
          head: { ref: 'round-up', sha: '0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c' },
          base: { ref: 'main', sha: '6113728f27ae82c7b1a177c8d03f9e96e0adf246' },
        },
        repository: { id: 186853002, name: 'shop', full_name: 'acme/shop', private: true },
        sender: { login: 'ada', id: 21031067 },
      },
    },
    {
      type: 'ping',
      headers: {
        'x-github-event': 'ping',
        'x-github-delivery': 'b5b2c9e0-cc78-11e3-8f0a-7b8c2a6b1a55',
      },
      body: { zen: 'Keep it simple.', hook_id: 30, hook: { type: 'Repository', id: 30 } },
    },
  ],
  gitlab: [
    {
      type: 'push',
      headers: {
        'x-gitlab-event': 'Push Hook',
        'idempotency-key': 'f5e5f430-f57b-4e6e-9fac-d9128cd7232f',
      },
      body: {
        object_kind: 'push',
        event_name: 'push',
        before: '95790bf891e76fee5e1747ab589903a6a1f80f22',
        after: 'da1560886d4f094c3e6c9ef40349f7d38b5d27d7',
        ref: 'refs/heads/main',
        user_username: 'ada',
        project: { id: 15, name: 'shop', path_with_namespace: 'acme/shop' },
        total_commits_count: 1,
      },
    },
    {
      type: 'merge_request',
      headers: {
        'x-gitlab-event': 'Merge Request Hook',
        'idempotency-key': '0a4fdbd2-0b1a-4b0c-b2c0-0f6a5a1d7c11',
      },
      body: {
        object_kind: 'merge_request',
        user: { id: 1, username: 'ada' },
        project: { id: 15, name: 'shop', path_with_namespace: 'acme/shop' },
        object_attributes: { iid: 7, title: 'Round prices up', action: 'open', state: 'opened' },
      },
    },
  ],
  bitbucket: [
    {
      type: 'repo:push',
      headers: {
        'x-event-key': 'repo:push',
        'x-request-uuid': '1ce4bcb0-6a62-4b3e-8ab9-6dbf6d2f0a21',
      },
      body: {
        repository: { type: 'repository', full_name: 'acme/shop', is_private: true },
        actor: { type: 'user', nickname: 'ada' },
        push: { changes: [{ new: { type: 'branch', name: 'main' }, created: false }] },
      },
    },
    {
      type: 'pullrequest:created',
      headers: {
        'x-event-key': 'pullrequest:created',
        'x-request-uuid': '2df5cdc1-7b73-4c4f-9bc7-7ecd7e3a1b32',
      },
      body: {
        repository: { type: 'repository', full_name: 'acme/shop', is_private: true },
        actor: { type: 'user', nickname: 'ada' },
        pullrequest: { id: 41, title: 'Round prices up', state: 'OPEN' },
      },
    },
  ],
  gitea: [
    {
      type: 'push',
      headers: {
        'x-gitea-event': 'push',
        'x-gitea-delivery': 'f6266f16-1bf3-46a5-9ea4-602e06ead473',
      },
      body: {
        ref: 'refs/heads/develop',
        before: '28e1879d029cb852e4844d9c718537df08844e03',
        after: 'bffeb74224043ba2feb48d137756c8a9331c449a',
        repository: { id: 140, name: 'shop', full_name: 'acme/shop' },
        pusher: { id: 1, login: 'ada' },
      },
    },
    {
      type: 'pull_request',
      headers: {
        'x-gitea-event': 'pull_request',
        'x-gitea-delivery': '073770a7-2c04-57b6-8fb5-713f17fbe584',
      },
      body: {
        action: 'opened',
        number: 41,
        pull_request: { id: 41, title: 'Round prices up', state: 'open' },
        repository: { id: 140, name: 'shop', full_name: 'acme/shop' },
        sender: { id: 1, login: 'ada' },
      },
    },
  ],
  azureDevOps: [
    {
      type: 'git.push',
      body: {
        subscriptionId: '2d3cb1c2-5f0b-4d0e-8a42-5d6dc0b5a1f0',
        notificationId: 3,
        id: '03c164c2-8912-4d5e-8009-3707d5f83734',
        eventType: 'git.push',
        publisherId: 'tfs',
        resource: { pushId: 14, repository: { id: '278d5cd2', name: 'shop' } },
        createdDate: '2026-01-05T09:12:44.512Z',
      },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
