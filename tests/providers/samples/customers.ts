import type { Sample } from './sample.ts'

/** What HubSpot sends is the same under every version of its signature. */
const hubspotEvents = [
  {
    type: 'contact.creation',
    body: [
      {
        eventId: 3181526809,
        subscriptionId: 12,
        portalId: 62515,
        appId: 1160452,
        occurredAt: 1767604364412,
        subscriptionType: 'contact.creation',
        attemptNumber: 0,
        objectId: 123,
        changeSource: 'CRM',
      },
    ],
  },
] as const satisfies readonly Sample[]

export const customersSamples = {
  hubspot: hubspotEvents,
  hubspotV2: hubspotEvents,
  hubspotV1: hubspotEvents,
  attio: [
    {
      type: 'record.created',
      headers: { 'idempotency-key': '8f1c2a3b-0b1d-4e5f-9a6b-7c8d9e0f1a2b' },
      body: {
        webhook_id: '23e42eaf-323a-41da-b5bb-fd67eebda553',
        events: [
          {
            event_type: 'record.created',
            id: {
              workspace_id: '14beef7a-99f7-4534-a87e-70b564330a4c',
              object_id: '97052eb9-e65e-443f-a297-f2d9a4a7f795',
              record_id: 'bf071e1f-6035-429d-b874-d83ea64ea13b',
            },
            actor: { type: 'workspace-member', id: '50cf242c-7fa3-4cad-87d0-75b1af71c57b' },
          },
        ],
      },
    },
  ],
  intercom: [
    {
      type: 'conversation.user.created',
      body: {
        type: 'notification_event',
        id: 'notif_ccd8a4d0-f965-11e3-a367-c779cae3e1b3',
        app_id: 'a86dr8yl',
        topic: 'conversation.user.created',
        created_at: 1767604364,
        data: {
          type: 'notification_event_data',
          item: { type: 'conversation', id: '118', state: 'open' },
        },
      },
    },
  ],
  zendesk: [
    {
      type: 'zen:event-type:ticket.created',
      headers: { 'x-zendesk-webhook-invocation-id': '01HZX0YB5Q3W9M8Y7V6T5R4E3W' },
      body: {
        account_id: 12514403,
        id: '2b24ef10-19db-4740-93cf-4f98ec4776c0',
        type: 'zen:event-type:ticket.created',
        time: '2026-01-05T09:12:44.412Z',
        zendesk_event_version: '2022-11-06',
        subject: 'zen:ticket:118',
        event: {},
        detail: { id: '118', subject: 'Where is my order?', status: 'NEW' },
      },
    },
  ],
  segment: [
    {
      type: 'track',
      body: {
        type: 'track',
        messageId: '022bb90c-bbac-11e4-8dfc-aa07a5b093db',
        userId: '97234974',
        event: 'Order Completed',
        properties: { order_id: '118', total: 45 },
        timestamp: '2026-01-05T09:12:44.412Z',
        version: 2,
      },
    },
    {
      type: 'identify',
      body: {
        type: 'identify',
        messageId: '133cca1d-ccbd-22f5-8eed-bb18b6ca0aec',
        userId: '97234974',
        traits: { email: 'ada@acme.example' },
        timestamp: '2026-01-05T09:13:21.412Z',
        version: 2,
      },
    },
  ],
  knock: [
    {
      type: 'message.sent',
      headers: {
        'x-knock-event': 'message.sent',
        'x-knock-environment-id': '7bd0c2e7-2f0f-4b59-a6f8-9d2e7c1b5a44',
      },
      body: {
        __typename: 'Event',
        type: 'message.sent',
        created_at: '2026-01-05T09:12:44.412Z',
        data: { __typename: 'Message', id: '2UYEHZrJjLJvWHkbzTM4mTrKAbC', status: 'sent' },
        event_data: null,
      },
    },
  ],
  dub: [
    {
      type: 'link.clicked',
      body: {
        id: 'evt_KleiO1HqUNNgNbnKa8Mc4pvcZ',
        event: 'link.clicked',
        createdAt: '2026-01-05T09:12:44.412Z',
        data: { click: { id: 'd0UtZqE0BZuBPrJS', country: 'DE' }, link: { key: 'tea' } },
      },
    },
  ],
  front: [
    {
      type: 'inbound_received',
      body: {
        type: 'inbound_received',
        authorization: { id: 'cmp_abc' },
        payload: { id: 'evt_55c8c149', type: 'inbound', emitted_at: 1767604364.412 },
      },
    },
  ],
  helpScout: [
    {
      type: 'convo.created',
      headers: { 'x-helpscout-event': 'convo.created' },
      body: { id: 118, number: 118, status: 'active', subject: 'Where is my order?' },
    },
  ],
  customerIo: [
    {
      type: 'email.opened',
      body: {
        event_id: '01E4C4CT6YDC7Y5M7FE1GWWPQJ',
        object_type: 'email',
        metric: 'opened',
        timestamp: 1800000000,
        data: { customer_id: '0200102', recipient: 'ada@example.com' },
      },
    },
  ],
  klaviyo: [
    {
      type: 'event_klaviyo.opened_email',
      headers: { 'klaviyo-timestamp': 'Fri, 27 Nov 2026 08:13:14 GMT' },
      body: {
        data: [{ topic: 'event:klaviyo.opened_email', external_id: '73WCCK7JKtE', payload: {} }],
        meta: { timestamp: '2026-11-27T08:13:14.101159+00:00', version: '2024-06-28' },
      },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
