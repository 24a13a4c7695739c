import { exitCode, safeLine, UsageError } from '../../base/index.ts'
import {
  findTool,
  type GatePlan,
  type JsonObject,
  multipleLine,
  notInstalledLine,
  planGate,
  type PlannedStep,
} from '../../workflow/index.ts'
import { installedTools, openWorkflows, sessionOf } from '../_workflow-project.ts'
import { foundAmongAsked } from '../_tool-project.ts'
import { untrustedWorkflows } from '../_workflow-trust.ts'
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
    const { project, workflows, diagnostics } = openWorkflows(context)
    const { tools = [], message } = installedTools(context, project)
    const tool = await foundAmongAsked(context, () => findTool(name, tools, message))
    const { state, diagnostics: damaged } = await sessionOf(
      context,
      project,
      options.session,
    ).read()
    const plan = planGate({ tool, params, request: options.request }, workflows, state, tools)
    const acting = plan.open === 0 || plan.workflow === undefined ? [] : [plan.workflow]
    const found = [...diagnostics, ...damaged, ...untrustedWorkflows(context, project, acting)]
    if (context.options.json) {
      const { workflow, ...rest } = plan
      const { name: workflowName, mode } = workflow ?? {}
      context.output.json({
        tool: tool.id,
        workflow: workflowName,
        mode,
        ...rest,
        diagnostics: found,
      })
    } else {
      context.output.diagnostics(found)
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

function readParams(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Reported below like any other text that is no object.
  }
  throw new UsageError({
    code: 'wrong-use',
    message: 'the parameters must be a JSON object',
    hint: 'Example: \'{"database": "shop"}\'',
  })
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
