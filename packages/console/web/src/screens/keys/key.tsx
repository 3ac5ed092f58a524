/** One key: its facts, its usage, and what can be done with it. */
import { useState } from 'preact/hooks'
import type { ApiKey } from '../../server/contract.ts'
import { useSession } from '../../shell/session.ts'
import { useCall, useChange } from '../../state/queries.ts'
import { cameFrom, href } from '../../state/router.ts'
import { count, span } from '../../text/format.ts'
import { keyChanges, keyDraftOf } from '../../text/key-draft.ts'
import { keyState } from '../../text/states.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Json } from '../../ui/code.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Badge, ExactTime, Facts, Id, Tags, Time } from '../../ui/facts.tsx'
import { Panel, Screen } from '../../ui/layout.tsx'
import { Answered, Note, ProblemNote } from '../../ui/notes.tsx'
import { RotateDialog } from '../../ui/rotate-dialog.tsx'
import { TenantName } from '../../ui/tenant.tsx'
import { say } from '../../ui/toasts.tsx'
import { ByWhom } from '../audit.tsx'
import { UserName } from '../users/user-name.tsx'
import { useKeyForm } from './key-fields.tsx'
import { MadeKey } from './new-key.tsx'
import { UsagePanel } from './usage-chart.tsx'
import { UsedOfKey } from './used.tsx'

export function KeyScreen({ id }: { id: string }) {
  const { may } = useSession()
  const answer = useCall('keys.get', { id })
  const { data: key } = answer
  return (
    <Screen
      title={
        key?.label ? (
          <bdi>{key.label}</bdi>
        ) : (
          <span class="mono">{key ? `${key.keyPrefix}…` : 'API key'}</span>
        )
      }
      back={{ to: cameFrom('keys'), label: 'API keys' }}
      about={key && <KeyHeading of={key} />}
      actions={key && may('keys:write') && !key.revokedAt && <KeyActions of={key} />}
    >
      <Answered of={answer}>
        {(key) => (
          <>
            {key.replacedBy && (
              <Note
                kind="info"
                action={<Link to={href(`keys/${key.replacedBy}`)}>Its successor</Link>}
              >
                It was rotated. When its last use stays as it is, everybody has the new one.
              </Note>
            )}
            {key.usage && (key.usage.plan || key.usage.quota || key.usage.limits.length > 0) && (
              <Panel title="Used of its limits">
                <UsedOfKey of={key.usage} />
              </Panel>
            )}
            <UsagePanel title="Usage" keyId={id} />
            <Panel title="Facts">
              <KeyFacts of={key} />
            </Panel>
          </>
        )}
      </Answered>
    </Screen>
  )
}

const KeyHeading = ({ of }: { of: ApiKey }) => (
  <span class="heading-facts">
    <Badge tone={keyState(of).tone}>{keyState(of).word}</Badge>
    <span class="mono">{`${of.keyPrefix}…`}</span>
    <Id id={of.id} what="key id" />
  </span>
)

const KeyFacts = ({ of }: { of: ApiKey }) => (
  <>
    <Facts
      rows={[
        ['User', <UserName id={of.userId} />],
        ['Tenant', <TenantName of={of.tenant} />],
        ['Scopes', of.scopes.length > 0 ? <Tags of={of.scopes} /> : null],
        ['Last used', <Time at={of.lastUsedAt} />],
        ['Expires', <Time at={of.expiresAt} />],
        ['Created', <ExactTime at={of.createdAt} />],
        [
          'Revoked',
          of.revokedAt && (
            <>
              <ExactTime at={of.revokedAt} />
              <ByWhom target={of.id} action="key.revoke" />
            </>
          ),
        ],
        [
          'Rate limits',
          of.limits
            ?.map(({ limit, perSeconds }) => `${count(limit)} in ${span(perSeconds)}`)
            .join(', '),
        ],
        [
          'Quota',
          of.quota &&
            `${count(of.quota.limit)} ${of.quota.period === 'total' ? 'in all' : `a ${of.quota.period}`}`,
        ],
        ['Allowed networks', of.allowedIps?.join(', ')],
        [
          'Replaces',
          of.replaces && <Id id={of.replaces} what="former key" to={href(`keys/${of.replaces}`)} />,
        ],
      ]}
    />
    {of.metadata && (
      <>
        <h3 class="part">Metadata</h3>
        <Json value={of.metadata} what="metadata" />
      </>
    )}
  </>
)

type DialogName = 'edit' | 'rotate' | 'revoke' | null

function KeyActions({ of }: { of: ApiKey }) {
  const [dialog, setDialog] = useState<DialogName>(null)
  const close = () => setDialog(null)
  const switching = useChange('keys.update', (_key, { enabled }) =>
    say(enabled ? 'Enabled' : 'Disabled: requests with it are refused'),
  )
  return (
    <>
      <Button onClick={() => setDialog('edit')}>Edit</Button>
      <Button
        busy={switching.busy}
        onClick={() => switching.run({ id: of.id, enabled: !of.enabled })}
      >
        {of.enabled ? 'Disable' : 'Enable'}
      </Button>
      {!of.replacedBy && <Button onClick={() => setDialog('rotate')}>Rotate</Button>}
      <Button kind="danger" onClick={() => setDialog('revoke')}>
        Revoke
      </Button>
      {switching.problem && <ProblemNote problem={switching.problem} />}
      {dialog === 'edit' && <EditDialog of={of} onClose={close} />}
      {dialog === 'rotate' && (
        <RotateDialog
          title="Rotate the key"
          call="keys.rotate"
          id={of.id}
          old="The old key"
          shown={(made) => <MadeKey made={made} title="The new key" onClose={close} />}
          onClose={close}
        >
          A new key with the same rights takes its place. The old one stays valid for a while beside
          it.
        </RotateDialog>
      )}
      {dialog === 'revoke' && (
        <FormDialog
          title="Revoke the key"
          submit="Revoke"
          kind="danger"
          call="keys.revoke"
          input={() => ({ id: of.id })}
          done={() => 'Revoked'}
          onClose={close}
        >
          <p>
            Requests with it are refused from now on, and nothing undoes that. To stop it for a
            while, disable it.
          </p>
        </FormDialog>
      )}
    </>
  )
}

function EditDialog({ of, onClose }: { of: ApiKey; onClose: () => void }) {
  const initial = keyDraftOf(of)
  const { form, read } = useKeyForm(initial)
  return (
    <FormDialog
      title="Edit the key"
      submit="Save changes"
      wide
      call="keys.update"
      input={() => {
        const fields = read()
        return fields && { id: of.id, ...keyChanges(initial, fields) }
      }}
      done={() => 'Saved'}
      onClose={onClose}
    >
      {form}
    </FormDialog>
  )
}
