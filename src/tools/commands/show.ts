import { defineCommand, type Screen } from '../../core/command.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { linesText, safeLine, safeText } from '../../core/text.ts'
import { unifiedDiff } from '../../core/unified-diff.ts'
import { describeParameters } from '../cache/describe-parameters.ts'
import type { ToolCaution, ToolIndex } from '../cache/tool-index.ts'
import type { ToolDefinition, ToolSummary } from '../model.ts'
import { matchWorkflows } from '../workflow/match.ts'
import { loadWorkflows } from '../workflow/read-workflows.ts'
import { hearing, knownTools, toolNamed } from './project-tools.ts'

interface ShowResult extends ReturnType<typeof toolFacts> {
  diagnostics: readonly Diagnostic[]
}

export const command = defineCommand<ShowResult>()({
  arguments: { '<tool>': 'SERVER__TOOL, or a name that only one server has' },
  options: {},
  examples: ['tools show github__list_issues'],
  async run(context, { arguments: [name = ''] }) {
    const { found, diagnostics } = await hearing(context, async (heard) => {
      const known = await knownTools(heard)
      return { ...(await toolNamed(name, known, heard)), project: known.project }
    })
    const { tool, index, project } = found
    // The user looks at it to accept it.
    const definition = index.reviewed(tool.id)
    return { ...toolFacts(tool, index, project), definition, diagnostics }
  },
  render(result, screen) {
    const { tool, caution, definition, guards } = result
    const table = screen.table([
      ['Server', safeLine(tool.server)],
      ['Category', safeLine(tool.category ?? 'none')],
      ['Only reads', tool.readOnly === true ? 'yes' : 'no'],
      ['Hints', hintText(definition) || 'none'],
      ...guards.map(({ name, mode, first }) => [
        'Workflow',
        safeLine(`${name} [${mode}], first: ${first.join(', ')}`),
      ]),
    ])
    const warning = caution && screen.style('yellow', safeText(cautionText(caution, definition)))
    const examples = (tool.examples ?? []).map((example) => `  ${safeLine(example)}`)
    return [
      `${screen.style('bold', safeLine(tool.id))}\n`,
      `${safeText((definition?.description ?? tool.description).trim())}\n\n`,
      table,
      warning === undefined ? '' : `${warning}\n`,
      `\n${parametersText(result, screen)}`,
      examples.length === 0 ? '' : linesText(['\nExamples', ...examples]),
    ].join('')
  },
  notes: ({ definition, diagnostics }) => [
    diagnostics,
    definition === undefined && 'The full schema comes with `skillrail tools refresh`.',
  ],
})

export function toolFacts(tool: ToolSummary, index: ToolIndex, project: string) {
  const { workflows } = loadWorkflows(project)
  const { acting, also } = matchWorkflows({ tool, params: {} }, workflows, index.tools)
  const names = [...acting.map(({ workflow }) => workflow.name), ...also]
  const guards = workflows.filter(({ name }) => names.includes(name))
  return {
    tool,
    caution: index.caution(tool.id),
    definition: index.definition(tool.id),
    workflows: guards.map(({ name }) => name),
    guards: guards.map(({ name, mode, prerequisites }) => {
      return { name, mode, first: prerequisites.map((step) => step.tool) }
    }),
  }
}

function parametersText({ tool, definition }: ShowResult, screen: Screen): string {
  if (definition === undefined) {
    return `Parameters  ${safeLine(tool.parameters.join(', ')) || 'not known here'}\n`
  }
  const parameters = describeParameters(definition.inputSchema)
  const lines = parameters.flatMap((parameter) => {
    const { name, required, type, description, limits, default: preset } = parameter
    const facts = [type, limits, preset === undefined ? [] : `default ${preset}`].flat()
    const head = screen.style('cyan', `${safeLine(name)}${required ? '*' : ''}`)
    const about = safeLine(description.trim()).slice(0, 400)
    return [`  ${head}  ${safeLine(facts.join('; '))}`, about === '' ? [] : `      ${about}`].flat()
  })
  return linesText([lines.length === 0 ? 'No parameters' : 'Parameters (* required)', ...lines])
}

export function hintText(definition: ToolDefinition | undefined): string {
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } =
    definition?.annotations ?? {}
  const hints: readonly (readonly [boolean | undefined, string, string])[] = [
    [readOnlyHint, 'reads only', 'writes'],
    [destructiveHint, 'may destroy', 'destroys nothing'],
    [idempotentHint, 'may be repeated', 'acts each time'],
    [openWorldHint, 'reaches outside', 'stays local'],
  ]
  return hints
    .flatMap(([hint, yes, no]) => (hint === undefined ? [] : [hint ? yes : no]))
    .join(', ')
}

export function cautionMark(caution: ToolCaution | undefined): string {
  return caution?.kind === 'changed' && caution.added ? 'new' : (caution?.kind ?? '')
}

/** The same as a sentence, with the change as far as it is known. Not yet safe to print. */
export function cautionText(caution: ToolCaution, now: ToolDefinition | undefined): string {
  if (caution.kind === 'unavailable') {
    return `Its server could not be listed at the last refresh: ${safeLine(caution.message)}`
  }
  const { before, added, since } = caution
  const what = added ? 'It was added' : 'Its description or schema changed'
  const sentence = `${what} on ${safeLine(since)}. Look at it, then run \`skillrail tools refresh --accept\`.`
  if (before === undefined || now === undefined) return sentence
  const diff = unifiedDiff(now.id, definitionText(before), definitionText(now)).split('\n')
  const rest = diff.length - mostLines
  const more = rest > 0 ? [`… and ${rest} more lines`] : []
  return [sentence, ...diff.slice(0, mostLines), ...more].join('\n')
}

function definitionText(tool: ToolDefinition): string {
  const { title, description, inputSchema, outputSchema, annotations } = tool
  const facts = { title, inputSchema, outputSchema, annotations }
  return `${description}\n${JSON.stringify(facts, null, 2)}\n`
}

const mostLines = 80
