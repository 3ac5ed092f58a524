// promise: No untrusted input causes a crash, is wrongly accepted or takes more than 10 ms of CPU time (the time only in long runs, and not for whole requests)
import fc from 'fast-check'
import t from 'tap'
import type { ProviderId } from '@svc/webhooks/providers'
import type { InboundRequest } from '@svc/webhooks'
import type { Preset } from '../../packages/providers/src/preset.ts'
import type { Scheme } from '../../packages/providers/src/preset-schemes.ts'
import { ROWS } from '../providers/needs.ts'
import {
  eventOf,
  keys,
  make,
  NOW_MS,
  ORIGIN,
  providerClientFor,
} from '../webhooks/inbound/providers/genuine.ts'
import { signed, type Signed } from '../webhooks/inbound/providers/sign.ts'
import {
  changed,
  changes,
  essentialHeaders,
  headersOf,
  isHarmless,
  isIntact,
  type Line,
} from './changed-headers.ts'
import { fuzz } from './fuzz.ts'

/** The least that fetches may be apart: the clock of the fetched keys moves on with each look at it. */
let ticks = 0
const moving = () => (ticks += 1000)

const requestOf = ({ method, url, body }: Signed, lines: readonly Line[]) =>
  ({
    method,
    url: url.slice(ORIGIN.length),
    headers: headersOf(lines),
    rawHeaders: lines.flat(),
    rawBody: Buffer.from(body),
    params: {},
  }) as unknown as InboundRequest

interface Genuine {
  id: string
  scheme: Scheme
  request: Signed
  /** The headers that authenticate it. */
  essential: string[]
  accepts: (lines: readonly Line[]) => Promise<boolean>
}

async function genuineOf(id: ProviderId, preset: Preset, scheme: Scheme): Promise<Genuine> {
  const own = keys(scheme)
  const source = make(id, preset)
  const providerClient = providerClientFor(scheme, own, moving)
  const request = signed(scheme, eventOf(preset, scheme), own, NOW_MS)
  const accepts = async (lines: readonly Line[]) => {
    try {
      const one = requestOf(request, lines)
      return await source.verify(one, request.body, () => own.secret || null, providerClient)
    } catch (error) {
      // The request names a key that cannot be fetched: it is refused.
      if ((error as Error).name === 'NotFetched') return false
      throw error
    }
  }
  const essential = await essentialHeaders(preset, request.headers, accepts)
  return { id, scheme, request, essential, accepts }
}

t.test('a preset accepts changed headers only where what was signed is unchanged', async (t) => {
  t.intercept(Date, 'now', { value: () => NOW_MS })
  const all: Genuine[] = []
  for (const [id, preset] of ROWS) {
    for (const scheme of preset.schemes) all.push(await genuineOf(id, preset, scheme))
  }
  const withHeaders = all.filter(({ essential }) => essential.length > 0)
  const signedElsewhere = all.filter(({ essential }) => essential.length === 0).map(({ id }) => id)
  t.strictSame(
    [...new Set(signedElsewhere)].toSorted(),
    ['adyen', 'appStore', 'braintree', 'deepgram', 'figma', 'mailgun', 'microsoftGraph', 'sns'],
    'those whose signature or token is in the body',
  )
  for (const { id, request, accepts } of withHeaders) {
    if (!(await accepts(Object.entries(request.headers)))) t.fail(`${id} accepts nothing`)
  }
  const verdicts = { accepted: 0, refused: 0 }
  await fuzz(t, fc.tuple(fc.nat(withHeaders.length - 1), changes), async ([which, wanted]) => {
    const { id, scheme, request, essential, accepts } = withHeaders[which]!
    const lines = changed(request.headers, essential, wanted)
    const isAccepted = await accepts(lines)
    verdicts[isAccepted ? 'accepted' : 'refused']++
    if (isAccepted && !isIntact(scheme, request.headers, essential, lines)) {
      throw new Error(`${id} accepts ${JSON.stringify(lines)}`)
    }
    if (!isAccepted && isHarmless(wanted)) throw new Error(`${id} refuses ${JSON.stringify(lines)}`)
  })
  t.ok(verdicts.accepted > 0 && verdicts.refused > 0, JSON.stringify(verdicts))
})
