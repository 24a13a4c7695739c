import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Graph as Units, GraphNode } from '../graph.ts'
import { type Child, Chip, More } from './parts.tsx'

interface GraphProperties {
  graph: Units
  /** How a step stands in a run; undefined in a plan. */
  stateOf?: ((node: GraphNode) => NodeState | undefined) | undefined
  detail(node: GraphNode): Child
  /** Steps that are open from the start, or that somebody asked to see. */
  revealed?: { steps: readonly string[]; scroll: boolean } | undefined
}

export interface NodeState {
  status: string
  mark: string
  time: string
  said: string
  tries: readonly { status: string; said: string; time: string }[]
  /** Where its time lies on that of the run, in percent. */
  bar?: { left: number; width: number } | undefined
}

/** Maximum number of steps that are drawn at once. */
const page = 200

const nothing = { steps: [], scroll: false }

/** Steps from first to last; those that run in parallel stand between two bars, side by side. */
export function Graph(properties: GraphProperties): JSX.Element {
  const { graph, stateOf, detail, revealed = nothing } = properties
  const [shown, setShown] = useState(page)
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set(revealed.steps))
  const top = useRef<HTMLDivElement>(null)
  const names = namesOf(graph)
  useEffect(() => {
    const last = Math.max(...revealed.steps.map((step) => names.indexOf(step)))
    setShown((before) => Math.max(before, Math.ceil((last + 1) / page) * page))
    setOpened((before) => new Set([...before, ...revealed.steps]))
    if (revealed.scroll) {
      const [step = ''] = revealed.steps
      const node = top.current?.querySelector(`[data-step="${CSS.escape(step)}"]`)
      node?.scrollIntoView({ block: 'center' })
    }
  }, [revealed])
  const toggle = (step: string): void => {
    const after = new Set(opened)
    if (!after.delete(step)) after.add(step)
    setOpened(after)
  }

  let room = shown
  const flow = (units: Units): JSX.Element => <ol class="flow">{units.map(unit)}</ol>
  const unit = (nodes: readonly GraphNode[]): JSX.Element | null => {
    const fitting = nodes.filter(() => room-- > 0)
    if (fitting.length === 0) return null
    return (
      <li class={nodes.length > 1 ? 'unit parallel' : 'unit'}>
        {nodes.length > 1 && <div class="caption">{nodes.length} in parallel</div>}
        <div class="nodes">{fitting.map(node)}</div>
        {fitting.map((one) => opened.has(one.step) && <div class="opened">{detail(one)}</div>)}
      </li>
    )
  }
  const node = (one: GraphNode): JSX.Element => {
    const { step, inner } = one
    const state = stateOf?.(one)
    return (
      <div key={step} class={`node ${inner === undefined ? '' : 'nested'} ${state?.status ?? ''}`}>
        <button
          type="button"
          class="step"
          data-step={step}
          aria-expanded={opened.has(step)}
          onClick={() => toggle(step)}
        >
          <Face {...one} state={state} />
        </button>
        {inner !== undefined && flow(inner)}
      </div>
    )
  }
  return (
    <div ref={top}>
      {flow(graph)}
      <More
        rest={names.length - shown}
        noun=" steps"
        size={page}
        onMore={() => setShown(shown + page)}
      />
    </div>
  )
}

function namesOf(graph: Units): string[] {
  return graph.flat().flatMap(({ step, inner = [] }) => [step, ...namesOf(inner)])
}

/** What is seen of a step without a click. */
function Face({ label, by, words, trust, state }: GraphNode & { state: NodeState | undefined }) {
  const { status = '', mark, time, said = by, tries = [], bar } = state ?? {}
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
            <Chip text={word} kind={word === 'gate' ? 'waiting' : 'word'} />,
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
      {bar !== undefined && (
        <span class="track">
          <span class={`bar ${status}`} style={{ left: `${bar.left}%`, width: `${bar.width}%` }} />
        </span>
      )}
    </>
  )
}
