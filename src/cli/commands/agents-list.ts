import { exitCode, safeLine } from '../../base/index.ts'
import type { AgentInfo } from '../../agent/index.ts'
import { agentFieldsJson, agentFiles } from '../_agent-files.ts'
import { amount, cell } from '../../base/text.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'
import type { Output } from '../output.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program.addHelpText('after', '\nExample:\n  $ skillrail agents list\n')
  },
  async run(context) {
    const { output } = context
    const { agents, withheld, diagnostics } = await agentFiles(context)
    if (context.options.json) {
      output.json({ agents: agents.map(listed), withheld, diagnostics })
      return exitCode.done
    }
    if (agents.length === 0) {
      output.note(
        'There are no subagents here. A file in .skillrail/agents or .claude/agents makes one.',
      )
    } else output.table(rowsOf(agents, output))
    output.diagnostics(
      diagnostics.filter(({ severity }) => severity !== 'info' || context.options.verbose),
    )
    if (agents.length > 0) output.note(`\n${amount(agents.length, 'subagent')}`)
    return exitCode.done
  },
})

function listed({ config, path, scope, source, shadows, diagnostics }: AgentInfo): object {
  const more = { shadows: shadows.length > 0 ? shadows : undefined, diagnostics }
  return { ...agentFieldsJson(config), path, scope, source, ...more }
}

function rowsOf(agents: readonly AgentInfo[], output: Output): string[][] {
  const head = ['NAME', 'TOOLS', 'MODEL', 'FROM', 'DESCRIPTION']
  const rows = agents.map(({ config, source }) => [
    output.style('bold', safeLine(config.name)),
    cell(toolsText(config.tools), 28),
    cell(modelText(config.model), 24),
    safeLine(source),
    cell(config.description, Math.max(20, output.width - 76)),
  ])
  return [head.map((text) => output.style('dim', text)), ...rows]
}

function toolsText(tools: AgentInfo['config']['tools']): string {
  const names = (tools ?? []).filter((tool) => typeof tool === 'string')
  if (names.length === 0) return 'none'
  return names.includes('*') ? 'those of its parent' : names.join(' ')
}

function modelText(model: AgentInfo['config']['model']): string {
  return typeof model === 'string' ? model : 'that of its parent'
}
