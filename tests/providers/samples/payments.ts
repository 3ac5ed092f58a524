import type { Sample } from './sample.ts'

export const paymentsSamples = {
  stripe: [
    {
      // A thin event: it names the object, which is fetched.
      type: 'v1.billing.meter.error_report_triggered',
      body: {
        id: 'evt_test_65R9Ijk8dKEYZcXeRWn16R9A7j1FSQ3w3TGDPLLGSM4CW0',
        object: 'v2.core.event',
        type: 'v1.billing.meter.error_report_triggered',
        created: '2026-11-27T08:13:14.000Z',
        livemode: false,
        related_object: {
          id: 'mtr_test_61R9IeP0SgKbYROOx41PEAQhH0qO23oW',
          type: 'billing.meter',
          url: '/v1/billing/meters/mtr_test_61R9IeP0SgKbYROOx41PEAQhH0qO23oW',
        },
      },
    },
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
  braintree: [
    {
      type: 'subscription_canceled',
      body: `bt_payload=${encodeURIComponent(
        Buffer.from(
          '<notification><timestamp type="datetime">2026-11-27T08:13:14Z</timestamp>' +
            '<kind>subscription_canceled</kind><subject><subscription><id>sub_1</id>' +
            '<number-of-billing-cycles type="integer">3</number-of-billing-cycles>' +
            '<add-ons type="array"/></subscription></subject></notification>',
        ).toString('base64'),
      )}`,
      contentType: 'application/x-www-form-urlencoded',
    },
  ],
  klarna: [
    {
      type: 'payment.request.state-change.authorized',
      body: {
        metadata: {
          event_type: 'payment.request.state-change.authorized',
          event_id: 'd9f9b1a0-5b1a-4b0e-9b0a-9e9b1a0d5b1a',
          event_version: 'v2',
          occurred_at: '2026-11-27T08:13:14Z',
          webhook_id: 'krn:partner:global:notification:webhook:120e5b7e',
        },
        payload: { payment_request_id: 'krn:payment:eu1:request:552603c0', state: 'AUTHORIZED' },
      },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
