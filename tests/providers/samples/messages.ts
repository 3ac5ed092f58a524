import type { Sample } from './sample.ts'

export const messagesSamples = {
  slack: [
    {
      type: 'app_mention',
      body: {
        token: 'legacy',
        team_id: 'T0H5N2K',
        api_app_id: 'A0H5N2K',
        type: 'event_callback',
        event_id: 'Ev0PV52K25',
        event_time: 1767604364,
        event: {
          type: 'app_mention',
          user: 'U061F7AUR',
          text: '<@U0LAN0Z89> is the shop up?',
          ts: '1767604364.000200',
          channel: 'C123ABC456',
        },
      },
    },
    {
      type: 'block_actions',
      contentType: 'application/x-www-form-urlencoded',
      body: `payload=${encodeURIComponent(
        JSON.stringify({
          type: 'block_actions',
          trigger_id: '12466734323.1395872398',
          user: { id: 'U061F7AUR', username: 'ada' },
          actions: [{ action_id: 'approve', type: 'button', value: 'order-118' }],
        }),
      )}`,
    },
  ],
  discord: [
    {
      type: 'APPLICATION_AUTHORIZED',
      body: {
        version: 1,
        application_id: '1234560123453231555',
        type: 1,
        event: {
          type: 'APPLICATION_AUTHORIZED',
          timestamp: '2026-01-05T09:12:44.720488',
          data: {
            integration_type: 1,
            scopes: ['applications.commands'],
            user: { id: '80351110224678912' },
          },
        },
      },
    },
    {
      type: 'interaction',
      body: {
        type: 2,
        id: '786008729715212338',
        application_id: '1234560123453231555',
        token: 'A_UNIQUE_TOKEN',
        version: 1,
        data: { id: '771825006014889984', name: 'deploy', type: 1 },
        guild_id: '290926798626357999',
      },
    },
  ],
  telegram: [
    {
      type: 'message',
      body: {
        update_id: 10000,
        message: {
          message_id: 1365,
          date: 1767604364,
          chat: { id: 1111111, type: 'private', first_name: 'Ada' },
          from: { id: 1111111, is_bot: false, first_name: 'Ada' },
          text: '/start',
        },
      },
    },
    {
      type: 'callback_query',
      body: {
        update_id: 10001,
        callback_query: {
          id: '4382bfdwdsb323b2d9',
          from: { id: 1111111, is_bot: false, first_name: 'Ada' },
          data: 'order-118',
        },
      },
    },
  ],
  line: [
    {
      type: 'message',
      body: {
        destination: 'U8e742f61d673b39c7fff3cecb7536ef0',
        events: [
          {
            type: 'message',
            webhookEventId: '01FZ74A0TDDPYRVKNK77XKC3ZR',
            deliveryContext: { isRedelivery: false },
            timestamp: 1767604364625,
            source: { type: 'user', userId: 'U4af4980629bfbc0f3c1c0b9e3f1d5b21' },
            replyToken: '0f3779fba3b349968c5d07db31eab56f',
            mode: 'active',
            message: { id: '444573844083572737', type: 'text', text: 'Is order 118 on its way?' },
          },
        ],
      },
    },
  ],
  meta: [
    {
      type: 'whatsapp_business_account',
      body: {
        object: 'whatsapp_business_account',
        entry: [
          {
            id: '102290129340398',
            changes: [
              {
                field: 'messages',
                value: {
                  messaging_product: 'whatsapp',
                  metadata: {
                    display_phone_number: '15550783881',
                    phone_number_id: '106540352242922',
                  },
                  messages: [
                    {
                      from: '16505551234',
                      id: 'wamid.HBgLMTY1MDM4Nzk0MzkVAgASGBQzQTRBNjU5OUFFRTAzODEwMTQ0RgA=',
                      timestamp: '1767604364',
                      type: 'text',
                      text: { body: 'Is order 118 on its way?' },
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    },
  ],
  microsoftTeams: [
    {
      type: 'message',
      body: {
        type: 'message',
        id: '1767604364412',
        timestamp: '2026-01-05T09:12:44.412Z',
        serviceUrl: 'https://smba.trafficmanager.net/emea/',
        channelId: 'msteams',
        from: { id: '29:1XJKJMvc5GBtc2JwZq0oj8tHZmzrQgFmB', name: 'Ada' },
        text: '<at>shop</at> status',
      },
    },
  ],
  zoom: [
    {
      type: 'meeting.started',
      body: {
        event: 'meeting.started',
        event_ts: 1767604364412,
        payload: {
          account_id: 'AAAAAABBBB',
          object: { id: '1234567890', uuid: '4444AAAiAAAAAiAiAiiAii==', topic: 'Weekly', type: 2 },
        },
      },
    },
  ],
  webex: [
    {
      type: 'messages.created',
      body: {
        id: 'Y2lzY29zcGFyazovL3VzL1dFQkhPT0svZjRlNjA1NjAtNjYwMi00ZmIwLWEyNWEtOTQ5ODgxNjA5NDk3',
        name: 'New messages',
        resource: 'messages',
        event: 'created',
        orgId: 'OTZhYmMyYWEtM2RjYy0xMWU1LWExNTItZmUzNDgxOWNkYzlh',
        data: {
          id: 'Y2lzY29zcGFyazovL3VzL01FU1NBR0UvOTJkYjNiZTA',
          created: '2026-01-05T09:12:44.412Z',
        },
      },
    },
  ],
  twitch: [
    {
      type: 'channel.follow',
      headers: {
        'twitch-eventsub-message-type': 'notification',
        'twitch-eventsub-message-id': 'befa7b53-d79d-478f-86b9-120f112b044e',
        'twitch-eventsub-subscription-type': 'channel.follow',
      },
      body: {
        subscription: {
          id: 'f1c2a387-161a-49f9-a165-0f21d7a4e1c4',
          type: 'channel.follow',
          version: '2',
          status: 'enabled',
        },
        event: { user_id: '1234', user_login: 'ada', followed_at: '2026-01-05T09:12:44.171Z' },
      },
    },
  ],
  discourse: [
    {
      type: 'post_created',
      headers: {
        'x-discourse-instance': 'https://forum.acme.example',
        'x-discourse-event-id': '118',
        'x-discourse-event-type': 'post',
        'x-discourse-event': 'post_created',
      },
      body: { post: { id: 4711, topic_id: 118, username: 'ada', raw: 'Where is order 118?' } },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
