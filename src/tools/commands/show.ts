import { defineCommand, type Note, type Screen } from '../../core/command.ts'
import type { Diagnostic } from '../../core/diagnostic.ts'
import { safeLine, safeText } from '../../core/text.ts'
import { describeParameters } from '../cache/describe-parameters.ts'
import type { ToolCaution, ToolIndex } from '../cache/tool-index.ts'
import type { ToolDefinition, ToolSummary } from '../model.ts'
import { cautionText, guardsOf, hintText } from './describe-tool.ts'
import { hearing, knownTools, toolNamed } from './project-tools.ts'

interface ShowResult {
  tool: ToolSummary
  caution?: ToolCaution | undefined
  definition?: ToolDefinition | undefined
  workflows: readonly string[]
  diagnostics: readonly Diagnostic[]
  guards: readonly { name: string; mode: string; first: readonly string[] }[]
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
    const warning =
      caution === undefined
        ? ''
        : `${screen.style('yellow', safeText(cautionText(caution, definition)))}\n`
    const examples = (tool.examples ?? []).map((example) => `  ${safeLine(example)}\n`)
    return [
      `${screen.style('bold', safeLine(tool.id))}\n`,
      `${safeText((definition?.description ?? tool.description).trim())}\n\n`,
      table,
      warning,
      '\n',
      parametersText(result, screen),
      ...(examples.length === 0 ? [] : ['\nExamples\n', ...examples]),
    ].join('')
  },
  notes: ({ definition, diagnostics }): Note[] => [
    ...diagnostics,
    ...(definition === undefined ? ['The full schema comes with `skillrail tools refresh`.'] : []),
  ],
})

export function toolFacts(
  tool: ToolSummary,
  index: ToolIndex,
  project: string,
): Omit<ShowResult, 'diagnostics'> {
  const guards = guardsOf(tool, index, project)
  return {
    tool,
    caution: index.caution(tool.id),
    definition: index.definition(tool.id),
    workflows: guards.map((workflow) => workflow.name),
    guards: guards.map((workflow) => ({
      name: workflow.name,
      mode: workflow.mode,
      first: workflow.prerequisites.map((step) => step.tool),
    })),
  }
}

function parametersText({ tool, definition }: ShowResult, screen: Screen): string {
  if (definition === undefined) {
    const names = tool.parameters.map((name) => safeLine(name)).join(', ')
    return `Parameters  ${names || 'not known here'}\n`
  }
  const parameters = describeParameters(definition.inputSchema)
  const lines = parameters.flatMap((parameter) => {
    const { name, required, type, description, limits, default: preset } = parameter
    const facts = [type, ...limits, ...(preset === undefined ? [] : [`default ${preset}`])]
    const head = `${safeLine(name)}${required ? '*' : ''}`
    const line = `  ${screen.style('cyan', head)}  ${safeLine(facts.join('; '))}\n`
    if (description === '') return [line]
    return [line, `      ${safeLine(description.trim()).slice(0, 400)}\n`]
  })
  return [parameters.length === 0 ? 'No parameters\n' : 'Parameters (* required)\n', ...lines].join(
    '',
  )
}
