import type { Sample } from './sample.ts'

export const paymentsSamples = {
  stripe: [
    {
      type: 'invoice.paid',
      body: {
        id: 'evt_1SmQ3xLkdIwHu7ixzB5yYl8r',
        object: 'event',
        api_version: '2026-01-28',
        created: 1767604364,
        livemode: false,
        pending_webhooks: 1,
        type: 'invoice.paid',
        data: {
          object: {
            id: 'in_1SmQ3uLkdIwHu7ixKxPq2c9T',
            object: 'invoice',
            amount_paid: 2900,
            currency: 'eur',
            customer: 'cus_TqJ0h2m8cQpY3a',
            status: 'paid',
          },
        },
      },
    },
    {
      type: 'payment_intent.succeeded',
      body: {
        id: 'evt_3SmQ4aLkdIwHu7ix1TnR5wQe',
        object: 'event',
        created: 1767604401,
        livemode: false,
        type: 'payment_intent.succeeded',
        data: {
          object: {
            id: 'pi_3SmQ4aLkdIwHu7ix1vM0Jd2K',
            object: 'payment_intent',
            amount: 4500,
            currency: 'eur',
            status: 'succeeded',
          },
        },
      },
    },
    {
      type: 'customer.subscription.deleted',
      body: {
        id: 'evt_1SmQ5cLkdIwHu7ixWb0Hs3Zk',
        object: 'event',
        created: 1767604466,
        livemode: false,
        type: 'customer.subscription.deleted',
        data: {
          object: {
            id: 'sub_1SkTg2LkdIwHu7ixF7nY4bPo',
            object: 'subscription',
            customer: 'cus_TqJ0h2m8cQpY3a',
            status: 'canceled',
          },
        },
      },
    },
  ],
  paypal: [
    {
      type: 'PAYMENT.CAPTURE.COMPLETED',
      headers: {
        'paypal-transmission-id': '69cd13f0-d67a-11e5-baa3-778b53f4ae55',
        'paypal-transmission-time': '2026-01-05T09:12:44Z',
        'paypal-auth-algo': 'SHA256withRSA',
      },
      body: {
        id: 'WH-58D329510W468432D-8HN650336L201105X',
        event_version: '1.0',
        create_time: '2026-01-05T09:12:40.000Z',
        resource_type: 'capture',
        event_type: 'PAYMENT.CAPTURE.COMPLETED',
        summary: 'Payment completed for EUR 45.0 EUR',
        resource: {
          id: '42311647XV020574X',
          amount: { currency_code: 'EUR', value: '45.00' },
          status: 'COMPLETED',
        },
      },
    },
  ],
  square: [
    {
      type: 'payment.updated',
      body: {
        merchant_id: '6SSW7HV8K2ST5',
        type: 'payment.updated',
        event_id: '13b867cf-db3d-4b1c-90b6-2f32a9d78124',
        created_at: '2026-01-05T09:12:44.412Z',
        data: {
          type: 'payment',
          id: 'KkAkhdMsgzn59SM8A89WgKwekxLZY',
          object: {
            payment: { status: 'COMPLETED', amount_money: { amount: 100, currency: 'USD' } },
          },
        },
      },
    },
  ],
  adyen: [
    {
      type: 'AUTHORISATION',
      body: {
        live: 'false',
        notificationItems: [
          {
            NotificationRequestItem: {
              additionalData: {},
              amount: { currency: 'EUR', value: 4500 },
              eventCode: 'AUTHORISATION',
              eventDate: '2026-01-05T10:12:44+01:00',
              merchantAccountCode: 'AcmeShop',
              merchantReference: 'order-118',
              pspReference: 'QFQTPCQ8HXSKGK82',
              success: 'true',
            },
          },
        ],
      },
    },
  ],
  adyenPlatforms: [
    {
      type: 'balancePlatform.accountHolder.updated',
      body: {
        type: 'balancePlatform.accountHolder.updated',
        environment: 'test',
        timestamp: '2026-01-05T10:12:44+01:00',
        data: {
          balancePlatform: 'AcmePlatform',
          accountHolder: { id: 'AH3227C223222B5', status: 'active' },
        },
      },
    },
  ],
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
