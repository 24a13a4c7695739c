import { useState } from 'preact/hooks'
import type { Answers } from '#view/answers'
import { type Child, Chip, Section, Table, Trouble, Typed } from './parts.tsx'
import { ask } from './server.ts'

type ShownGate = Answers['run']['gates'][number]

interface GateProperties {
  runId: string
  gate: ShownGate
}

/** A gate that waits: what the user decides on, and the two decisions. */
export function Gate({ runId, gate }: GateProperties) {
  const { step, results, refusal } = gate
  return (
    <div class="gate">
      <Section title={`${step} waits for your approval`}>
        <p class="soft">{meaningOf(gate)}</p>
        {results.length > 0 && (
          <Table
            head={['before it', 'status', 'result']}
            rows={results.map((one) => [one.step, <Chip text={one.status} />, one.result])}
          />
        )}
        {refusal === undefined ? (
          <Decision runId={runId} gate={gate} />
        ) : (
          <p class="note warn">{sentence(refusal.message)}</p>
        )}
        <OtherWays gate={gate} isOpen={refusal !== undefined || gate.strength === 'signed'} />
      </Section>
    </div>
  )
}

function meaningOf({ strength, rework }: ShownGate): string {
  const asks =
    strength === 'signed' ? 'It asks for an approval that you sign: use the command below. ' : ''
  const rejecting =
    rework === undefined ? 'Rejecting ends the run.' : `Rejecting leads back to ${rework}.`
  return `${asks}${asks === '' ? 'Approving continues the run. ' : ''}${rejecting}`
}

type Decided = 'approve' | 'reject'

function Decision({ runId, gate }: GateProperties) {
  const { step, key, planDigest, stateDigest, shownDigest, strength, rework } = gate
  const [reason, setReason] = useState('')
  const [decided, setDecided] = useState<Decided>()
  const [error, setError] = useState<unknown>()
  const decide = (decision: Decided): void => {
    if (decision === 'reject' && rework !== undefined && reason.trim() === '') {
      setError(new Error(`Write the reason: ${rework} is done again with it.`))
      return
    }
    setError(undefined)
    setDecided(decision)
    const shown = { key, planDigest, stateDigest, shownDigest }
    const driven = navigator.webdriver ? 'yes' : ''
    ask('decide', { id: runId, ...shown, decision, reason, driven }).catch((failure: unknown) => {
      setDecided(undefined)
      setError(failure)
    })
  }
  const isBusy = decided !== undefined
  const button = (decision: Decided, text: string): Child => (
    <button type="button" class={decision} disabled={isBusy} onClick={() => decide(decision)}>
      {text}
    </button>
  )
  return (
    <>
      <div class="decision">
        <input
          type="text"
          aria-label={`Reason for the decision about ${step}`}
          placeholder={rework === undefined ? 'Reason (optional)' : 'Reason, if you reject'}
          value={reason}
          onInput={({ currentTarget }) => setReason(currentTarget.value)}
        />
        {strength !== 'signed' && button('approve', `Approve ${step}`)}
        {button('reject', `Reject ${step}`)}
      </div>
      <div aria-live="polite">
        {isBusy && <p class="soft">{`${decided === 'approve' ? 'Approved' : 'Rejected'} …`}</p>}
      </div>
      {error !== undefined && <Trouble error={error} />}
    </>
  )
}

function OtherWays({ gate, isOpen }: { gate: ShownGate; isOpen: boolean }) {
  return (
    <details open={isOpen}>
      <summary>Other ways to approve</summary>
      {gate.approveWith.map((one) => {
        if (one.channel === 'view') return null
        const what = one.channel === 'session' ? `As a prompt in ${one.client}` : 'In a terminal'
        return <Typed line={one.line} what={what} />
      })}
    </details>
  )
}

function sentence(message: string): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`
}
