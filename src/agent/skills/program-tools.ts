import type { JsonValue } from '../../skill/index.ts'
import { isObject } from '../../base/index.ts'
import type { OfferedTool } from '../../library/index.ts'
import type { JsonObject } from '../../tools/index.ts'
import type { AgentTool } from '../model.ts'
import { tool } from '../tool.ts'

/** Tools that a program registered for a skill: its own code, which asks nobody. */
export function programTools(tools: readonly OfferedTool[]): AgentTool[] {
  return tools.map((offered) => ({
    ...tool({
      name: offered.name,
      description: offered.description ?? `A tool of the skill ${offered.skill}.`,
      input: schemaOf(offered),
      execute: (input) => offered.execute(input),
    }),
    origin: { kind: 'skill', skill: offered.skill },
  }))
}

function schemaOf({ inputSchema = {} }: OfferedTool): JsonObject {
  const schema: unknown = JSON.parse(JSON.stringify({ type: 'object', ...inputSchema }))
  return isObject<JsonValue>(schema) ? schema : { type: 'object' }
}
