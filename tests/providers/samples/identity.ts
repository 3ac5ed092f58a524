import type { Sample } from './sample.ts'

export const identitySamples = {
  workos: [
    {
      type: 'dsync.user.created',
      body: {
        id: 'event_01HKDJ5ZQ8J4W2V3X1Y0T9S8R7',
        event: 'dsync.user.created',
        created_at: '2026-01-05T09:12:44.412Z',
        data: {
          id: 'directory_user_01E1X1B89NH8Z3SDFJR4H7RGX7',
          state: 'active',
          emails: [{ primary: true, type: 'work', value: 'ada@acme.example' }],
        },
      },
    },
  ],
  okta: [
    {
      type: 'user.lifecycle.create',
      body: {
        eventType: 'com.okta.event_hook',
        eventTypeVersion: '1.0',
        cloudEventsVersion: '0.1',
        source: 'https://acme.okta.com/api/v1/eventHooks/who8vt36qfNpCGz9H1e6',
        eventId: 'b5a188b9-5ece-4636-b041-482ffda96311',
        eventTime: '2026-01-05T09:12:44.412Z',
        contentType: 'application/json',
        data: {
          events: [
            {
              uuid: 'dc90ed57-ea0c-11f0-8d1e-b3a5c9d4f8e2',
              published: '2026-01-05T09:12:43.901Z',
              eventType: 'user.lifecycle.create',
              displayMessage: 'Create okta user',
              severity: 'INFO',
              outcome: { result: 'SUCCESS' },
            },
          ],
        },
      },
    },
  ],
  supabaseAuth: [
    {
      type: 'sms',
      headers: { 'webhook-id': '6b9c1e2a-4d3f-4a5b-8c7d-9e0f1a2b3c4d' },
      body: {
        user: { id: '6481a5c1-3d37-4a56-9f6a-bee08c554965', phone: '+15005550006' },
        sms: { otp: '561166' },
      },
    },
  ],
  logto: [
    {
      type: 'User.Created',
      body: {
        hookId: 'CznQQTZmCRKKCZLQ0fVlJ',
        event: 'User.Created',
        createdAt: '2026-01-05T09:12:44.412Z',
        userAgent: 'Mozilla/5.0',
        ip: '203.0.113.5',
        data: { id: '5m8gkwvsyjv1', primaryEmail: 'ada@acme.example' },
      },
    },
  ],
  onfido: [
    {
      type: 'check.completed',
      body: {
        payload: {
          resource_type: 'check',
          action: 'check.completed',
          object: {
            id: '8f6f0a3a-1d0b-4c2d-9f55-3b7e5a0d1c22',
            status: 'complete',
            completed_at_iso8601: '2026-01-05T09:12:44Z',
            href: 'https://api.eu.onfido.com/v3.6/checks/8f6f0a3a-1d0b-4c2d-9f55-3b7e5a0d1c22',
          },
        },
      },
    },
  ],
  persona: [
    {
      type: 'inquiry.completed',
      body: {
        data: {
          type: 'event',
          id: 'evt_BkJ7nDxqW9pR2vLmT5sYcH3F',
          attributes: {
            name: 'inquiry.completed',
            'created-at': '2026-01-05T09:12:44.412Z',
            payload: { data: { type: 'inquiry', id: 'inq_8zTqLpR3kWnX5vYbM2cJdF7H' } },
          },
        },
      },
    },
  ],
  auth0: [
    {
      type: 's',
      body: [
        {
          log_id: '90020261127081314000000000000000001',
          data: {
            date: '2026-11-27T08:13:14.000Z',
            type: 's',
            client_name: 'Shop',
            user_id: 'auth0|1',
          },
        },
      ],
    },
  ],
  neon: [
    {
      type: 'user.created',
      body: {
        event_id: '550e8400-e29b-41d4-a716-446655440000',
        event_type: 'user.created',
        timestamp: '2026-11-27T08:13:14.000Z',
        context: { endpoint_id: 'ep-cool-sound-12345678', project_name: 'Shop' },
        user: { id: 'a1b2c3d4-e5f6-7890-abcd-ef1234567890', email: 'ada@example.com' },
        event_data: { auth_provider: 'credential', ip_address: '192.0.2.1' },
      },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
