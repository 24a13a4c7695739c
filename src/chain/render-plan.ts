import { safeLine } from '../base/index.ts'
import { isChain, type Plan, type PlannedStep, type PlannedTask } from './plan-model.ts'
import { defaultChainPolicy } from '../skill/index.ts'
import type { ChainPolicy } from '../skill/index.ts'

/** The plan as a tree: what runs, how, whether it is trusted, what it costs. */
export function renderPlan(plan: Plan): string {
  const rows = flatten(plan.root.steps, 0).map(({ step, depth }) => [
    `${'  '.repeat(depth)}${safeLine(label(step))}`,
    isChain(step) ? step.executor : (step.client ?? step.model ?? step.executor),
    step.trust,
    step.digest.slice(7, 15),
    `${step.tokens} tokens`,
    [
      ...(step.gate === true ? ['gate'] : []),
      ...(step.verify === undefined ? [] : ['verified']),
      ...(step.sandboxed === true ? ['sandbox'] : []),
      ...(step.excluded === true ? ['left out'] : []),
      ...(isChain(step) ? policyWords(step.policy) : withoutWords(step)),
    ].join(', '),
  ])
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  )
  const head = [safeLine(plan.skill), plan.digest.slice(0, 19), ...policyWords(plan.root.policy)]
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${[head.join('  '), ...lines].join('\n')}\n`
}

/** The plan as a Mermaid flowchart; a chain is a box around its steps. */
export function renderPlanMermaid(plan: Plan): string {
  const ids = new Map<PlannedStep, string>()
  const idOf = (step: PlannedStep): string => {
    const id = ids.get(step) ?? `s${ids.size + 1}`
    ids.set(step, id)
    return id
  }

  function draw(step: PlannedStep, indent: string): string[] {
    const title = `"${mermaidText(label(step))}${step.gate === true ? ' (gate)' : ''}"`
    if (!isChain(step)) return [`${indent}${idOf(step)}[${title}]`]
    return [
      `${indent}subgraph ${idOf(step)}[${title}]`,
      ...step.steps.flatMap((inner) => draw(inner, `${indent}  `)),
      ...edges(step.policy, step.steps, `${indent}  `),
      `${indent}end`,
    ]
  }

  function edges(policy: ChainPolicy, steps: readonly PlannedStep[], indent: string): string[] {
    if (policy.async) return []
    return steps.slice(1).flatMap((step, index) => {
      const before = steps[index]
      return before === undefined ? [] : [`${indent}${idOf(before)} --> ${idOf(step)}`]
    })
  }

  const { steps, policy } = plan.root
  const lines = [
    'flowchart LR',
    ...steps.flatMap((step) => draw(step, '  ')),
    ...edges(policy, steps, '  '),
  ]
  return `${lines.join('\n')}\n`
}

/** Only what differs from the defaults, in the spelling of the metadata. */
function policyWords(policy: ChainPolicy): string[] {
  const words: string[] = []
  const spelled: Record<string, unknown> = { ...policy }
  for (const [key, value] of Object.entries(defaultChainPolicy)) {
    if (spelled[key] === value) continue
    const name = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    words.push(`${name}=${String(spelled[key])}`)
  }
  return words
}

/** What the executor cannot do for the skill. */
function withoutWords({ notHonoured = [] }: PlannedTask): string[] {
  return notHonoured.length === 0 ? [] : [`without ${notHonoured.join(' and ')}`]
}

function flatten(
  steps: readonly PlannedStep[],
  depth: number,
): { step: PlannedStep; depth: number }[] {
  return steps.flatMap((step) => [
    { step, depth },
    ...(isChain(step) ? flatten(step.steps, depth + 1) : []),
  ])
}

function mermaidText(text: string): string {
  return safeLine(text).replaceAll('"', '#quot;')
}

function label(step: PlannedStep): string {
  return step.step.slice(step.step.lastIndexOf('/') + 1)
}
