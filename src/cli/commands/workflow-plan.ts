import { exitCode, isObject, safeLine, UsageError } from '../../base/index.ts'
import { contextOf } from '../legacy.ts'
import type { JsonValue } from '../../skill/index.ts'
import {
  forbiddenParameters,
  loadToolIndex,
  namedTool,
  type ToolDefinition,
  unknownParameters,
} from '../../tools/index.ts'
import {
  type GatePlan,
  type JsonObject,
  multipleLine,
  notInstalledLine,
  planGate,
  type PlannedStep,
  workflowTool,
} from '../../workflow/index.ts'
import {
  openWorkflows,
  sessionOf,
  untrustedWorkflows,
} from '../../tools/commands/workflow-project.ts'
import { foundAmongAsked } from '../../tools/commands/project-tools.ts'
import { type CommandContext, defineCommand, type LoadedCommand } from '../command.ts'

interface Options {
  request?: string | undefined
  session?: string | undefined
}

export const command: LoadedCommand = defineCommand<Options>({
  configure(program) {
    program
      .argument('<tool>', 'its id, or its name where only one server has it')
      .argument('[params]', 'its parameters as a JSON object', '{}')
      .option('--request <text>', 'what the user asked for; keywords see it')
      .option('--session <id>', 'the session that counts')
      .addHelpText(
        'after',
        '\nExample:\n  $ skillrail workflow plan execute_query \'{"database": "shop", "query": "SELECT * FROM users"}\'\n',
      )
  },
  async run(context, [name = '', text = '{}'], options) {
    const params = readParams(text)
    const opened = openWorkflows(context)
    const { project, workflows, diagnostics } = opened
    const { index, message } = loadToolIndex({ project, runtime: context.runtime })
    const { tools: summaries } = index ?? { tools: [] }
    if (index === undefined && message !== undefined) context.output.note(message)
    const named = await foundAmongAsked(contextOf(context), () => namedTool(name, summaries))
    const tool = workflowTool(named.tool)
    const tools = summaries.map(workflowTool)
    const remarks = remarksOn(index?.definition(tool.id), params)
    const notes = named.note === undefined ? remarks : [named.note, ...remarks]
    const { state, diagnostics: damaged } = await sessionOf(
      contextOf(context),
      project,
      options.session,
    ).read()
    const plan = planGate({ tool, params, request: options.request }, workflows, state, tools)
    const acting = plan.open === 0 || plan.workflow === undefined ? [] : [plan.workflow]
    const found = [...diagnostics, ...damaged, ...untrustedWorkflows(context, opened, acting)]
    if (context.options.json) {
      const { workflow, ...rest } = plan
      const { name: workflowName, mode } = workflow ?? {}
      context.output.json({
        tool: tool.id,
        workflow: workflowName,
        mode,
        ...rest,
        notes,
        diagnostics: found,
      })
    } else {
      context.output.diagnostics(found)
      for (const note of notes) context.output.note(note)
      print(context, tool.id, plan)
    }
    return exitCode.done
  },
})

function print({ output }: CommandContext, tool: string, plan: GatePlan): void {
  const { workflow, why, steps, also, notInstalled, keywordOnly } = plan
  for (const missing of notInstalled) output.note(notInstalledLine(missing))
  for (const { workflow: name, keyword } of keywordOnly) {
    output.note(`Workflow '${name}' has the keyword '${keyword}', but not this tool's category`)
  }
  if (workflow === undefined) {
    output.line(`Nothing comes before ${safeLine(tool)}.`)
    return
  }
  if (also.length > 0) output.note(multipleLine(workflow.name, also))
  const reason = why === undefined ? '' : ` (${why.by} ${why.value})`
  output.line(safeLine(`Workflow '${workflow.name}' [${workflow.mode}]${reason}`))
  output.table(
    steps.map((step) => [`  ${step.step}. ${safeLine(step.tool)}`, step.status, detail(step)]),
  )
}

function detail({ status, id = '', params, reason, at }: PlannedStep): string {
  if (status === 'valid') return `since ${at ?? ''}`
  const call = safeLine(`${id} ${JSON.stringify(params)}`)
  if (status === 'run') return reason === undefined ? call : `${call}, since ${safeLine(reason)}`
  return safeLine(reason ?? '')
}

/**
 * Parameters of the call that mean nothing to the tool, misspelt perhaps.
 *
 * @throws {UsageError} for those that its schema forbids, as the call itself would
 */
function remarksOn(definition: ToolDefinition | undefined, params: JsonObject): string[] {
  if (definition === undefined) return []
  const forbidden = forbiddenParameters(definition, params)
  if (forbidden.length === 0) return unknownParameters(definition, params)
  throw new UsageError({ code: 'invalid-parameters', message: forbidden.join('\n') })
}

function readParams(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject<JsonValue>(value)) return value
  } catch {
    // Reported below like any other text that is no object.
  }
  throw new UsageError({
    code: 'wrong-use',
    message: 'the parameters must be a JSON object',
    hint: 'Example: \'{"database": "shop"}\'',
  })
}
