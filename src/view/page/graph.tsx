import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Graph as Units, GraphNode } from '#view/run-answer'
import { type Child, Chip } from './parts.tsx'

interface GraphProperties {
  graph: Units
  /** Returns the state of a step in a run; undefined in a plan. */
  stateOf?: ((node: GraphNode) => NodeState | undefined) | undefined
  detail(node: GraphNode): Child
  /** The step whose detail is open from the start. */
  open?: string | undefined
}

export interface NodeState {
  status: string
  mark: string
  time: string
  said: string
  tries: readonly { status: string; said: string; time: string }[]
}

/** Steps from first to last; parallel steps are side by side between two bars. */
export function Graph({ graph, stateOf, detail, open }: GraphProperties) {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const isOpen = (step: string) => toggled.has(step) !== (step === open)
  const toggle = (step: string): void => {
    const after = new Set(toggled)
    if (!after.delete(step)) after.add(step)
    setToggled(after)
  }

  const flow = (units: Units): JSX.Element => <ol class="flow">{units.map(unit)}</ol>
  const unit = (nodes: readonly GraphNode[]): JSX.Element => (
    <li class={nodes.length > 1 ? 'unit parallel' : 'unit'}>
      {nodes.length > 1 && <div class="caption">{nodes.length} in parallel</div>}
      <div class="nodes">{nodes.map(node)}</div>
      {nodes.map((one) => isOpen(one.step) && <div class="opened">{detail(one)}</div>)}
    </li>
  )
  const node = (one: GraphNode): JSX.Element => {
    const { step, inner } = one
    const state = stateOf?.(one)
    return (
      <div key={step} class={`node ${inner === undefined ? '' : 'nested'} ${state?.status ?? ''}`}>
        <button
          type="button"
          class="step"
          aria-expanded={isOpen(step)}
          onClick={() => toggle(step)}
        >
          <Face {...one} state={state} />
        </button>
        {inner !== undefined && flow(inner)}
      </div>
    )
  }
  return flow(graph)
}

function Face({ label, by, words, trust, state }: GraphNode & { state: NodeState | undefined }) {
  const { status = '', mark, time, said = by, tries = [] } = state ?? {}
  return (
    <>
      <span class="head">
        {mark !== undefined && (
          <span class={`mark ${status}`} title={status}>
            {mark}
          </span>
        )}
        <span class="name">
          {label}
          {words.map((word) => [
            ' ',
            <Chip text={word} kind={word.startsWith('gate') ? 'wait' : 'word'} />,
          ])}{' '}
          {state === undefined && trust === 'untrusted' && <Chip text={trust} />}
        </span>
        <span class="time">{time === '' ? status.replace('_', ' ') : time}</span>
      </span>
      {tries.map((one, at) => (
        <span class="said">
          <span class={one.status}>{`attempt ${at + 1}: ${one.status}`}</span> {one.said}
        </span>
      ))}
      {said !== '' && <span class="said">{said}</span>}
    </>
  )
}
