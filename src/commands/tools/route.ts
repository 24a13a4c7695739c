import { defineCommand, type Notes, option, type Screen } from '#core/command'
import { type Diagnostic, exitCode, type ExitCode } from '#core/errors'
import { inputText } from '#core/input-text'
import { cell, linesText, safeLine } from '#core/text'
import { denials, hearing, loadProjectTools, sayUnasked } from '#tools/project-tools'
import { routeIn, type RoutedRequest, routingOf } from '#tools/route/project-routing'
import type { Route } from '#tools/route/router'

interface RouteResult extends RoutedRequest {
  diagnostics: readonly Diagnostic[]
  exitCode?: ExitCode | undefined
}

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
    const argumentText = words.join(' ')
    const request = argumentText === '-' ? await inputText(argumentText, context) : argumentText
    const { found, diagnostics } = await hearing(context, loadProjectTools)
    const routed = routeIn(routingOf(found.index, denials(context)), request, limit, explain)
    const result = { ...routed, diagnostics }
    if (result.decision !== 'ask') return result
    const code = sayUnasked(context)
    return code === exitCode.notFound ? result : { ...result, exitCode: code }
  },
  exitCode: ({ decision, exitCode: code = exitCode.notFound }) =>
    decision === 'ask' ? code : exitCode.done,
  render: routeText,
  notes: routeNotes,
})

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

function routeNotes({
  decision,
  candidates,
  heldBack = [],
  denied = [],
  diagnostics,
}: RouteResult): Notes {
  const [first] = candidates
  const failing = first?.unavailable
  return [
    diagnostics,
    heldBack.map(
      (id) =>
        `${id} is held back, since it was added or changed: \`skillrail tools show ${id}\`, then \`skillrail tools refresh --accept\`.`,
    ),
    denied.map((id) => `${id} is denied by the configuration of its server or by tools.deny.`),
    failing !== undefined && `The server of ${first?.tool} is configured but failing: ${failing}`,
    decisionNotes[decision],
  ]
}
