import type { Sample } from './sample.ts'

export const documentsSamples = {
  box: [
    {
      type: 'FILE.UPLOADED',
      headers: {
        'box-delivery-id': 'f96bb54b-ee16-4fc5-aa65-8c2d9e5b546f',
        'box-signature-version': '1',
        'box-signature-algorithm': 'HmacSHA256',
      },
      body: {
        type: 'webhook_event',
        id: '0f4c1d3a-f9f4-4d8e-9e2c-7a1b5f6c8d90',
        created_at: '2026-01-05T01:12:44-08:00',
        trigger: 'FILE.UPLOADED',
        webhook: { id: '53', type: 'webhook' },
        source: { id: '73835521473', type: 'file', name: 'offer.pdf' },
      },
    },
  ],
  dropbox: [
    {
      type: 'changed',
      body: {
        list_folder: { accounts: ['dbid:AAH4f99T0taONIb-OurWxbNQ6ywGRopQngc'] },
        delta: { users: [12345678] },
      },
    },
  ],
  docusign: [
    {
      type: 'envelope-completed',
      body: {
        event: 'envelope-completed',
        apiVersion: 'v2.1',
        uri: '/restapi/v2.1/accounts/1703061/envelopes/1c8f0b8a-0d3d-4f3a-9d9b-1a6c4f2b7e55',
        retryCount: 0,
        configurationId: 10184781,
        generatedDateTime: '2026-01-05T09:12:44.4120000Z',
        data: {
          accountId: 'c5b6d7a8-1f2e-4d3c-9b8a-7f6e5d4c3b2a',
          envelopeId: '1c8f0b8a-0d3d-4f3a-9d9b-1a6c4f2b7e55',
        },
      },
    },
  ],
  typeform: [
    {
      type: 'form_response',
      body: {
        event_id: '01HKDJ5ZQ8J4W2V3X1Y0T9S8R7',
        event_type: 'form_response',
        form_response: {
          form_id: 'lT4Z3j',
          token: 'a3a12ec67a1365927098a606107fac15',
          submitted_at: '2026-01-05T09:12:44Z',
          answers: [
            { type: 'text', text: 'Ada', field: { id: 'DlXFaesGBpoF', type: 'short_text' } },
          ],
        },
      },
    },
  ],
  figma: [
    {
      type: 'FILE_UPDATE',
      body: {
        event_type: 'FILE_UPDATE',
        passcode: '',
        timestamp: '2026-01-05T09:12:44Z',
        webhook_id: '22',
        file_key: 'SVf7Ym1Tm5fEcGcQ2bXh9o',
        file_name: 'Shop',
      },
    },
  ],
  microsoftGraph: [
    {
      type: 'created',
      body: {
        value: [
          {
            id: 'lsgTZMr9KwAAA',
            subscriptionId: '9d5e0b3a-0b5c-4f4a-8e1a-5d4c3b2a1f00',
            subscriptionExpirationDateTime: '2026-01-08T09:12:44Z',
            clientState: '',
            changeType: 'created',
            resource: 'Users/ada@acme.example/Messages/AAMkAGUwNjQ4ZjIxAAA=',
            tenantId: '84bd8158-6d4d-4958-8b9f-9d6445542f95',
          },
        ],
      },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
