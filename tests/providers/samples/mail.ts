import type { Sample } from './sample.ts'

export const mailSamples = {
  sendgrid: [
    {
      type: 'delivered',
      body: [
        {
          email: 'ada@acme.example',
          timestamp: 1767604364,
          'smtp-id': '<14c5d75ce93.dfd.64b469@ismtpd-555>',
          event: 'delivered',
          sg_event_id: 'ZGVsaXZlcmVkLTAtMTE4LTE',
          sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0',
          response: '250 OK',
        },
        {
          email: 'ada@acme.example',
          timestamp: 1767604401,
          event: 'open',
          sg_event_id: 'b3Blbi0wLTExOC0x',
          sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0',
          useragent: 'Mozilla/5.0',
        },
      ],
    },
  ],
  mailgun: [
    {
      type: 'delivered',
      body: {
        signature: {
          timestamp: '1767604364',
          token: '5b0f8d3a2c1e4f6a7b8c9d0e1f2a3b4c5d6e7f8091a2b3c4d5',
          signature: '',
        },
        'event-data': {
          id: 'CPgfbmQMTCKtHW6uIWtuVe',
          event: 'delivered',
          timestamp: 1767604364.412,
          recipient: 'ada@acme.example',
          message: { headers: { 'message-id': '20260105091244.1@mg.acme.example' } },
        },
      },
    },
  ],
  mailersend: [
    {
      type: 'activity.delivered',
      body: {
        type: 'activity.delivered',
        domain_id: 'yv69oxl5kl785kw2',
        created_at: '2026-01-05T09:12:44.062074Z',
        webhook_id: 'wh118',
        data: {
          object: 'activity',
          id: '62f114f8165fe0d8db0288e5',
          type: 'delivered',
          email: {
            object: 'email',
            subject: 'Order 118',
            recipient: { email: 'ada@acme.example' },
          },
        },
      },
    },
  ],
  postmark: [
    {
      type: 'Delivery',
      headers: { 'x-pm-webhook-trace-id': '6f7d1b9c-3c84-4d1c-9d9c-1f9a0a4f7b22' },
      body: {
        RecordType: 'Delivery',
        MessageID: '883953f4-6105-42a2-a16a-77a8eac79483',
        Recipient: 'ada@acme.example',
        DeliveredAt: '2026-01-05T09:12:44Z',
        ServerID: 23,
        MessageStream: 'outbound',
      },
    },
    {
      type: 'Bounce',
      headers: { 'x-pm-webhook-trace-id': '0b5e6a2d-8a0d-4c7c-8f55-9a3b0e7d1c90' },
      body: {
        RecordType: 'Bounce',
        ID: 42,
        Type: 'HardBounce',
        MessageID: '1c2f0a5d-6a6c-4f3e-9d6c-0a7a5e3d2b11',
        Email: 'nobody@acme.example',
        BouncedAt: '2026-01-05T09:12:44Z',
      },
    },
  ],
  mandrill: [
    {
      type: 'send',
      contentType: 'application/x-www-form-urlencoded',
      body: `mandrill_events=${encodeURIComponent(
        JSON.stringify([
          {
            event: 'send',
            ts: 1767604364,
            _id: '8606637.6692f6cac28e45a9b371e182d5ca0a35',
            msg: { email: 'ada@acme.example', subject: 'Order 118', state: 'sent' },
          },
        ]),
      )}`,
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
