import type { Sample } from './sample.ts'

/** What Cloudinary sends is the same under both of its algorithms. */
const cloudinaryUpload = [
  {
    type: 'upload',
    body: {
      notification_type: 'upload',
      timestamp: '2026-01-05T09:12:44+00:00',
      request_id: '4e9ab3f1c2d84b6f9a7e5d3c1b0f8e22',
      asset_id: 'bf98540caf22ed65bf85a0116f5a79ac',
      public_id: 'shop/tea-pot',
      version: 1767604364,
      format: 'jpg',
      secure_url: 'https://res.cloudinary.com/acme/image/upload/v1767604364/shop/tea-pot.jpg',
    },
  },
] as const satisfies readonly Sample[]

export const contentSamples = {
  cloudinary: cloudinaryUpload,
  cloudinarySha256: cloudinaryUpload,
  mux: [
    {
      type: 'video.asset.ready',
      body: {
        type: 'video.asset.ready',
        id: '3a56ac3d-33da-4366-855b-f592d898409d',
        created_at: '2026-01-05T09:12:44.412Z',
        object: { type: 'asset', id: '0201p02fGKPE7MrbC269XRD7LpcHhrmbu0002' },
        environment: { name: 'Production', id: '5j855s' },
        data: { status: 'ready', duration: 23.857167 },
      },
    },
  ],
  cloudflareStream: [
    {
      type: 'ready',
      body: {
        uid: '6b9e68b07dfee8cc2d116e4c51d6a957',
        readyToStream: true,
        status: { state: 'ready', pctComplete: '100.000000' },
        created: '2026-01-05T09:10:12.512033Z',
        modified: '2026-01-05T09:12:44.412299Z',
        duration: 5.5,
      },
    },
  ],
  livekit: [
    {
      type: 'room_started',
      contentType: 'application/webhook+json',
      body: {
        event: 'room_started',
        id: 'EV_eugWmGhovZmm',
        createdAt: '1767604364',
        room: { sid: 'RM_TkVjUvAqgzKz', name: 'weekly', emptyTimeout: 300 },
      },
    },
    {
      type: 'participant_joined',
      contentType: 'application/webhook+json',
      body: {
        event: 'participant_joined',
        id: 'EV_fvhXnHiwaGnn',
        createdAt: '1767604401',
        room: { sid: 'RM_TkVjUvAqgzKz', name: 'weekly' },
        participant: { sid: 'PA_M4uKjxAqgzKz', identity: 'ada', state: 'ACTIVE' },
      },
    },
  ],
  stream: [
    {
      type: 'message.new',
      headers: { 'x-webhook-id': '7a4c0d1e-5b2f-4e8a-9c3d-6f1b0a2d8e77', 'x-webhook-attempt': '1' },
      body: {
        type: 'message.new',
        cid: 'messaging:order-118',
        created_at: '2026-01-05T09:12:44.412Z',
        message: { id: 'fff0d7c0-60bd-4835-833b-3843007817bf', text: 'Where is my order?' },
        user: { id: 'ada' },
      },
    },
  ],
  sanity: [
    {
      type: 'update',
      headers: {
        'sanity-operation': 'update',
        'sanity-dataset': 'production',
        'idempotency-key': '4d1b7f0e-8a3c-4c55-9e2f-0b6a5d7c3e11',
      },
      body: { _id: 'product-118', _type: 'product', _rev: 'Gk2PlZyXoM5nB8rT', title: 'Tea pot' },
    },
  ],
  contentful: [
    {
      type: 'ContentManagement.Entry.publish',
      headers: {
        'x-contentful-topic': 'ContentManagement.Entry.publish',
        'x-contentful-webhook-name': 'Shop',
        'x-contentful-idempotency-key': 'd4c3b2a1f0e9d8c7b6a5948372615049',
      },
      body: {
        sys: {
          type: 'Entry',
          id: '5KsDBWseXY6QegucYAoacS',
          space: { sys: { type: 'Link', linkType: 'Space', id: 'cfexampleapi' } },
          revision: 4,
        },
        fields: { title: { 'en-US': 'Tea pot' } },
      },
    },
    {
      type: 'ContentManagement.Entry.unpublish',
      headers: {
        'x-contentful-topic': 'ContentManagement.Entry.unpublish',
        'x-contentful-webhook-name': 'Shop',
        'x-contentful-idempotency-key': 'e5d4c3b2a1f0e9d8c7b6a59483726150',
      },
      body: {
        sys: {
          type: 'DeletedEntry',
          id: '5KsDBWseXY6QegucYAoacS',
          space: { sys: { type: 'Link', linkType: 'Space', id: 'cfexampleapi' } },
          revision: 4,
        },
      },
    },
  ],
  ghost: [
    {
      type: 'post.published',
      body: {
        event: 'post.published',
        post: {
          current: { id: '5ddc9141c35e7700383b2937', title: 'Tea', status: 'published' },
          previous: { status: 'draft' },
        },
      },
    },
  ],
  webflow: [
    {
      type: 'form_submission',
      body: {
        triggerType: 'form_submission',
        payload: {
          name: 'Contact',
          siteId: '65427cf400e02b306eaa049c',
          data: { Name: 'Ada', Email: 'ada@acme.example' },
          submittedAt: '2026-01-05T09:12:44.412Z',
          id: '6321ca84df3949bfc6752327',
        },
      },
    },
  ],
  daily: [
    {
      type: 'recording.ready-to-download',
      body: {
        version: '1.1.0',
        type: 'recording.ready-to-download',
        id: 'rec-rtd-c3df927c-f738-4471-a2b7-066fa7e95a6b-1692124192',
        payload: { recording_id: '08fa0b24-9220-44c5-846c-3f116cf8e738', room_name: 'room' },
        event_ts: 1692124192,
      },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
