import { registerTelemetry, ToolLoopAgent } from 'ai'
import { defineSkill } from 'skillrail'
import { createSkills, subagentTool, totalUsage } from 'skillrail/ai'

const greeting = defineSkill({
  name: 'greeting',
  description: 'Greets people. Use when somebody arrives.',
  body: 'Greet $ARGUMENTS in French; the tool translator translates.',
})

/**
 * An agent with a skill and a subagent, and the tokens of its answers. `telemetry` is
 * `new OpenTelemetry({ tracer })` of `@ai-sdk/otel`: it gets steps, tools, skills and subagents.
 */
export async function tracedGreeter({ model, translatorModel, telemetry }) {
  registerTelemetry(telemetry)
  const skills = await createSkills({ skills: [greeting] })
  const translator = subagentTool({
    name: 'translator',
    description: 'Translates into French.',
    agent: new ToolLoopAgent({ model: translatorModel, telemetry: { functionId: 'translator' } }),
  })
  const settings = skills.settings({ tools: { translator } })
  const agent = new ToolLoopAgent({ model, telemetry: { functionId: 'greeter' }, ...settings })
  return async (prompt) => {
    const result = await agent.generate({ prompt })
    return { text: result.text, tokens: (await totalUsage(result)).totalTokens }
  }
}
