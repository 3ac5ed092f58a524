import type { Sample } from './sample.ts'

export const telephonySamples = {
  twilio: [
    {
      type: 'received',
      headers: { 'i-twilio-idempotency-token': '3d0c5a86-7f0f-4d7b-9b1d-3a0f2b5c7e11' },
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams({
        MessageSid: 'SM1f2e3d4c5b6a79880f1e2d3c4b5a6978',
        AccountSid: 'AC00000000000000000000000000000000',
        From: '+15005550006',
        To: '+15005550001',
        Body: 'Is order 118 on its way?',
        SmsStatus: 'received',
        NumMedia: '0',
      }).toString(),
    },
    {
      type: 'completed',
      headers: { 'i-twilio-idempotency-token': '8b6e1f0c-0a2f-4d0b-8f0a-5e2c7d9b1a44' },
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams({
        CallSid: 'CA1f2e3d4c5b6a79880f1e2d3c4b5a6978',
        AccountSid: 'AC00000000000000000000000000000000',
        From: '+15005550006',
        To: '+15005550001',
        CallStatus: 'completed',
        CallDuration: '42',
      }).toString(),
    },
  ],
  vonage: [
    {
      type: 'delivered',
      body: {
        message_uuid: 'aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab',
        to: '447700900000',
        from: '447700900001',
        timestamp: '2026-01-05T09:12:44.412Z',
        status: 'delivered',
        channel: 'sms',
      },
    },
  ],
  messagebird: [
    {
      type: 'message.created',
      body: {
        type: 'message.created',
        message: {
          id: '8909570be57e4b4e9b7a0f5c8a2c4e30',
          conversationId: '2e15efafec384e1c82e9842075e87beb',
          status: 'received',
          content: { text: 'Is order 118 on its way?' },
        },
      },
    },
  ],
  plivo: [
    {
      type: 'Hangup',
      headers: { 'x-plivo-signature-v3-nonce': '05429567804466091622' },
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams({
        Event: 'Hangup',
        CallUUID: '97ceeb52-58b6-11e1-86da-77300b68f8bb',
        From: '15005550006',
        To: '15005550001',
        CallStatus: 'completed',
        Direction: 'inbound',
      }).toString(),
    },
  ],
  telnyx: [
    {
      type: 'message.received',
      body: {
        data: {
          record_type: 'event',
          id: 'b301ed3f-1490-491f-995f-6e64e69674d4',
          event_type: 'message.received',
          occurred_at: '2026-01-05T09:12:44.412+00:00',
          payload: {
            id: '84cca175-9755-4859-b67f-4730d7f58aa3',
            from: { phone_number: '+13125550006' },
            text: 'Is order 118 on its way?',
          },
        },
        meta: { attempt: 1, delivered_to: 'https://example.com/hooks/telnyx' },
      },
    },
  ],
  surge: [
    {
      type: 'message.received',
      headers: { 'webhook-id': 'msg_01' },
      body: {
        id: 'evt_01jjfeev3hf9n9c7k5231hd3hr',
        account_id: 'acct_01',
        type: 'message.received',
        timestamp: '2026-11-27T08:13:14Z',
        data: { id: 'msg_01', body: 'Hello' },
      },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
