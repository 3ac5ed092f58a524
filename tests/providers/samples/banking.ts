import type { Sample } from './sample.ts'

export const bankingSamples = {
  plaid: [
    {
      type: 'TRANSACTIONS.SYNC_UPDATES_AVAILABLE',
      body: {
        webhook_type: 'TRANSACTIONS',
        webhook_code: 'SYNC_UPDATES_AVAILABLE',
        item_id: 'wz666MBjYWTp2PDzzggYhM6oWWmBb',
        initial_update_complete: true,
        historical_update_complete: false,
        environment: 'production',
      },
    },
    {
      type: 'ITEM.ERROR',
      body: {
        webhook_type: 'ITEM',
        webhook_code: 'ERROR',
        item_id: 'wz666MBjYWTp2PDzzggYhM6oWWmBb',
        error: { error_type: 'ITEM_ERROR', error_code: 'ITEM_LOGIN_REQUIRED' },
        environment: 'production',
      },
    },
  ],
  gocardless: [
    {
      type: 'payments.confirmed',
      body: {
        events: [
          {
            id: 'EV00BD05S5VM2T',
            created_at: '2026-01-05T09:12:44.000Z',
            resource_type: 'payments',
            action: 'confirmed',
            links: { payment: 'PM00BD05S5VM2T' },
            details: { origin: 'gocardless', cause: 'payment_confirmed' },
          },
        ],
        meta: { webhook_id: 'WB00BD05S5VM2T' },
      },
    },
  ],
  wise: [
    {
      type: 'transfers_state-change',
      headers: { 'x-delivery-id': '2b5f2a0e-5a1b-4d1e-9b4b-6a1a5b0f7c33' },
      body: {
        data: {
          resource: { type: 'transfer', id: 111, profile_id: 222, account_id: 333 },
          current_state: 'processing',
          previous_state: 'incoming_payment_waiting',
          occurred_at: '2026-01-05T09:12:44Z',
        },
        subscription_id: '01234567-89ab-cdef-0123-456789abcdef',
        event_type: 'transfers#state-change',
        schema_version: '2.0.0',
        sent_at: '2026-01-05T09:12:45Z',
      },
    },
  ],
  modernTreasury: [
    {
      type: 'payment_order.completed',
      headers: { 'x-topic': 'payment_order' },
      body: {
        event: 'completed',
        data: {
          id: '9d6b1a53-3a8f-4b1d-8f6e-0a7b6a2d5c11',
          object: 'payment_order',
          amount: 4500,
          currency: 'USD',
          status: 'completed',
        },
      },
    },
  ],
  quickbooks: [
    {
      type: 'qbo.invoice.created.v1',
      body: [
        {
          specversion: '1.0',
          id: '88cd52aa-33b6-4351-9aa4-47572edbd068',
          source: 'intuit.dsnBgbseACLLRZNxo2dfc4evmEJdxde58xeeYcZliOU=',
          type: 'qbo.invoice.created.v1',
          datacontenttype: 'application/json',
          time: '2026-01-05T09:12:44.179Z',
          intuitentityid: '95',
          intuitaccountid: '310687',
          data: {},
        },
      ],
    },
    {
      type: 'notification',
      body: {
        eventNotifications: [
          {
            realmId: '1185883450',
            dataChangeEvent: {
              entities: [
                {
                  name: 'Customer',
                  id: '1',
                  operation: 'Create',
                  lastUpdated: '2026-01-05T09:12:44-0800',
                },
              ],
            },
          },
        ],
      },
    },
  ],
  xero: [
    {
      type: 'INVOICE.UPDATE',
      body: {
        events: [
          {
            resourceUrl:
              'https://api.xero.com/api.xro/2.0/Invoices/44aa0707-f718-4f1c-8d53-f2da9ca59533',
            resourceId: '44aa0707-f718-4f1c-8d53-f2da9ca59533',
            eventDateUtc: '2026-01-05T09:12:44.412',
            eventType: 'UPDATE',
            eventCategory: 'INVOICE',
            tenantId: '31f1be4c-2ed2-46c8-9ae3-2fdc9ef9e3e3',
            tenantType: 'ORGANISATION',
          },
        ],
        firstEventSequence: 1,
        lastEventSequence: 1,
        entropy: 'S0m3r4Nd0mt3xt',
      },
    },
  ],
  mercury: [
    {
      type: 'transaction.update',
      body: {
        id: 'bfa85eaa-afab-11f0-8fea-17d650f2306e',
        resourceType: 'transaction',
        resourceId: '1d3042b6-af63-11f0-89d2-3503f2fcfef7',
        operationType: 'update',
        resourceVersion: 2,
        occurredAt: '2026-11-27T08:13:14.000000Z',
        changedPaths: ['status'],
        mergePatch: { status: 'sent' },
        previousValues: { status: 'pending' },
      },
    },
  ],
  fireblocks: [
    {
      type: 'transaction.status.updated',
      body: {
        id: '8f2c7c1e-5d7e-4a3b-9a53-7d4a1f6b2c10',
        resourceId: 'tx-1',
        workspaceId: 'w-1',
        eventType: 'transaction.status.updated',
        createdAt: 1800000000000,
        data: { id: 'tx-1', status: 'COMPLETED' },
      },
    },
  ],
  turnkey: [
    {
      type: 'activity.created',
      headers: { 'x-turnkey-event-id': 'evt_123' },
      body: { type: 'activity.created', data: { id: 'act_123' } },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
