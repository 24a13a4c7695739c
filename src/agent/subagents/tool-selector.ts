import { type AllowedTool, parseAllowedTools } from '../../skill/index.ts'
import { wordFits } from '../approval/command-pattern.ts'
import type { AgentTool } from '../model.ts'

/** An entry of `tools` or `disallowed-tools` as it was written, and what it selects. */
export interface ToolSelector {
  text: string
  /** Texts of calls, as in `Bash(git:*)`; undefined for all calls. */
  pattern: string | undefined
  selects: (tool: AgentTool) => boolean
}

/**
 * Names of tools as agent files and skills write them: a tool's own name (`read`, `server.tool`,
 * `server__tool`), an alias (`Read`), `mcp__server__tool`, a whole server (`mcp__server`,
 * `mcp__server__*`), `*` within a name or alone.
 */
export function toolSelectors(texts: readonly string[]): ToolSelector[] {
  return texts.flatMap((text) => parseAllowedTools(text).map(selector))
}

function selector({ tool: name, pattern }: AllowedTool): ToolSelector {
  const wanted = canonical(name)
  const text = pattern === undefined ? name : `${name}(${pattern})`
  return {
    text,
    // `Tool(*)` is what some write for all calls.
    pattern: pattern === '*' || pattern === '' ? undefined : pattern,
    selects: (tool) =>
      spellings(tool).some((spelling) => wordFits(spelling, wanted)) ||
      (tool.origin.kind === 'mcp' && wanted === canonical(`mcp__${tool.origin.server}`)),
  }
}

/** Every name by which a tool may be called; asked for every entry of every list. */
function spellings(tool: AgentTool): readonly string[] {
  const known = spelled.get(tool)
  if (known !== undefined) return known
  const all = spellingsOf(tool)
  spelled.set(tool, all)
  return all
}

const spelled = new WeakMap<AgentTool, readonly string[]>()

function spellingsOf({ name, aliases = [], origin }: AgentTool): string[] {
  const own = [name, ...aliases].map(canonical)
  if (origin.kind !== 'mcp') return own
  const [bare = ''] = own
  const server = canonical(origin.server)
  const tool = bare.startsWith(`${server}__`) ? bare : `${server}__${bare}`
  return [...own, tool, `mcp__${tool}`]
}

/** `server.tool`, `server/tool`, `server:tool` and `server__tool` are one name; case does not count. */
function canonical(name: string): string {
  return name.toLowerCase().replaceAll(/[.:/]/g, '__')
}
