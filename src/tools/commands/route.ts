import { defineCommand, type Note, type Screen } from '../../core/command.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { exitCode, type ExitCode } from '../../core/errors.ts'
import { inputText } from '../../core/input-text.ts'
import { cell, safeLine } from '../../core/text.ts'
import type { ToolIndex } from '../cache/tool-index.ts'
import { decideRequest, mostConsidered, type RequestDecision } from '../call/decide-request.ts'
import { mapParameters } from '../parameters/map-parameters.ts'
import type { PlannedCall } from '../parameters/plan-request.ts'
import { projectRouter } from '../route/project-router.ts'
import {
  heldTools,
  keepRouting,
  type ProjectRouting,
  readRouting,
} from '../route/project-routing.ts'
import type { Route, RouteExplanation } from '../route/route.ts'
import type { RouteOptions } from '../route/router.ts'
import {
  sayUnasked,
  foundAmongAsked,
  hearing,
  knownTools,
  meaningIn,
  type ToolContext,
  toolProject,
} from './project-tools.ts'

/** A request with its route, and with what the tool would be called with. */
export interface RouteResult extends Omit<Route, 'category'> {
  category: string | null
  /** Undefined where the tool's schema is not known. */
  params?: PlannedCall['params'] | undefined
  missing?: readonly string[] | undefined
  /** Candidates that changed and were not accepted since: a call of them is refused. */
  heldBack?: readonly string[] | undefined
  explanation?: Pick<RouteExplanation, 'words' | 'candidates'> | undefined
  diagnostics: readonly Diagnostic[]
  /** Where another code than "not found" applies, since servers were not asked. */
  exitCode?: ExitCode | undefined
}

export const command = defineCommand<RouteResult>()({
  arguments: { '<request...>': 'what to do, in words; - for stdin' },
  options: {
    explain: { kind: 'flag', flags: '--explain', help: 'show what led to each candidate' },
    limit: {
      kind: 'integer',
      flags: '--limit <number>',
      help: 'maximum number of candidates',
      least: 1,
      most: 1000,
      default: 5,
    },
  },
  examples: ['tools route "take a screenshot of the login page" --explain'],
  async run(context, { arguments: words, explain, limit }) {
    const given = words.join(' ')
    const request = given === '-' ? await inputText(given, context) : given
    return await foundAmongAsked(context, async () => {
      const routing = await routingFor(request, context)
      const result = routeIn(routing, request, limit, explain)
      if (result.decision !== 'ask') return result
      const code = sayUnasked(context)
      return code === exitCode.notFound ? result : { ...result, exitCode: code }
    })
  },
  exitCode: ({ decision, exitCode: code = exitCode.notFound }) =>
    decision === 'ask' ? code : exitCode.done,
  render: routeText,
  notes: routeNotes,
})

/** What routes the requests of a project. */
export type Routing = Pick<
  ProjectRouting,
  'router' | 'tools' | 'definition' | 'held' | 'diagnostics'
> &
  Pick<RouteOptions, 'meaning'>

/** Routes a request with routing that was prepared already. */
export function routeIn(
  { router, tools, definition, held, meaning, diagnostics }: Routing,
  request: string,
  limit: number,
  explain = false,
): RouteResult {
  // How many are shown decides nothing.
  const most = { limit: Math.max(limit, mostConsidered), meaning }
  const routeOf = (text: string): Route => router.route(text, text === request ? most : {})
  const decided = decideRequest(request, routeOf, { tools, definition })
  const { category, decision, tool, margin, intent, slots, named } = decided.route
  const candidates = decided.route.candidates.slice(0, limit)
  const mapping = mappingOf(request, decided, definition)
  const heldBack = candidates.flatMap((one) => (held.has(one.tool) ? [one.tool] : []))
  const explanation = explain ? router.explain(request, { limit, meaning }) : undefined
  return {
    decision,
    category: category ?? null,
    tool,
    params: mapping?.params,
    missing: mapping?.missing,
    margin,
    candidates,
    heldBack: heldBack.length === 0 ? undefined : heldBack,
    intent,
    slots,
    named,
    explanation: explanation && {
      words: explanation.words,
      candidates: explanation.candidates,
    },
    diagnostics,
  }
}

/** What the words give the tool; what another call would give it counts as missing. */
function mappingOf(
  request: string,
  { route: { tool }, proposal }: RequestDecision,
  definition: Routing['definition'],
): Pick<PlannedCall, 'params' | 'missing'> | undefined {
  const last = proposal?.steps.at(-1)
  if (last !== undefined && proposal !== undefined && proposal.parts > 1) {
    const given = last.bindings.map(({ parameter }) => parameter)
    return { params: last.params, missing: [...given, ...last.missing] }
  }
  const defined = tool === undefined ? undefined : definition(tool)
  return defined === undefined ? undefined : mapParameters(request, defined)
}

