import type { Screen } from '#core/command'
import type { Diagnostic } from '#core/errors'
import { safeLine } from '#core/text'
import { defaultChainPolicy, policyKey } from '#skill/declarations'
import type { ChainDeclaration, ChainPolicy, StepOptions } from '#skill/model'
import type { TrustLevel } from '#trust/model'

/**
 * How a step is executed. `driven`: handed out to an agent, which reports. `missing`: no such
 * skill, a failure when its turn comes. `none`: nothing can execute it; the plan has an error.
 */
export type TaskExecutor = 'script' | 'driven' | 'agent' | 'model' | 'missing' | 'none'

/** One step of a chain, resolved. Everything here is JSON and goes into the journal. */
export type PlannedStep = PlannedTask | PlannedChain

interface PlannedSkill extends StepOptions {
  /** Unique in the plan: `unit`, `unit#2` for a second one, `chain-test/unit` below a nested chain. */
  step: string
  skill: string
  /** The `SKILL.md`, relative to the workspace where it lies inside, else absolute. */
  path: string
  trust: TrustLevel
  digest: string
  tokens: number
  verify?: string | undefined
  /** Its scripts run in a sandbox, and only there. */
  sandboxed?: true | undefined
  gate?: true | undefined
  /** Left out of this run by `--from` or `--only`. */
  excluded?: true
  personOnly?: true | undefined
}

export interface PlannedTask extends PlannedSkill {
  executor: TaskExecutor
  script?: string
  client?: string
  model?: string | undefined
  /** Fields of the skill that this client, or the model's executor, has no equal for. */
  notHonoured?: readonly string[] | undefined
}

export interface PlannedChain extends PlannedSkill {
  executor: 'chain'
  policy: ChainPolicy
  steps: readonly PlannedStep[]
}

export interface ShownPlan extends Pick<PlannedChain, 'policy' | 'steps'> {
  skill: string
  digest: string
}

export interface Plan {
  skill: string
  digest: string
  /** A skill that is not a chain is planned as a chain of itself alone. */
  root: PlannedChain
}

export interface PlanReading {
  plan: Plan
  diagnostics: readonly Diagnostic[]
}

export function isChain(step: PlannedStep): step is PlannedChain {
  return step.executor === 'chain'
}

export function allSteps(chain: PlannedChain): PlannedStep[] {
  return chain.steps.flatMap((step) => (isChain(step) ? [step, ...allSteps(step)] : [step]))
}

export function wholeChain(root: PlannedChain): PlannedStep[] {
  return [root, ...allSteps(root)]
}

export function confinedSteps({ root }: Plan): PlannedStep[] {
  return wholeChain(root).filter((step) => step.sandboxed && !step.excluded)
}

/** Groups steps that run in parallel: all of an `async` chain, else those that `&` joins. */
export function unitsOf<Step extends StepOptions>(
  steps: readonly Step[],
  { async }: Pick<ChainPolicy, 'async'>,
): Step[][] {
  if (async) return steps.length === 0 ? [] : [[...steps]]
  const units: Step[][] = []
  for (const [index, step] of steps.entries()) {
    const isJoined = step.group !== undefined && step.group === steps[index - 1]?.group
    if (isJoined) units.at(-1)?.push(step)
    else units.push([step])
  }
  return units
}

/** The steps of a chain in one line: `build → lint & unit → deploy`. */
export function chainText({ steps, policy }: Pick<ChainDeclaration, 'steps' | 'policy'>): string {
  const units = unitsOf(steps, policy).map((unit) => unit.map(({ name }) => name).join(' & '))
  return units.join(' → ') || 'no steps'
}

export function gatesOf({ steps, gates }: Pick<ChainDeclaration, 'steps' | 'gates'>): string[] {
  const own = steps.flatMap(({ gate, id, name }) => (gate ? [id ?? name] : []))
  return [...new Set([...gates, ...own])]
}

export function stepLabel({ step }: { step: string }): string {
  return step.slice(step.lastIndexOf('/') + 1)
}

/** The full name of a step, of the key of an attempt: `1.2:nested/1:unit` is `nested/unit`. */
export function stepOfKey(key: string): string {
  return key.replaceAll(/(^|\/)[\d.]+:/g, '$1')
}

export function shortDigest(digest: string): string {
  return digest.slice('sha256:'.length, 15)
}

/** Those that hold, of words that hold only sometimes. */
export function wordsOf(...words: readonly (string | false | undefined)[]): string[] {
  return words.filter((word) => typeof word === 'string').filter((word) => word !== '')
}

/** What is special about the execution of a step, and the policy of a chain. */
export function executionWords(step: PlannedStep): string[] {
  const { gate, verify, sandboxed, excluded } = step
  return [
    ...wordsOf(gate && 'gate'),
    ...optionWords(step),
    ...wordsOf(verify !== undefined && 'verified', sandboxed && 'sandbox', excluded && 'left out'),
    ...(isChain(step) ? policyWords(step.policy) : withoutWords(step.notHonoured)),
  ]
}

function optionWords({ retry, backoff, timeout, when, allowFailure, always, args }: StepOptions) {
  const values = Object.entries({ retry, backoff, timeout, when, args })
  return wordsOf(
    ...values.map(([name, value]) => value !== undefined && `${name}=${value}`),
    allowFailure && 'allow-failure',
    always && 'always',
  )
}

/** Only what differs from the defaults, in the spelling of the metadata. */
function policyWords(policy: ChainPolicy): string[] {
  const defaults: Record<string, unknown> = { ...defaultChainPolicy }
  const fields = Object.entries(policy)
  return wordsOf(
    ...fields.map(
      ([field, value]) => value !== defaults[field] && `${policyKey(field)}=${String(value)}`,
    ),
  )
}

function withoutWords(requests: readonly string[] = []): string[] {
  return wordsOf(requests.length > 0 && `without ${requests.join(' and ')}`)
}

export function renderPlan(plan: ShownPlan, { table }: Pick<Screen, 'table'>): string {
  const head = [safeLine(plan.skill), plan.digest.slice(0, 19), ...policyWords(plan.policy)]
  const rows = flatten(plan.steps, 0).map(({ step, depth, isJoined }) => [
    `${'  '.repeat(depth)}${isJoined ? '& ' : ''}${safeLine(stepLabel(step))}`,
    isChain(step) ? step.executor : (step.client ?? step.model ?? step.executor),
    step.trust,
    shortDigest(step.digest),
    `${step.tokens} tokens`,
    executionWords(step).join(', '),
  ])
  return `${head.join('  ')}\n${table(rows)}`
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

  const title = [plan.skill, `plan ${shortDigest(plan.digest)}`, ...policyWords(plan.policy)]
  const drawn = box('s0', title.join(', '), plan, '  ')
  const leftOut = [...ids].flatMap(([step, id]) => (step.excluded ? [id] : []))
  return `${['flowchart LR', ...drawn, ...classes(leftOut)].join('\n')}\n`
}

function taskLines(step: PlannedTask): string[] {
  const more = executionWords(step).join(', ')
  return [stepLabel(step), ...wordsOf(executorWords(step), kindWords(step).join(', '), more)]
}

function kindWords(step: PlannedStep): string[] {
  const { trust, digest, tokens } = step
  return wordsOf(isChain(step) && 'chain', trust, shortDigest(digest), `${tokens} tokens`)
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
