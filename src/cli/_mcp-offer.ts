import { exitCode, type ExitCode, safeLine } from '../base/index.ts'
import { discoverOptionsFrom, SkillManager } from '../library/index.ts'
import { listPrompts, type McpWorld, offeredTools, servedSkillNames } from '../mcp/index.ts'
import type { CommandContext } from './command.ts'

/** Prints what a client would be offered; nothing is served and no server is started. */
export async function answerMcpOffer(
  { output, options }: CommandContext,
  world: McpWorld,
): Promise<ExitCode> {
  const tools = offeredTools(world)
  const prompts = await listPrompts(world)
  const skills = await servedSkillNames(world)
  if (options.json) {
    output.json({ tools: tools.map(({ run: _run, ...tool }) => tool), prompts, skills })
    return exitCode.done
  }
  output.line('Tools')
  output.table(
    tools.map(({ name, title, annotations: { readOnlyHint } }) => [
      `  ${name}`,
      title,
      readOnlyHint ? 'reads' : 'acts',
    ]),
  )
  output.line('Prompts')
  if (prompts.length === 0) output.line('  none: no skill is here that a person may start')
  output.table(
    prompts.map(({ name, description }) => [`  ${safeLine(name)}`, description.slice(0, 80)]),
  )
  output.line('Resources of the skills extension')
  if (skills.length === 0) output.line(`  none: ${await whyNoneServed(world)}`)
  output.table(skills.map((name) => [`  skill://${name}/SKILL.md`]))
  return exitCode.done
}

async function whyNoneServed({ runtime, settings }: McpWorld): Promise<string> {
  const skills = await new SkillManager(discoverOptionsFrom(runtime, settings)).list()
  if (skills.length === 0) return 'no skill is installed here'
  const forModels = skills.filter(({ fields }) => !fields.disableModelInvocation)
  if (forModels.length === 0) return 'the skills here are started by a person alone'
  return forModels.some(({ trustLevel }) => trustLevel === 'trusted')
    ? 'no skill here is as the extension wants it (names, sizes)'
    : 'only trusted skills are served, and none here is: look with skillrail trust'
}
