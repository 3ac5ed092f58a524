import type { Sample } from './sample.ts'

export const checkoutsSamples = {
  razorpay: [
    {
      type: 'payment.captured',
      headers: { 'x-razorpay-event-id': 'QmZ1W2f0c8Y7nT' },
      body: {
        entity: 'event',
        account_id: 'acc_BFQ7uQEaa7j2z7',
        event: 'payment.captured',
        contains: ['payment'],
        payload: {
          payment: {
            entity: { id: 'pay_DESlfW9H8K9uqM', amount: 4500, currency: 'INR', status: 'captured' },
          },
        },
        created_at: 1767604364,
      },
    },
  ],
  cashfree: [
    {
      type: 'PAYMENT_SUCCESS_WEBHOOK',
      body: {
        type: 'PAYMENT_SUCCESS_WEBHOOK',
        event_time: '2026-01-05T14:42:44+05:30',
        data: {
          order: { order_id: 'order-118', order_amount: 45, order_currency: 'INR' },
          payment: { cf_payment_id: '975672265', payment_status: 'SUCCESS', payment_amount: 45 },
        },
      },
    },
  ],
  paystack: [
    {
      type: 'charge.success',
      body: {
        event: 'charge.success',
        data: {
          id: 302961,
          status: 'success',
          reference: 'qTPrJoy9Bx',
          amount: 10000,
          currency: 'NGN',
          paid_at: '2026-01-05T09:12:44.000Z',
          customer: { id: 68324, email: 'ada@acme.example' },
        },
      },
    },
  ],
  mercadoPago: [
    {
      type: 'payment.updated',
      body: {
        id: 112233445566,
        live_mode: true,
        type: 'payment',
        action: 'payment.updated',
        date_created: '2026-01-05T06:12:44.000-03:00',
        user_id: 44444,
        api_version: 'v1',
        data: { id: '123456789' },
      },
    },
  ],
  coinbaseCommerce: [
    {
      type: 'charge:confirmed',
      body: {
        id: 'd2b31c8e-1b14-4e5f-a0e1-0d3e9f2b7c55',
        event: {
          id: '24934862-d980-46cb-9402-43c81b0cdba6',
          resource: 'event',
          type: 'charge:confirmed',
          created_at: '2026-01-05T09:12:44Z',
          data: { code: '66BEOV2A', name: 'Order 118', pricing_type: 'fixed_price' },
        },
      },
    },
  ],
  mollie: [
    {
      type: 'payment-link.paid',
      body: {
        resource: 'event',
        id: 'event_GvJ8WHrp5isUdRub9CJyH',
        type: 'payment-link.paid',
        entityId: 'pl_qng5gbbv8NAZ5gpM5ZYgx',
        createdAt: '2026-01-05T09:12:44.0Z',
      },
    },
  ],
  checkoutCom: [
    {
      type: 'payment_captured',
      body: {
        id: 'evt_az5sblvku4ge3dwpztvyizgcau',
        type: 'payment_captured',
        version: '2.0.0',
        created_on: '2026-01-05T09:12:44Z',
        data: { id: 'pay_mbabizu24mvu3mela5njyhpit4', amount: 4500, currency: 'EUR' },
      },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
