import type { Sample } from './sample.ts'

export const commerceSamples = {
  shopify: [
    {
      type: 'orders/create',
      headers: {
        'x-shopify-topic': 'orders/create',
        'x-shopify-webhook-id': 'b54557e4-bdd9-4b37-8a5f-bf7d70bcd043',
        'x-shopify-shop-domain': 'acme.myshopify.com',
        'x-shopify-api-version': '2026-01',
      },
      body: {
        id: 820982911946154500,
        name: '#118',
        email: 'ada@acme.example',
        currency: 'EUR',
        total_price: '45.00',
        financial_status: 'paid',
        line_items: [{ id: 866550311766439000, title: 'Tea pot', quantity: 1, price: '45.00' }],
      },
    },
    {
      type: 'app/uninstalled',
      headers: {
        'x-shopify-topic': 'app/uninstalled',
        'x-shopify-webhook-id': '2f0c0a2e-6b6e-4a0d-8e9a-3f8d1b7f0f61',
        'x-shopify-shop-domain': 'acme.myshopify.com',
      },
      body: { id: 548380009, name: 'Acme', domain: 'acme.myshopify.com' },
    },
    {
      type: 'products/update',
      headers: {
        'x-shopify-topic': 'products/update',
        'x-shopify-webhook-id': '6b1f8d0e-2c4a-4e3b-9a7d-5f0c1b8e2d33',
        'x-shopify-shop-domain': 'acme.myshopify.com',
        'x-shopify-api-version': '2026-01',
      },
      body: {
        id: 788032119674292900,
        title: 'Tea pot',
        status: 'active',
        variants: [{ id: 642667041472713900, price: '45.00', inventory_quantity: 3 }],
      },
    },
  ],
  woocommerce: [
    {
      type: 'order.updated',
      headers: {
        'x-wc-webhook-topic': 'order.updated',
        'x-wc-webhook-resource': 'order',
        'x-wc-webhook-event': 'updated',
        'x-wc-webhook-id': '7',
        'x-wc-webhook-delivery-id': '0a1b2c3d4e5f60718293a4b5c6d7e8f9',
      },
      body: { id: 727, number: '727', status: 'processing', currency: 'EUR', total: '45.00' },
    },
    {
      type: 'product.updated',
      headers: {
        'x-wc-webhook-topic': 'product.updated',
        'x-wc-webhook-resource': 'product',
        'x-wc-webhook-event': 'updated',
        'x-wc-webhook-id': '8',
        'x-wc-webhook-delivery-id': '1b2c3d4e5f60718293a4b5c6d7e8f90a',
      },
      body: { id: 794, name: 'Tea pot', type: 'simple', status: 'publish', price: '45.00' },
    },
  ],
  paddle: [
    {
      type: 'transaction.completed',
      body: {
        event_id: 'evt_01hv8x2acma2gz7he8kg2s0hna',
        event_type: 'transaction.completed',
        occurred_at: '2026-01-05T09:12:44.407183Z',
        notification_id: 'ntf_01hv8x2af6wd3pfnn6v4xgqjt4',
        data: {
          id: 'txn_01hv8wptq8987qeep44cyrewp9',
          status: 'completed',
          currency_code: 'EUR',
          customer_id: 'ctm_01hv6y1jedq4p1n0yqn5ba3ky4',
        },
      },
    },
  ],
  lemonSqueezy: [
    {
      type: 'order_created',
      headers: { 'x-event-name': 'order_created' },
      body: {
        meta: { event_name: 'order_created', test_mode: true },
        data: {
          type: 'orders',
          id: '118',
          attributes: {
            store_id: 1,
            order_number: 118,
            currency: 'USD',
            total: 1199,
            status: 'paid',
          },
        },
      },
    },
  ],
  chargebee: [
    {
      type: 'subscription_created',
      body: {
        id: 'ev_HtZEwIUTDMKdE1KD',
        occurred_at: 1767604364,
        source: 'admin_console',
        object: 'event',
        api_version: 'v2',
        event_type: 'subscription_created',
        content: { subscription: { id: '1mkVvwgRQ3OZIyA', status: 'active' } },
      },
    },
  ],
  revenuecat: [
    {
      type: 'INITIAL_PURCHASE',
      body: {
        api_version: '1.0',
        event: {
          id: '12345678-1234-1234-1234-123456789012',
          type: 'INITIAL_PURCHASE',
          app_user_id: 'user-118',
          product_id: 'monthly',
          event_timestamp_ms: 1767604364412,
          store: 'APP_STORE',
          environment: 'SANDBOX',
        },
      },
    },
  ],
  lago: [
    {
      type: 'invoice.created',
      headers: { 'x-lago-unique-key': '3f6f2a10-0a0e-4c1b-9a37-2b8a5f1d0c44' },
      body: {
        webhook_type: 'invoice.created',
        object_type: 'invoice',
        invoice: {
          lago_id: '5eb02857-a71e-4ea2-bcf9-57d3a41bc6ba',
          number: 'ACM-118',
          total_amount_cents: 4500,
          currency: 'EUR',
        },
      },
    },
  ],
  easypost: [
    {
      type: 'tracker.updated',
      body: {
        id: 'evt_d0000c1a9c6c4614949af6931ea9fac8',
        object: 'Event',
        description: 'tracker.updated',
        mode: 'test',
        status: 'pending',
        result: {
          id: 'trk_e95df42bc0f1402b8bf9b7f4a9b0f9d1',
          object: 'Tracker',
          status: 'in_transit',
          carrier: 'USPS',
        },
      },
    },
  ],
  recurly: [
    {
      type: 'subscription.created',
      body: {
        id: 'rfmyv2b8tj4p',
        object_type: 'subscription',
        site_id: 'site-1',
        event_type: 'created',
        event_time: '2026-11-27T08:13:14Z',
        uuid: '5f1c3a9e2b7d4c60a1e8f0b2d3c4a5e6',
      },
    },
  ],
  // The type is in what is signed, of which nothing is read before it is verified.
  appStore: [{ type: 'event', body: { signedPayload: 'eyJhbGciOiJFUzI1NiJ9.e30.AAAA' } }],
} as const satisfies Record<string, readonly Sample[]>
