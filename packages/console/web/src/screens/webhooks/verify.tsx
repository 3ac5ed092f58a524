/** For whoever writes the receiver of a webhook: what comes, and programs that verify it. */
import { useEffect, useState } from 'preact/hooks'
import type { DeliverySigning, Webhook } from '../../server/contract.ts'
import { useSession } from '../../shell/session.ts'
import { useCall } from '../../state/queries.ts'
import { duration } from '../../text/format.ts'
import type * as Texts from '../../text/verification.ts'
import { Code } from '../../ui/code.tsx'
import { Panel } from '../../ui/layout.tsx'
import { Answered, Loading, Note } from '../../ui/notes.tsx'
import { Secret } from '../../ui/secret-dialog.tsx'
import { Segments } from '../../ui/segments.tsx'
import { SigningSecret } from './webhook-overview.tsx'

export function Verify({ webhook }: { webhook: Webhook }) {
  const { id, tenant, timeoutMs } = webhook
  const { may, session } = useSession()
  const signing = useCall('webhooks.signing', { id })
  return (
    <Answered of={signing}>
      {(data) => (
        <>
          <Panel title="Each delivery">
            <p>
              A <code>POST</code> with JSON. Verify it with the body as it was received, before it
              is parsed. Answer with a 2xx{' '}
              {timeoutMs ? `within ${duration(timeoutMs)}` : 'within seconds'}; every other answer
              is a failure, and the delivery is tried again. One delivery may arrive more than once:
              do nothing for a delivery id that you know.
            </p>
            <Headers of={data} isOperators={tenant === null} />
          </Panel>
          {may('webhooks:write') ? (
            <Panel title="The secret">
              <SigningSecret id={id} />
              <p class="hint">
                Keep it as a secret of the receiver, not in its code. After “Rotate secret”, the old
                one is good for as long as you choose there.
              </p>
            </Panel>
          ) : (
            <Note kind="info">
              The secret is shown to those who may change this webhook
              {session.via === 'portal' && ': ask for a link that may'}.
            </Note>
          )}
          {data.publicKey && (
            <Panel title="The public key">
              <Secret text={data.publicKey} what="public key" />
              <p class="hint">
                It verifies the signatures <code>v1a,…</code> of Standard Webhooks, and is no
                secret: in place of the secret, <code>@svc/receiver</code> takes it as{' '}
                <code>publicKey</code>.
              </p>
            </Panel>
          )}
          {data.ownSignatures ? <Programs signing={data} /> : <SignedByTransform of={data} />}
        </>
      )}
    </Answered>
  )
}

const SignedByTransform = ({ of: { transform } }: { of: DeliverySigning }) => (
  <Note kind="info">
    The transform <bdi class="mono">{transform}</bdi> of this webhook makes the body and signs it in
    the way of its receiver: the documentation of the receiver says how it is verified.
  </Note>
)

function Headers({
  of: { headerPrefix: prefix, ownSignatures, standardWebhooks, transform },
  isOperators,
}: {
  of: DeliverySigning
  isOperators: boolean
}) {
  const rows: [string, string][] = [
    ...(ownSignatures
      ? ([
          [
            `${prefix}Signature`,
            'sha256= and the hex HMAC-SHA256 of “timestamp.body”. The key is the whole text of the secret.',
          ],
          [
            `${prefix}Signature-Previous`,
            'The same with the secret before, for a while after a rotation.',
          ],
          [`${prefix}Timestamp`, 'Unix seconds. Refuse what is more than five minutes from now.'],
        ] as [string, string][])
      : []),
    ...(ownSignatures && standardWebhooks
      ? ([
          [
            'webhook-id, webhook-timestamp, webhook-signature',
            'Those of Standard Webhooks 1.0, for receivers that have a library for it.',
          ],
        ] as [string, string][])
      : []),
    [`${prefix}Delivery-Id`, 'The same over all attempts.'],
    [`${prefix}Event`, 'The name of the event.'],
    [`${prefix}Attempt`, '1, 2, … over all attempts of the delivery.'],
    ...(isOperators ? [[`${prefix}Tenant`, 'The tenant of the event.'] as [string, string]] : []),
    [`${prefix}Test`, 'true of a test, else not there.'],
  ]
  return (
    <>
      <dl class="headers">
        {rows.map(([name, about]) => (
          <div key={name}>
            <dt class="mono">{name}</dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <p class="hint">
        {transform === null ? (
          <>
            The body is <code>{'{ "event": …, "payload": …, "deliveryId": … }'}</code>.
          </>
        ) : (
          <>
            The body is made by the transform <bdi class="mono">{transform}</bdi>.
          </>
        )}
      </p>
    </>
  )
}

/** Their texts are loaded when they are asked for. */
function Programs({ signing: { headerPrefix, transform } }: { signing: DeliverySigning }) {
  const [texts, setTexts] = useState<typeof Texts>()
  const [chosen, setChosen] = useState<Texts.Language>()
  useEffect(() => void import('../../text/verification.ts').then(setTexts), [])
  if (!texts) return <Loading />
  const scheme = { headerPrefix, isOwnBody: transform === null }
  const languages = texts.languagesFor(scheme)
  const language = chosen ?? languages[0] ?? 'node'
  const { run } = texts.RECEIVERS[language]
  const names = Object.fromEntries(languages.map((one) => [one, texts.RECEIVERS[one].name]))
  return (
    <Panel
      title="A receiver that verifies"
      actions={
        <Segments
          label="Language"
          names={names as Record<Texts.Language, string>}
          chosen={language}
          onChosen={setChosen}
        />
      }
    >
      <Code key={language} text={texts.receiverIn(language, scheme)} what="receiver" />
      <p class="hint">
        A whole program, with the headers that deliveries have here: <code>{run}</code>
      </p>
    </Panel>
  )
}
