/** The form that makes and changes a webhook. */
import { useEffect, useState } from 'preact/hooks'
import { useSession } from '../../shell/session.ts'
import { useCatalogue } from '../../state/names.ts'
import type { Change } from '../../state/queries.ts'
import { askBeforeLeaving, href } from '../../state/router.ts'
import { eventChoices, readDraft, type Draft, type Mistakes } from '../../text/webhook-draft.ts'
import { Button, Link } from '../../ui/button.tsx'
import { Checkbox, Choices, Select, TextArea, TextField } from '../../ui/field.tsx'
import { Panel } from '../../ui/layout.tsx'
import { ProblemNote } from '../../ui/notes.tsx'
import { TenantField } from '../../ui/tenant.tsx'
import { FilterTrial } from './filter-trial.tsx'

const TRANSFORMS = ['slack', 'discord', 'teams', 'cloudevents', 'payload']

export function WebhookForm({
  initial,
  isNew,
  change: { busy, problem },
  isSaved = false,
  onSubmit,
}: {
  initial: Draft
  isNew: boolean
  change: Pick<Change<never>, 'busy' | 'problem'>
  /** Leaving it loses nothing. */
  isSaved?: boolean
  onSubmit: (draft: Draft) => void
}) {
  const { session } = useSession()
  const catalogue = useCatalogue()
  const [draft, setDraft] = useState(initial)
  const [mistakes, setMistakes] = useState<Mistakes>({})
  const isChanged = JSON.stringify(draft) !== JSON.stringify(initial)
  useEffect(() => {
    if (!isChanged || isSaved) return
    return askBeforeLeaving(() => 'What you have changed here is not saved. Leave it?')
  }, [isChanged, isSaved])
  const set = (change: Partial<Draft>) => {
    const next = { ...draft, ...change }
    setDraft(next)
    // What was wrong is right as soon as it is; what is not yet written is not judged.
    const read = readDraft(next)
    const still: Mistakes = 'mistakes' in read ? read.mistakes : {}
    setMistakes((shown) =>
      Object.fromEntries(Object.entries(still).filter(([name]) => name in shown)),
    )
  }
  const field = (name: Exclude<keyof Draft, 'events' | 'ordered'>) => ({
    value: draft[name],
    onValue: (value: string) => set({ [name]: value }),
    problem: mistakes[name],
  })
  const submit = () => {
    const read = readDraft(draft)
    setMistakes('mistakes' in read ? read.mistakes : {})
    if ('body' in read) onSubmit(draft)
  }
  const all = draft.events.includes('*')
  return (
    <form
      class="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy) submit()
      }}
    >
      <Panel title="Where, and what">
        <div class="form">
          <TextField
            label="Address"
            type="url"
            placeholder="https://example.com/hooks"
            hint="Empty: nothing is delivered, and its feed is read."
            {...field('url')}
          />
          <Checkbox
            label="All events"
            hint="Also those that are added later."
            checked={all}
            onChecked={(on) => set({ events: on ? ['*'] : [] })}
          />
          {!all && (
            <Choices
              label="Events"
              all={eventChoices(catalogue.data?.items ?? [], initial.events)}
              chosen={draft.events}
              onChosen={(events) => set({ events })}
              none={
                <>
                  There is no event to choose from yet:{' '}
                  <Link to={href('catalogue')}>the catalogue</Link> says how they come.
                </>
              }
              problem={mistakes.events}
            />
          )}
          <div class="pair">
            <TextField label="Label" hint="A name for people." {...field('label')} />
            {session.operator && isNew && (
              <TenantField hint="Empty: yours. It cannot be changed later." {...field('tenant')} />
            )}
          </div>
        </div>
      </Panel>
      <Panel title="Filter">
        <div class="form">
          <TextArea
            label="Which of these events"
            mono
            rows={6}
            hint={
              <>
                JSON over <code>event</code>, <code>tenant</code> and <code>payload</code>, such as{' '}
                <code>{'{ "payload.total": { "$gte": 100 } }'}</code>. Empty: all of them.
              </>
            }
            {...field('filter')}
          />
          <FilterTrial draft={draft} />
        </div>
      </Panel>
      <details class="panel" open={!isNew}>
        <summary>
          <h2>How it is sent</h2>
          <span class="hint">Timeout, retries, limits, headers, transform</span>
        </summary>
        <div class="form">
          <div class="pair">
            <TextField label="Timeout (ms)" hint="Of one attempt." {...field('timeoutMs')} />
            <TextField
              label="Attempts"
              hint="How often a delivery is tried."
              {...field('maxAttempts')}
            />
            <TextField
              label="Delays (seconds)"
              hint="Between the attempts: 5, 60, 600"
              {...field('delaysSeconds')}
            />
          </div>
          <div class="pair">
            <TextField
              label="At most this many attempts"
              hint="What is too much waits."
              {...field('rateLimit')}
            />
            <TextField label="in this many seconds" {...field('ratePerSeconds')} />
            <TextField label="At a time" hint="Attempts under way." {...field('maxInFlight')} />
          </div>
          <Checkbox
            label="In order"
            hint="One delivery at a time; one that is retried holds the rest."
            checked={draft.ordered}
            onChecked={(ordered) => set({ ordered })}
          />
          <div class="pair">
            <TextArea
              label="Headers"
              mono
              rows={3}
              hint="One “name: value” a line. Values are secrets."
              {...field('headers')}
            />
            <TextArea
              label="Metadata"
              mono
              rows={3}
              hint="One “name: value” a line, of your own."
              {...field('metadata')}
            />
          </div>
          <div class="pair">
            <Select
              label="Body"
              {...field('transform')}
              choices={[
                { value: '', label: 'The default' },
                { value: 'none', label: 'The event as it is' },
                ...[...new Set([...TRANSFORMS, draft.transform])]
                  .filter((value) => value !== '' && value !== 'none')
                  .map((value) => ({ value, label: `Transform: ${value}` })),
              ]}
            />
            <TextField label="Description" {...field('description')} />
          </div>
        </div>
      </details>
      {Object.keys(mistakes).length > 0 && (
        <p class="problem-text" role="alert">
          {`Look again: ${Object.values(mistakes).join(' ')}`}
        </p>
      )}
      {problem && <ProblemNote problem={problem} />}
      <div class="form-foot">
        <Button type="submit" kind="primary" busy={busy}>
          {isNew ? 'Create webhook' : 'Save changes'}
        </Button>
      </div>
    </form>
  )
}
