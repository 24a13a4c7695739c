import { exitCode, safeLine, safeText } from '../../base/index.ts'
import { contextOf } from '../legacy.ts'
import {
  describeParameters,
  type ToolDefinition,
  type ToolIndex,
  type ToolSummary,
} from '../../tools/index.ts'
import type { WorkflowDefinition } from '../../workflow/index.ts'
import { guardsOf } from '../_tool-guards.ts'
import { hintText } from '../_tool-hints.ts'
import { cautionText } from '../_tool-caution.ts'
import { amongAskedServers, knownTools, toolNamed } from '../../tools/commands/project-tools.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program
      .argument('<tool>', 'SERVER__TOOL, or the bare name of a tool that one server alone has')
      .addHelpText('after', '\nExample:\n  $ skillrail tools show github__list_issues\n')
  },
  async run(context, [name = '']) {
    return await amongAskedServers(contextOf(context), async () => {
      const known = await knownTools(contextOf(context))
      const { tool, index } = await toolNamed(name, known, contextOf(context))
      const definition = index.definition(tool.id)
      const guards = guardsOf(tool, index, known.project)
      if (context.options.json) {
        const caution = index.caution(tool.id)
        const workflows = guards.map((workflow) => workflow.name)
        context.output.json({
          tool,
          caution,
          definition,
          workflows,
          diagnostics: known.diagnostics,
        })
      } else print(context, { tool, index, definition, guards })
      return exitCode.done
    })
  },
})

/** What is shown of a tool. */
interface ShownTool {
  tool: ToolSummary
  index: ToolIndex
  definition: ToolDefinition | undefined
  guards: readonly WorkflowDefinition[]
}

function print(context: CommandContext, shown: ShownTool): void {
  const { tool, index, definition, guards } = shown
  const { output } = context
  output.line(output.style('bold', safeLine(tool.id)))
  output.line(safeText((definition?.description ?? tool.description).trim()))
  output.line()
  output.table([
    ['Server', safeLine(tool.server)],
    ['Category', safeLine(tool.category ?? 'none')],
    ['Only reads', tool.readOnly === true ? 'yes' : 'no'],
    ['Hints', hintText(definition) || 'none'],
    ...guards.map((workflow) => ['Workflow', guardText(workflow)]),
  ])
  const caution = index.caution(tool.id)
  if (caution !== undefined) {
    output.line(output.style('yellow', safeText(cautionText(caution, definition))))
  }
  output.line()
  printParameters(context, tool, definition)
  for (const [at, example] of (tool.examples ?? []).entries()) {
    if (at === 0) output.line('\nExamples')
    output.line(`  ${safeLine(example)}`)
  }
}

function guardText({ name, mode, prerequisites }: WorkflowDefinition): string {
  const steps = prerequisites.map((step) => step.tool).join(', ')
  return safeLine(`${name} [${mode}], first: ${steps}`)
}

function printParameters(
  { output }: CommandContext,
  tool: ToolSummary,
  definition: ToolDefinition | undefined,
): void {
  if (definition === undefined) {
    const names = tool.parameters.map((name) => safeLine(name)).join(', ')
    output.line(`Parameters  ${names || 'not known here'}`)
    output.note('The full schema comes with `skillrail tools refresh`.')
    return
  }
  const parameters = describeParameters(definition.inputSchema)
  output.line(parameters.length === 0 ? 'No parameters' : 'Parameters (* required)')
  for (const { name, required, type, description, limits, default: preset } of parameters) {
    const facts = [type, ...limits, ...(preset === undefined ? [] : [`default ${preset}`])]
    const head = `${safeLine(name)}${required ? '*' : ''}`
    output.line(`  ${output.style('cyan', head)}  ${safeLine(facts.join('; '))}`)
    if (description !== '') output.line(`      ${safeLine(description.trim()).slice(0, 400)}`)
  }
}
