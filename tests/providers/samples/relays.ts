import type { Sample } from './sample.ts'

export const relaysSamples = {
  sns: [
    {
      type: 'Notification',
      headers: { 'x-amz-sns-message-type': 'Notification' },
      contentType: 'text/plain; charset=UTF-8',
      body: {
        Type: 'Notification',
        MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
        TopicArn: 'arn:aws:sns:eu-west-1:123456789012:orders',
        Subject: 'Order 118',
        Message: '{"orderId":118}',
        Timestamp: '2026-01-05T09:12:44.412Z',
        SignatureVersion: '2',
      },
    },
  ],
  googlePubSub: [
    {
      type: 'OBJECT_FINALIZE',
      body: {
        message: {
          attributes: { eventType: 'OBJECT_FINALIZE', bucketId: 'acme-orders' },
          data: 'eyJvcmRlcklkIjoxMTh9',
          messageId: '2070443601311540',
          publishTime: '2026-01-05T09:12:44.412Z',
        },
        subscription: 'projects/acme/subscriptions/orders',
      },
    },
    {
      type: 'message',
      body: {
        message: { data: 'eyJvcmRlcklkIjoxMTh9', messageId: '2070443601311541' },
        subscription: 'projects/acme/subscriptions/orders',
      },
    },
  ],
  hook0: [
    {
      type: 'order.created',
      headers: {
        'x-event-id': '1b6f0c2a-4d3e-4f5a-8b7c-9d0e1f2a3b4c',
        'x-event-type': 'order.created',
      },
      body: { orderId: 118 },
    },
  ],
  convoy: [
    {
      type: 'invoice.paid',
      headers: { 'x-convoy-idempotency-key': '01HKDJ5ZQ8J4W2V3X1Y0T9S8R7' },
      body: { event_type: 'invoice.paid', data: { invoiceId: 118 } },
    },
  ],
  qstash: [
    {
      type: 'message',
      headers: {
        'upstash-message-id': 'msg_26hZCxZCuWyyTWPmSVBrNB882AMRP',
        'upstash-retried': '0',
      },
      body: { orderId: 118 },
    },
  ],
  pusher: [
    {
      type: 'channel_occupied',
      headers: { 'x-pusher-key': '278d525bdf162c739803' },
      body: {
        time_ms: 1767604364412,
        events: [{ name: 'channel_occupied', channel: 'presence-order-118' }],
      },
    },
  ],
  ably: [
    {
      type: 'channel.message',
      headers: { 'x-ably-key': 'xVLyHw.abcdef' },
      body: {
        items: [
          {
            webhookId: 'ABcDEf',
            source: 'channel.message',
            serial: 'a7bcdEFghIjklm123456789:4',
            timestamp: 1767604364412,
            name: 'channel.message',
            data: { channelId: 'order-118', messages: [{ id: 'ABcDefgHIj:1:0', data: 'packed' }] },
          },
        ],
      },
    },
  ],
  alchemy: [
    {
      type: 'ADDRESS_ACTIVITY',
      body: {
        webhookId: 'wh_octjglnywaupz6th',
        id: 'whevt_ogrc5v64myey69ux',
        createdAt: '2026-01-05T09:12:44.412Z',
        type: 'ADDRESS_ACTIVITY',
        event: { network: 'ETH_MAINNET', activity: [{ category: 'token', value: 293.092129 }] },
      },
    },
  ],
  coinbaseCdp: [
    {
      type: 'onchain.activity.detected',
      body: {
        eventId: 'evt_1',
        eventType: 'onchain.activity.detected',
        network: 'base-mainnet',
        data: { transactionHash: '0x4ad0' },
      },
    },
  ],
  nango: [
    {
      type: 'auth.creation',
      body: { type: 'auth', operation: 'creation', connectionId: 'c-1', success: true },
    },
    {
      type: 'sync',
      body: { type: 'sync', connectionId: 'c-1', syncName: 'contacts', success: true },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
