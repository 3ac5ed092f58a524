import type { Sample } from './sample.ts'

export const workSamples = {
  linear: [
    {
      type: 'Issue.create',
      headers: {
        'linear-delivery': '234d1a4e-b617-4388-90fe-adc3633d6b72',
        'linear-event': 'Issue',
      },
      body: {
        action: 'create',
        type: 'Issue',
        createdAt: '2026-01-05T09:12:44.412Z',
        webhookTimestamp: 1767604364412,
        webhookId: '000042e3-d123-4980-b49f-8e140eef9329',
        data: { id: '539068e2-ae88-4d09-bd75-22eb4a59612f', title: 'Round prices up', number: 118 },
        url: 'https://linear.app/acme/issue/SHOP-118',
      },
    },
    {
      type: 'Comment.create',
      headers: {
        'linear-delivery': '345e2b5f-c728-5499-a1ff-bed4744e7c83',
        'linear-event': 'Comment',
      },
      body: {
        action: 'create',
        type: 'Comment',
        createdAt: '2026-01-05T09:13:21.412Z',
        webhookTimestamp: 1767604401412,
        webhookId: '000042e3-d123-4980-b49f-8e140eef9329',
        data: { id: '2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9', body: 'Done.' },
      },
    },
  ],
  jira: [
    {
      type: 'jira:issue_updated',
      headers: { 'x-atlassian-webhook-identifier': '9a7d1f0e-2b6a-4c0d-9b3a-8e1c7f5d0a33' },
      body: {
        timestamp: 1767604364412,
        webhookEvent: 'jira:issue_updated',
        issue_event_type_name: 'issue_generic',
        user: { accountId: '99:27935d01-92a7-4687-8272-a9b8d3b2ae2e', displayName: 'Ada' },
        issue: { id: '99291', key: 'SHOP-118', fields: { summary: 'Round prices up' } },
      },
    },
    {
      type: 'comment_created',
      headers: { 'x-atlassian-webhook-identifier': '0b8e2f1f-3c7b-4d1e-8c4b-9f2d8a6e1b44' },
      body: {
        timestamp: 1767604401412,
        webhookEvent: 'comment_created',
        comment: { id: '10000', body: 'Done.', author: { displayName: 'Ada' } },
        issue: { id: '99291', key: 'SHOP-118' },
      },
    },
  ],
  asana: [
    {
      type: 'task.changed',
      body: {
        events: [
          {
            action: 'changed',
            created_at: '2026-01-05T09:12:44.412Z',
            resource: { gid: '1337', resource_type: 'task', resource_subtype: 'default_task' },
            user: { gid: '1123', resource_type: 'user' },
            change: { field: 'assignee', action: 'changed' },
          },
        ],
      },
    },
  ],
  trello: [
    {
      type: 'updateCard',
      body: {
        action: {
          id: '51f9424bcd6e040f3c002412',
          type: 'updateCard',
          date: '2026-01-05T09:12:44.412Z',
          data: { card: { id: '4bbcb6bdb3b5bfeabf3d47c4', name: 'Round prices up' } },
          memberCreator: { username: 'ada' },
        },
        model: { id: '4d5ea62fd76aa1136000000c', name: 'Shop' },
        webhook: {
          id: '6a1f0c2b7d3e4a5b6c7d8e9f',
          callbackURL: 'https://example.com/hooks/trello',
        },
      },
    },
  ],
  clickup: [
    {
      type: 'taskUpdated',
      body: {
        event: 'taskUpdated',
        webhook_id: '7fa3ec74-69a8-4530-a251-8a13730bd204',
        task_id: '1vj37mc',
        history_items: [
          { id: '2800763136717140857', type: 1, date: '1767604364412', field: 'status' },
        ],
      },
    },
  ],
  notion: [
    {
      type: 'page.content_updated',
      body: {
        id: '367cba44-b6f3-4c92-81e7-6a2e9659efd4',
        timestamp: '2026-01-05T09:12:44.412Z',
        workspace_id: '13950b26-c203-4f3b-b97d-93ec06319565',
        subscription_id: '29d75c0d-5546-4414-8459-7b7a92f1fc4b',
        type: 'page.content_updated',
        attempt_number: 1,
        entity: { id: '153104cd-477e-809d-8dc4-ff2d96ae3090', type: 'page' },
      },
    },
  ],
  airtable: [
    {
      type: 'ping',
      body: {
        base: { id: 'app00000000000000' },
        webhook: { id: 'ach00000000000000' },
        timestamp: '2026-01-05T09:12:44.412Z',
      },
    },
  ],
  calCom: [
    {
      type: 'BOOKING_CREATED',
      body: {
        triggerEvent: 'BOOKING_CREATED',
        createdAt: '2026-01-05T09:12:44.412Z',
        payload: {
          uid: 'bFJeNb2uX8ANpT3JL5EfXw',
          title: 'A call with Ada',
          startTime: '2026-01-07T10:00:00Z',
          endTime: '2026-01-07T10:30:00Z',
          status: 'ACCEPTED',
        },
      },
    },
  ],
  calendly: [
    {
      type: 'invitee.created',
      body: {
        event: 'invitee.created',
        created_at: '2026-01-05T09:12:44.000000Z',
        created_by: 'https://api.calendly.com/users/AAAAAAAAAAAAAAAA',
        payload: {
          uri: 'https://api.calendly.com/scheduled_events/AAAA/invitees/BBBB',
          name: 'Ada',
          email: 'ada@acme.example',
          status: 'active',
        },
      },
    },
  ],
  todoist: [
    {
      type: 'item:added',
      headers: { 'x-todoist-delivery-id': '2f0d5b1a-7c3e-4a9d-8b6f-1e0c2d4a5b77' },
      body: {
        event_name: 'item:added',
        user_id: '2671355',
        version: '10',
        event_data: { id: '6XR4GqQQCW6Gv9h4', content: 'Round prices up', checked: false },
      },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