/** Routing as the last command kept it, else made from the project's tools and kept. */
async function routingFor(request: string, context: ToolContext): Promise<Routing> {
  const { runtime, settings } = context
  const isPlain = settings.tools.embeddings === 'off'
  const kept = isPlain ? readRouting({ project: toolProject(context), runtime }) : undefined
  if (kept !== undefined) {
    if (kept.message !== undefined) context.note(kept.message)
    return kept
  }
  const { found, diagnostics } = await hearing(context, knownTools)
  const { index, project } = found
  const routing = await routingOf(request, index, project, context)
  if (isPlain && diagnostics.length === 0) keepRouting({ project, runtime })
  return { ...routing, diagnostics: [...diagnostics, ...routing.diagnostics] }
}

/** Routing over the tools of an index, with what was learned in the project. */
export async function routingOf(
  request: string,
  index: ToolIndex,
  project: string,
  context: ToolContext,
): Promise<Routing> {
  const { router, diagnostics } = projectRouter(index, { project, runtime: context.runtime })
  return {
    router,
    tools: index.tools.map(({ id }) => id),
    definition: (id) => index.definition(id),
    held: new Set(heldTools(index)),
    meaning: await meaningIn(request, index, context),
    diagnostics,
  }
}

/** The router of the project; what was configured for meaning is asked about the whole request. */
export async function requestRouter(
  request: string,
  index: ToolIndex,
  project: string,
  context: ToolContext,
): Promise<(text: string) => Route> {
  const { router, diagnostics } = projectRouter(index, { project, runtime: context.runtime })
  context.diagnose(diagnostics)
  const meaning = await meaningIn(request, index, context)
  return (text) => router.route(text, text === request ? { meaning } : {})
}

/** The seed's routing trace, what it rests on, and the other candidates. */
function routeText(result: RouteResult, screen: Screen): string {
  const { decision, category, tool, margin, candidates, intent, params, missing = [] } = result
  const rows = candidates.map((one) => [`  ${safeLine(one.tool)}`, one.score.toFixed(2)])
  return [
    `intent: ${safeLine(JSON.stringify(intent))}\n`,
    `category: ${safeLine(category ?? '-')}\n`,
    `tool: ${screen.style('bold', safeLine(tool ?? '-'))}\n`,
    params === undefined ? '' : `params: ${safeLine(JSON.stringify(params))}\n`,
    missing.length === 0 ? '' : `missing: ${safeLine(missing.join(', '))}\n`,
    `decision: ${decision}, margin ${margin.toFixed(2)}\n`,
    rows.length === 0 ? '' : `candidates:\n${screen.table(rows)}`,
    result.explanation === undefined ? '' : explanationText(result.explanation, screen),
  ].join('')
}

/** What led to each candidate: its parts, and why it stands before the next. */
function explanationText(
  { words, candidates }: NonNullable<RouteResult['explanation']>,
  screen: Screen,
): string {
  const shown = words.map(({ word, weight }) =>
    weight === 1 ? word : `${word} (${String(Math.round(weight * 100) / 100)})`,
  )
  const paragraphs = candidates.map(({ tool, score, parts, aheadOfNext }) => {
    const rows = parts.map((part) => [
      `  ${part.kind}`,
      part.score.toFixed(2),
      screen.style('dim', cell(part.text, screen.width - 30)),
    ])
    const next = aheadOfNext === undefined ? '' : `  before the next by: ${safeLine(aheadOfNext)}\n`
    const heading = `${screen.style('bold', safeLine(tool))}  ${score.toFixed(2)}`
    return `\n${heading}\n${screen.table(rows)}${next}`
  })
  return `\nwords: ${safeLine(shown.join(', '))}\n${paragraphs.join('')}`
}

function routeNotes(result: RouteResult): Note[] {
  const { decision, candidates, heldBack = [], diagnostics } = result
  const [first] = candidates
  const lines = heldBack.map(
    (id) =>
      `${id} changed since it was accepted and is not called. Look at it with \`skillrail tools show ${id}\`, then run \`skillrail tools refresh --accept\`.`,
  )
  if (first?.unavailable !== undefined) {
    lines.push(`The server of ${first.tool} is configured but failing: ${first.unavailable}`)
  }
  if (decision === 'shortlist') {
    lines.push('More than one tool may be meant. Say it with the name of one, or in other words.')
  }
  if (decision === 'ask') {
    lines.push('No tool fits well enough. Say it in other words; `skillrail tools list` shows all.')
  }
  return [...diagnostics, ...lines]
}
