import type { Sample } from './sample.ts'

export const modelsSamples = {
  openai: [
    {
      type: 'response.completed',
      headers: { 'webhook-id': 'wh_685342e6c53c8190a1be43f081506c52' },
      body: {
        id: 'evt_685343a1381c819085d44c354e1b330e',
        object: 'event',
        created_at: 1767604364,
        type: 'response.completed',
        data: { id: 'resp_abc118' },
      },
    },
  ],
  anthropic: [
    {
      type: 'session.idled',
      headers: { 'webhook-id': 'wevt_011CZkZY3p2r5s7t9v1x3z5b' },
      body: {
        type: 'event',
        id: 'wevt_011CZkZY3p2r5s7t9v1x3z5b',
        created_at: '2026-01-05T09:12:44Z',
        data: {
          type: 'session.idled',
          id: 'sesn_011CZkZAtmR3yMPDzynEDxu7',
          organization_id: 'org_011CZkZZAe0rPq3v8Kd2mWxY',
          workspace_id: 'wrkspc_011CZkZaBF1sQr4w9Le3nXyZ',
        },
      },
    },
  ],
  replicate: [
    {
      type: 'prediction.succeeded',
      headers: { 'webhook-id': 'msg_2kKxCsYHqWzT8vPmR4nL6bJdF9G' },
      body: {
        id: 'ufawqhfynnddngldkgtslldrkq',
        version: '5c7d5dc6dd8bf75c1acaa8565735e7986bc5b66206b55cca93cb72c9bf15ccaa',
        status: 'succeeded',
        input: { text: 'Ada' },
        output: 'hello Ada',
        created_at: '2026-01-05T09:12:40.412Z',
        completed_at: '2026-01-05T09:12:44.412Z',
      },
    },
    {
      type: 'prediction.failed',
      headers: { 'webhook-id': 'msg_2kKxCsYHqWzT8vPmR4nL6bJdF9H' },
      body: {
        id: 'vgbxrigzoooehmemluhtmmeslr',
        version: '5c7d5dc6dd8bf75c1acaa8565735e7986bc5b66206b55cca93cb72c9bf15ccaa',
        status: 'failed',
        input: { text: 'Ada' },
        error: 'Out of memory',
        created_at: '2026-01-05T09:13:20.412Z',
        completed_at: '2026-01-05T09:13:21.412Z',
      },
    },
  ],
  elevenlabs: [
    {
      type: 'post_call_transcription',
      body: {
        type: 'post_call_transcription',
        event_timestamp: 1767604364,
        data: {
          agent_id: 'J3Pbu5gP6NNKBscdCdwB',
          conversation_id: 'conv_118abc',
          status: 'done',
          transcript: [{ role: 'user', message: 'Where is my order?', time_in_call_secs: 2 }],
        },
      },
    },
  ],
  retell: [
    {
      type: 'call_ended',
      body: {
        event: 'call_ended',
        call: {
          call_id: 'Jabr9TXYYJHfvl6Syypi88rdAHYHmcq6',
          call_type: 'phone_call',
          agent_id: 'oBeDLoLOeuAbiuaMFXRtDOLriTJ5tSxD',
          call_status: 'ended',
          start_timestamp: 1767604300000,
          end_timestamp: 1767604364000,
          disconnection_reason: 'user_hangup',
        },
      },
    },
  ],
  huggingFace: [
    {
      type: 'repo.update',
      body: {
        event: { action: 'update', scope: 'repo' },
        repo: {
          type: 'model',
          name: 'acme/teapot',
          id: '6366c000a2abcdf2fd69a080',
          private: false,
        },
        webhook: { id: '6390e855e30d9209411de93b', version: 3 },
      },
    },
  ],
  fal: [
    {
      type: 'OK',
      headers: {
        'x-fal-webhook-request-id': '123e4567-e89b-12d3-a456-426614174000',
        'x-fal-webhook-user-id': 'user-1',
      },
      body: {
        request_id: '123e4567-e89b-12d3-a456-426614174000',
        gateway_request_id: '123e4567-e89b-12d3-a456-426614174000',
        status: 'OK',
        payload: { images: [{ url: 'https://example.com/1.png' }], seed: 196619 },
      },
    },
  ],
  vapi: [
    {
      type: 'status-update',
      body: { message: { type: 'status-update', status: 'ended', call: { id: 'call_1' } } },
    },
  ],
  assemblyai: [
    {
      type: 'completed',
      body: { transcript_id: '5552493-16d8-42d8-8feb-c2a16b56f6e8', status: 'completed' },
    },
  ],
  deepgram: [
    {
      type: 'callback',
      body: {
        metadata: {
          request_id: 'b9f2ad36-4b5f-4a0e-9d8e-1c8a5b7f2e10',
          duration: 25.9,
          channels: 1,
        },
        results: { channels: [{ alternatives: [{ transcript: 'Yep.', confidence: 0.98 }] }] },
      },
    },
  ],
} as const satisfies Record<string, readonly Sample[]>
