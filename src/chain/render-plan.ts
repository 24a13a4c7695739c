import { columnsOf, padToColumns, safeLine } from '../core/text.ts'
import type { ChainPolicy } from '../skill/model.ts'
import {
  executionWords,
  isChain,
  type PlannedStep,
  type PlannedTask,
  policyWords,
  shortDigest,
  type ShownPlan,
  stepLabel,
  unitsOf,
} from './plan-model.ts'

export function renderPlan(plan: ShownPlan): string {
  const rows = flatten(plan.root.steps, 0).map(({ step, depth, isJoined }) => [
    `${'  '.repeat(depth)}${isJoined ? '& ' : ''}${safeLine(stepLabel(step))}`,
    isChain(step) ? step.executor : (step.client ?? step.model ?? step.executor),
    step.trust,
    shortDigest(step.digest),
    `${step.tokens} tokens`,
    executionWords(step).join(', '),
  ])
  const widths = (rows[0] ?? []).map((_cell, column) =>
    Math.max(...rows.map((row) => columnsOf(row[column] ?? ''))),
  )
  const head = [safeLine(plan.skill), plan.digest.slice(0, 19), ...policyWords(plan.root.policy)]
  const lines = rows.map((row) =>
    row
      .map((cell, column) => padToColumns(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
  return `${[head.join('  '), ...lines].join('\n')}\n`
}

function flatten(
  steps: readonly PlannedStep[],
  depth: number,
): { step: PlannedStep; depth: number; isJoined: boolean }[] {
  return steps.flatMap((step, index) => [
    {
      step,
      depth,
      isJoined: step.group !== undefined && step.group === steps[index - 1]?.group,
    },
    ...(isChain(step) ? flatten(step.steps, depth + 1) : []),
  ])
}

/** The plan as a Mermaid flowchart: a chain is a box around its steps. */
export function renderPlanMermaid(plan: ShownPlan): string {
  const ids = new Map<PlannedStep, string>()
  const idOf = (step: PlannedStep): string => {
    const id = ids.get(step) ?? `s${ids.size + 1}`
    ids.set(step, id)
    return id
  }

  function draw(step: PlannedStep, indent: string): string[] {
    if (!isChain(step)) return [`${indent}${idOf(step)}${quoted(taskLines(step))}`]
    const title = [stepLabel(step), ...kindWords(step), ...executionWords(step)].join(', ')
    return box(idOf(step), title, step, indent)
  }

  function box(
    id: string,
    title: string,
    { steps, policy }: { steps: readonly PlannedStep[]; policy: ChainPolicy },
    indent: string,
  ): string[] {
    return [
      `${indent}subgraph ${id}${quoted([title])}`,
      ...steps.flatMap((step) => draw(step, `${indent}  `)),
      ...edges(policy, steps, `${indent}  `),
      `${indent}end`,
    ]
  }

  function edges(policy: ChainPolicy, steps: readonly PlannedStep[], indent: string): string[] {
    const units = unitsOf(steps, policy).map((unit) => unit.map(idOf).join(' & '))
    return units.slice(1).map((unit, index) => `${indent}${units[index]} --> ${unit}`)
  }

  const { root } = plan
  const title = [plan.skill, `plan ${shortDigest(plan.digest)}`, ...policyWords(root.policy)]
  const drawn = box('s0', title.join(', '), root, '  ')
  const leftOut = [...ids].flatMap(([step, id]) => (step.excluded === true ? [id] : []))
  return `${['flowchart LR', ...drawn, ...classes(leftOut)].join('\n')}\n`
}

function taskLines(step: PlannedTask): string[] {
  const more = executionWords(step)
  return [
    stepLabel(step),
    executorWords(step),
    kindWords(step).join(', '),
    ...(more.length === 0 ? [] : [more.join(', ')]),
  ]
}

function kindWords(step: PlannedStep): string[] {
  const digest = shortDigest(step.digest)
  return [
    ...(isChain(step) ? ['chain'] : []),
    step.trust,
    ...(digest === '' ? [] : [digest]),
    `${step.tokens} tokens`,
  ]
}

export function executorWords({ executor, script, client, model }: PlannedTask): string {
  switch (executor) {
    case 'script':
      return `script ${script ?? ''}`
    case 'agent':
      return `client ${client ?? ''}`
    case 'model':
      return `model ${model ?? ''}`
    case 'driven':
      return 'instructions, done by an agent that reports'
    case 'missing':
      return 'no such skill'
    case 'none':
      return 'instructions, and nothing executes them'
  }
}

function classes(leftOut: readonly string[]): string[] {
  if (leftOut.length === 0) return []
  return [
    '  classDef leftOut stroke-dasharray:4 4,opacity:0.5',
    `  class ${leftOut.join(',')} leftOut`,
  ]
}

function quoted(lines: readonly string[]): string {
  return `["${lines.map(mermaidText).join('<br/>')}"]`
}

/**
 * Text for a quoted label. Letters, digits and separators stay; everything else becomes an entity
 * in Mermaid's own form (`#60;`), so that no name ends the label or is a tag, Markdown, an icon
 * (`fa:…`) or a directive. The colon too: Mermaid looks for `style…:…#…;` in every line before it
 * parses.
 */
function mermaidText(text: string): string {
  return safeLine(text).replace(special, (character) => `#${character.codePointAt(0)};`)
}

// A hyphen or a dot is Markdown where a space follows (a list), an underscore at the edge of a word.
const special = /[^\p{L}\p{N}\p{M} _.,/=-]|[.-](?= )|^[=-]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu

export function sandboxHint(sandbox: string, remedy: Remedy): string {
  return withRemedy(`It ran in a sandbox (${sandbox})`, remedy)
}

export function sandboxForeseen(allowing: string | undefined): string {
  return withRemedy('What is marked sandbox runs in one', { allowing, grants: true })
}

/** What a step that failed says, behind where it ran. */
export function saidInside(said: string, sandbox: string | undefined): string {
  return sandbox === undefined ? said : `in the sandbox: ${said}`
}

interface Remedy {
  allowing: string | undefined
  grants: boolean
}

function withRemedy(what: string, { allowing, grants }: Remedy): string {
  const but = grants ? ', but for what --grant gives' : ''
  const kept = `${what}, which keeps the project, the network and your environment from it${but}.`
  return allowing === undefined ? kept : `${kept} ${allowing}`
}
