import { defineCommand, type Notes, option, type Screen } from '#core/command'
import { exitCode, type ExitCode } from '#core/errors'
import { inputText } from '#core/input-text'
import { cell, linesText, safeLine } from '#core/text'
import { holdOf, type ToolIndex } from '#tools/cache/tool-index'
import {
  decideRequest,
  mostConsidered,
  planTools,
  type RequestDecision,
} from '#tools/call/decide-request'
import { planRequest, type PlanTools } from '#tools/parameters/plan-request'
import { isUnsure, projectRouter, type Route } from '#tools/route/router'
import { sayUnasked, hearing, knownTools, meaningIn, type ToolContext } from './project-tools.ts'

type RouteResult = ReturnType<typeof routeIn> & { exitCode?: ExitCode | undefined }

export const command = defineCommand<RouteResult>()({
  arguments: { '<request...>': 'what to do, in words; - for stdin' },
  options: {
    explain: option.flag('--explain', 'show what led to each candidate'),
    limit: option.integer('--limit <number>', 'maximum number of candidates', {
      least: 1,
      most: 1000,
      default: 5,
    }),
  },
  examples: ['tools route "take a screenshot of the login page" --explain'],
  async run(context, { arguments: words, explain, limit }) {
    const given = words.join(' ')
    const request = given === '-' ? await inputText(given, context) : given
    const { found, diagnostics } = await hearing(context, knownTools)
    const routing = await routingOf(request, found.index, found.project, context)
    const heard = { ...routing, diagnostics: [...diagnostics, ...routing.diagnostics] }
    const result = routeIn(heard, request, limit, explain)
    if (result.decision !== 'ask') return result
    const code = sayUnasked(context)
    return code === exitCode.notFound ? result : { ...result, exitCode: code }
  },
  exitCode: ({ decision, exitCode: code = exitCode.notFound }) =>
    decision === 'ask' ? code : exitCode.done,
  render: routeText,
  notes: routeNotes,
})

export function routeIn(
  { router, tools, hold, meaning, diagnostics }: Awaited<ReturnType<typeof routingOf>>,
  request: string,
  limit: number,
  explain = false,
) {
  // The number of shown candidates decides nothing.
  const most = { limit: Math.max(limit, mostConsidered), meaning }
  const routeOf = (text: string): Route => router.route(text, text === request ? most : {})
  const decided = decideRequest(request, routeOf, tools)
  const { category, candidates: all, ...route } = decided.route
  const candidates = all.slice(0, limit)
  const heldBack = candidates.flatMap((one) => (hold(one.tool) ? [one.tool] : []))
  const explained = explain ? router.explain(request, { limit, meaning }) : undefined
  return {
    ...route,
    category: category ?? null,
    candidates,
    ...mappingOf(request, decided, tools),
    heldBack: heldBack.length === 0 ? undefined : heldBack,
    explanation: explained && { words: explained.words, candidates: explained.candidates },
    diagnostics,
  }
}

function mappingOf(request: string, { route: { tool }, steps }: RequestDecision, tools: PlanTools) {
  const meant = steps.length > 0 ? steps : planRequest([{ text: request, tool }], tools)
  const last = meant.at(-1)
  if (!last) return {}
  const given = last.bindings.map(({ parameter }) => parameter)
  const unplaced = meant.flatMap((step) => step.unplaced)
  return {
    params: last.params,
    missing: [...given, ...last.missing],
    unplaced: unplaced.length === 0 ? undefined : unplaced,
  }
}

export async function routingOf(
  request: string,
  index: ToolIndex,
  project: string,
  context: ToolContext,
) {
  const place = { project, runtime: context.runtime }
  const { router, examples, diagnostics } = projectRouter(index, place)
  return {
    router,
    tools: planTools(index, examples),
    hold: (id: string) => holdOf(id, index),
    // The words decide alone where they are sure.
    meaning: isUnsure(router.route(request)) ? await meaningIn(request, index, context) : undefined,
    diagnostics,
  }
}

export async function requestRouter(
  request: string,
  index: ToolIndex,
  project: string,
  context: ToolContext,
): Promise<(text: string) => Route> {
  const { router, meaning, diagnostics } = await routingOf(request, index, project, context)
  context.diagnose(diagnostics)
  return (text) => router.route(text, text === request ? { meaning } : {})
}

function routeText(result: RouteResult, screen: Screen) {
  const { decision, category, tool, margin, candidates, intent, params, explanation } = result
  const { missing = [], unplaced = [] } = result
  const rows = candidates.map((one) => [`  ${safeLine(one.tool)}`, one.score.toFixed(2)])
  const facts = [
    `intent: ${JSON.stringify(intent)}`,
    `category: ${category ?? '-'}`,
    `tool: ${tool ?? '-'}`,
    params ? `params: ${JSON.stringify(params)}` : [],
    missing.length === 0 ? [] : `missing: ${missing.join(', ')}`,
    unplaced.length === 0 ? [] : `not placed: ${unplaced.join(', ')}`,
    `decision: ${decision}, margin ${margin.toFixed(2)}`,
  ].flat()
  return [
    linesText(facts.map(safeLine)),
    rows.length === 0 ? '' : `candidates:\n${screen.table(rows)}`,
    explanation ? explanationText(explanation, screen) : '',
  ].join('')
}

function explanationText(
  { words, candidates }: NonNullable<RouteResult['explanation']>,
  screen: Screen,
) {
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

const decisionNotes: Record<Route['decision'], string | undefined> = {
  answer: undefined,
  shortlist: 'More than one tool may be meant. Say it with the name of one.',
  ask: 'No tool fits well enough. Say it in other words; `skillrail tools list` shows all.',
}

function routeNotes({ decision, candidates, heldBack = [], diagnostics }: RouteResult): Notes {
  const [first] = candidates
  const failing = first?.unavailable
  return [
    diagnostics,
    heldBack.map(
      (id) =>
        `${id} is held back, since it was added or changed: \`skillrail tools show ${id}\`, then \`skillrail tools refresh --accept\`.`,
    ),
    failing !== undefined && `The server of ${first?.tool} is configured but failing: ${failing}`,
    decisionNotes[decision],
  ]
}
