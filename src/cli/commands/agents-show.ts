import { exitCode, safeLine, safeText } from '../../base/index.ts'
import type { AgentInfo } from '../../agent/index.ts'
import { agentFieldsJson, agentFiles } from '../_agent-files.ts'
import { defineCommand, type LoadedCommand } from '../command.ts'

export const command: LoadedCommand = defineCommand({
  configure(program) {
    program
      .argument('<agent>', 'the name of a subagent')
      .addHelpText('after', '\nExample:\n  $ skillrail agents show reviewer\n')
  },
  async run(context, [name = '']) {
    const { output } = context
    const { agents, withheld, broken } = await agentFiles(context)
    const agent = agents.find(({ config }) => config.name === name)
    if (agent === undefined) {
      const { subagentNotFound } = await import('../../agent/index.ts')
      throw subagentNotFound(
        name,
        agents.map(({ config }) => config.name),
        { withheld, broken },
      )
    }
    const { config, path, scope, source, shadows, diagnostics } = agent
    const prompt = typeof config.systemPrompt === 'string' ? config.systemPrompt : ''
    if (context.options.json) {
      const fields = agentFieldsJson(config)
      output.json({ ...fields, systemPrompt: prompt, path, scope, source, shadows, diagnostics })
      return exitCode.done
    }
    output.line(output.style('bold', safeLine(config.name)))
    output.line(safeLine(config.description))
    output.line()
    output.table(
      factsOf(agent).map(([label, value]) => [output.style('dim', label), safeLine(value)]),
    )
    output.line()
    if (prompt === '') output.line(output.style('dim', 'no system prompt of its own'))
    for (const line of safeText(prompt).split('\n')) output.line(line)
    output.diagnostics(diagnostics)
    return exitCode.done
  },
})

function factsOf({ config, path, scope, source, shadows }: AgentInfo): [string, string][] {
  const { model, tools, disallowedTools, skills, maxTurns, permissionMode, config: more } = config
  const names = (tools ?? []).filter((tool) => typeof tool === 'string')
  const rows: [string, string | undefined][] = [
    ['from', `${source} (${scope})`],
    ['file', path],
    ['model', typeof model === 'string' ? model : 'that of its parent'],
    ['tools', names.length === 0 ? 'none' : names.join(' ')],
    ['disallowed-tools', disallowedTools?.join(' ')],
    ['skills', skills?.join(', ')],
    ['max-turns', String(maxTurns ?? 50)],
    ['permission-mode', permissionMode ?? 'default'],
    ['timeout', more?.timeoutMs === undefined ? undefined : `${more.timeoutMs / 1000} s`],
    ['shadows', shadows.length === 0 ? undefined : shadows.join(', ')],
  ]
  return rows.flatMap(([label, value]): [string, string][] =>
    value === undefined ? [] : [[label, value]],
  )
}
