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
  ],
} as const satisfies Record<string, readonly Sample[]>
