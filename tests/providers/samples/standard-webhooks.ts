import type { Sample } from './sample.ts'

export const standardWebhooksSamples = {
  standardWebhooks: [
    {
      type: 'user.created',
      headers: { 'webhook-id': 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W' },
      body: {
        type: 'user.created',
        timestamp: '2026-01-05T09:12:44.412Z',
        data: { id: '1f81eb52-5198-4599-803e-771906343485', email: 'ada@acme.example' },
      },
    },
  ],
  svix: [
    {
      type: 'invoice.paid',
      headers: { 'svix-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek' },
      body: { type: 'invoice.paid', data: { id: 'inv_118', total: 4500 } },
    },
  ],
  clerk: [
    {
      type: 'user.created',
      headers: { 'svix-id': 'msg_2mLkT9vQzXbR4nWpY7sJdF3HcGe' },
      body: {
        type: 'user.created',
        object: 'event',
        timestamp: 1767604364412,
        instance_id: 'ins_2g7np7Hrk0SN6kj5EDMLDaKNL0S',
        data: {
          id: 'user_2g7np7Hrk0SN6kj5EDMLDaKNL0T',
          first_name: 'Ada',
          email_addresses: [{ email_address: 'ada@acme.example' }],
        },
      },
    },
  ],
  resend: [
    {
      type: 'email.delivered',
      headers: { 'svix-id': 'msg_2nMlU0wRaYcS5oXqZ8tKeG4IdHf' },
      body: {
        type: 'email.delivered',
        created_at: '2026-01-05T09:12:44.412Z',
        data: {
          email_id: '56761188-7520-42d8-8898-ff6fc54ce618',
          from: 'Acme <hello@acme.example>',
          to: ['ada@acme.example'],
          subject: 'Order 118',
        },
      },
    },
  ],
  render: [
    {
      type: 'deploy_ended',
      headers: { 'webhook-id': 'evt-cph1rs3idesc73a2b2mg' },
      body: {
        type: 'deploy_ended',
        timestamp: '2026-01-05T09:12:44.412Z',
        data: {
          id: 'evt-cph1rs3idesc73a2b2mg',
          serviceId: 'srv-cukouhrtq21c73e9scng',
          serviceName: 'shop',
          status: 'succeeded',
        },
      },
    },
  ],
  lithic: [
    {
      type: 'card_transaction.updated',
      headers: { 'webhook-id': 'msg_1srOrx2ZWZBpBUvZwXKQmoEYga1' },
      body: {
        event_type: 'card_transaction.updated',
        token: '764fa5a3-2371-40f0-8cbb-9a2e1230d955',
        amount: 4500,
        status: 'SETTLED',
      },
    },
  ],
  dodoPayments: [
    {
      type: 'payment.succeeded',
      headers: { 'webhook-id': 'msg_2oNmV1xSbZdT6pYrA9uLfH5JeIg' },
      body: {
        business_id: 'bus_H4ekzPSlcg',
        type: 'payment.succeeded',
        timestamp: '2026-01-05T09:12:44.412Z',
        data: {
          payload_type: 'Payment',
          payment_id: 'pay_2IjeQm4hqU6RA4Z4kwDee',
          total_amount: 4500,
        },
      },
    },
  ],
  increase: [
    {
      type: 'transaction.created',
      headers: { 'webhook-id': 'event_001dzz0r20rzr4zrhrr1364hy80' },
      body: {
        id: 'event_001dzz0r20rzr4zrhrr1364hy80',
        type: 'event',
        category: 'transaction.created',
        associated_object_id: 'transaction_uyrp7fld2ium70oa7oi',
        associated_object_type: 'transaction',
        created_at: '2026-01-05T09:12:44+00:00',
      },
    },
  ],
  polar: [
    {
      type: 'order.paid',
      headers: { 'webhook-id': '6d1c5a0e-2b8f-4f3d-9a7e-0c4b1d5e8f22' },
      body: {
        type: 'order.paid',
        timestamp: '2026-01-05T09:12:44.412Z',
        data: {
          id: '57107b74-8400-4d80-a2fc-54c2b4239cb3',
          status: 'paid',
          total_amount: 4500,
          currency: 'usd',
        },
      },
    },
  ],
  bigcommerce: [
    {
      type: 'store/order/updated',
      headers: { 'webhook-id': 'c0a80121-7ac0-4e5b-8f1d-3b2a1c0d9e88' },
      body: {
        scope: 'store/order/updated',
        store_id: '1025646',
        data: { type: 'order', id: 250 },
        hash: 'dd70c0976e06b67aaf671e73f49dcb79230ebf9d',
        created_at: 1767604364,
        producer: 'stores/abcde',
      },
    },
  ],
  finch: [
    {
      type: 'employment.updated',
      headers: { 'finch-event-id': 'msg_2Lh9KRb0pzN4LePd3XiA4v12Axj' },
      body: {
        company_id: '720be419-0293-4d32-a707-32179b0827ab',
        connection_id: 'f4a9b3c1-0d2e-4f5a-8b6c-7d8e9f0a1b22',
        event_type: 'employment.updated',
        data: { individual_id: 'bf0e1d2c-3b4a-4958-8776-655443322110' },
      },
    },
  ],
  brex: [
    {
      type: 'TRANSFER_PROCESSED',
      headers: { 'webhook-id': 'msg_1' },
      body: { event_type: 'TRANSFER_PROCESSED', transfer_id: 'dptx_1', company_id: 'cuacc_1' },
    },
  ],
  stytch: [
    {
      type: 'DIRECT.user.CREATE',
      headers: { 'svix-id': 'msg_1' },
      body: {
        project_id: 'project-live-1',
        event_id: 'event-live-1',
        action: 'CREATE',
        object_type: 'user',
        source: 'DIRECT',
        id: 'user-live-1',
        timestamp: '2026-11-27T08:13:14Z',
      },
    },
  ],
  incidentIo: [
    {
      type: 'public_incident.incident_created_v2',
      headers: { 'webhook-id': 'msg_1' },
      body: {
        event_type: 'public_incident.incident_created_v2',
        'public_incident.incident_created_v2': { id: '01FDAG4SAP5TYPT98WGR2N7W91', name: 'Down' },
      },
    },
  ],
  recallAi: [
    {
      type: 'bot.done',
      headers: { 'webhook-id': 'msg_1' },
      body: { event: 'bot.done', data: { data: { code: 'done' }, bot: { id: 'bot-1' } } },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
