/** The HTTP client of deliveries, which may go to loopback. */
import type { LookupAddress } from 'node:dns'
import type { Test } from 'tap'
import { createAddressFilter } from '../../../packages/webhooks/src/outbound/http/blocked-addresses.ts'
import type { PostResult } from '../../../packages/webhooks/src/outbound/http/post-result.ts'
import { createPost, type PostSettings } from '../../../packages/webhooks/src/outbound/http/post.ts'

const LOOPBACK: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }]

const never = new AbortController().signal

/**
 * Every name is at 127.0.0.1 unless told otherwise. The time limit is one that no test waits for: a
 * failure other than `timeout` came in time.
 */
export function openedPost(t: Test, settings: Partial<PostSettings> = {}) {
  const post = createPost({
    timeoutMs: 60_000,
    userAgent: 'test',
    isBlocked: createAddressFilter(['127.0.0.0/8']),
    lookup: (_hostname, _options, callback) => callback(null, LOOPBACK),
    ...settings,
  })
  t.teardown(() => post.close())
  return (
    url: string,
    body: Buffer = Buffer.from('{}'),
    signal: AbortSignal = never,
  ): Promise<PostResult> => post.send(new URL(url), [], body, signal).then(withoutTimes)
}

/** A result without what differs from run to run. */
export const withoutTimes = ({
  connected: _connected,
  firstByteMs: _firstByteMs,
  bodyMs: _bodyMs,
  responseHeaders: _headers,
  ...result
}: PostResult): PostResult => result
